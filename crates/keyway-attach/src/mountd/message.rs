//! A message of D-Bus: a call that is written, an answer that is read (*D-Bus Specification*, "Message Protocol" and "Type
//! System").
//!
//! Answers come from the bus, and pass on what others wrote. Every length is held against what is there.

use std::io;

/// A message's beginning, which says how long it is.
pub(super) const HEAD: usize = 16;
/// No answer that is waited for is longer.
const LONGEST: usize = 1 << 20;

/// An argument of a call.
pub(super) enum Argument<'a> {
    /// `s`
    Text(&'a str),
    /// `u`
    Number(u32),
    /// `b`
    Flag(bool),
    /// `h`: the one that is sent along.
    Descriptor,
}

/// A method call. It lets whoever answers ask the user for a password (`ALLOW_INTERACTIVE_AUTHORIZATION`).
pub(super) struct Call<'a> {
    pub(super) destination: &'a str,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) member: &'a str,
    pub(super) arguments: &'a [Argument<'a>],
}

impl<'a> Call<'a> {
    /// A call to the bus itself.
    pub(super) const fn to_the_bus(member: &'a str) -> Self {
        let name = "org.freedesktop.DBus";
        Self { destination: name, path: "/org/freedesktop/DBus", interface: name, member, arguments: &[] }
    }

    /// As it goes over the wire.
    pub(super) fn to_bytes(&self, serial: u32) -> Vec<u8> {
        let (mut body, mut signature, mut descriptors) = (Writer::default(), String::new(), 0);
        for argument in self.arguments {
            match argument {
                Argument::Text(text) => {
                    signature.push('s');
                    body.text(text);
                }
                Argument::Number(number) => {
                    signature.push('u');
                    body.number(*number);
                }
                Argument::Flag(flag) => {
                    signature.push('b');
                    body.number(u32::from(*flag));
                }
                Argument::Descriptor => {
                    signature.push('h');
                    body.number(descriptors);
                    descriptors += 1;
                }
            }
        }
        let mut fields = Writer::default();
        for (code, kind, text) in
            [(1, "o", self.path), (2, "s", self.interface), (3, "s", self.member), (6, "s", self.destination)]
        {
            fields.field(code, kind);
            fields.text(text);
        }
        if !signature.is_empty() {
            fields.field(8, "g");
            fields.signature(&signature);
        }
        if descriptors > 0 {
            fields.field(9, "u");
            fields.number(descriptors);
        }
        // Little-endian, a call, with that flag, of version 1.
        let mut all = Writer(vec![b'l', 1, 4, 1]);
        all.number(body.0.len() as u32);
        all.number(serial);
        all.number(fields.0.len() as u32);
        all.0.extend(fields.0);
        all.pad(8);
        all.0.extend(body.0);
        all.0
    }
}

/// Writes values, each at a multiple of its size. It begins at a multiple of 8.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn pad(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, number: u32) {
        self.pad(4);
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn signature(&mut self, text: &str) {
        self.0.push(text.len() as u8);
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn field(&mut self, code: u8, kind: &str) {
        self.pad(8);
        self.0.push(code);
        self.signature(kind);
    }
}

/// An answer, or anything else that somebody sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// 2: what was asked for; 3: an error.
    kind: u8,
    big: bool,
    answers: Option<u32>,
    error: Option<String>,
    body: Vec<u8>,
}

/// How long a message is as a whole, by its beginning.
///
/// # Errors
/// It is none, or longer than any that is waited for.
pub(super) fn length(head: &[u8; HEAD]) -> io::Result<usize> {
    let big = is_big(head[0])?;
    let mut reader = Reader { bytes: head, at: 4, big };
    let (body, _, fields) = (reader.number()?, reader.number()?, reader.number()?);
    let fields = (fields as usize).checked_next_multiple_of(8);
    let all = fields.and_then(|fields| fields.checked_add(body as usize)?.checked_add(HEAD));
    all.filter(|all| *all <= LONGEST).ok_or_else(wrong)
}

/// Reads a whole message.
///
/// # Errors
/// It is none.
pub fn parse(bytes: &[u8]) -> io::Result<Answer> {
    let head: &[u8; HEAD] = bytes.first_chunk().ok_or_else(wrong)?;
    if length(head)? != bytes.len() {
        return Err(wrong());
    }
    let big = is_big(head[0])?;
    let mut answer = Answer { kind: head[1], big, ..Answer::default() };
    let mut reader = Reader { bytes, at: 12, big };
    let end = HEAD.checked_add(reader.number()? as usize).ok_or_else(wrong)?;
    while reader.at < end {
        reader.align(8)?;
        let code = reader.byte()?;
        let kind = reader.signature()?;
        match kind.as_str() {
            "u" => {
                let number = reader.number()?;
                if code == 5 {
                    answer.answers = Some(number);
                }
            }
            "s" | "o" => {
                let text = reader.text()?;
                if code == 4 {
                    answer.error = Some(text);
                }
            }
            "g" => drop(reader.signature()?),
            _ => return Err(wrong()),
        }
    }
    let body = end.checked_next_multiple_of(8).and_then(|at| bytes.get(at..));
    answer.body = body.ok_or_else(wrong)?.to_vec();
    Ok(answer)
}

impl Answer {
    /// Whether it answers the call of that number.
    pub(super) fn is_to(&self, serial: u32) -> bool {
        matches!(self.kind, 2 | 3) && self.answers == Some(serial)
    }

    /// The error's name and text, if it is one.
    pub fn error(&self) -> Option<(String, String)> {
        let text = self.texts_and_flags(1, 0).ok().and_then(|(texts, _)| texts.into_iter().next());
        let name = self.error.clone().unwrap_or_default();
        (self.kind == 3).then(|| (name.clone(), text.unwrap_or(name)))
    }

    /// The texts and, behind them, the flags that it consists of.
    ///
    /// # Errors
    /// It does not.
    pub fn texts_and_flags(&self, texts: usize, flags: usize) -> io::Result<(Vec<String>, Vec<bool>)> {
        let mut reader = Reader { bytes: &self.body, at: 0, big: self.big };
        let texts = (0..texts).map(|_| reader.text()).collect::<io::Result<_>>()?;
        let flags = (0..flags).map(|_| Ok(reader.number()? != 0)).collect::<io::Result<_>>()?;
        Ok((texts, flags))
    }

    /// The list of texts that it is.
    ///
    /// # Errors
    /// It is none.
    pub fn texts(&self) -> io::Result<Vec<String>> {
        let mut reader = Reader { bytes: &self.body, at: 0, big: self.big };
        let end = 4usize.checked_add(reader.number()? as usize).filter(|end| *end <= self.body.len());
        let end = end.ok_or_else(wrong)?;
        let mut texts = Vec::new();
        while reader.at < end {
            texts.push(reader.text()?);
        }
        Ok(texts)
    }
}

fn is_big(mark: u8) -> io::Result<bool> {
    match mark {
        b'l' => Ok(false),
        b'B' => Ok(true),
        _ => Err(wrong()),
    }
}

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the bus says what makes no sense")
}

/// Reads values, each at a multiple of its size.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    big: bool,
}

impl Reader<'_> {
    fn align(&mut self, to: usize) -> io::Result<()> {
        self.at = self.at.checked_next_multiple_of(to).ok_or_else(wrong)?;
        Ok(())
    }

    fn take(&mut self, len: usize) -> io::Result<&[u8]> {
        let end = self.at.checked_add(len).ok_or_else(wrong)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(wrong)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.take(1)?.first().copied().ok_or_else(wrong)
    }

    fn number(&mut self) -> io::Result<u32> {
        self.align(4)?;
        let big = self.big;
        let bytes: [u8; 4] = *self.take(4)?.first_chunk().ok_or_else(wrong)?;
        Ok(if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn text(&mut self) -> io::Result<String> {
        let len = self.number()? as usize;
        let text = String::from_utf8(self.take(len)?.to_vec()).map_err(|_| wrong())?;
        if self.byte()? == 0 { Ok(text) } else { Err(wrong()) }
    }

    fn signature(&mut self) -> io::Result<String> {
        let len = usize::from(self.byte()?);
        let text = String::from_utf8(self.take(len)?.to_vec()).map_err(|_| wrong())?;
        if self.byte()? == 0 { Ok(text) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::Rng;

    /// An answer as the bus sends it: to the call 7, with that body, or an error of that name.
    fn answer(error: Option<&str>, signature: &str, body: &[u8]) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.field(5, "u");
        fields.number(7);
        if let Some(name) = error {
            fields.field(4, "s");
            fields.text(name);
        }
        fields.field(8, "g");
        fields.signature(signature);
        let mut all = Writer(vec![b'l', if error.is_some() { 3 } else { 2 }, 1, 1]);
        all.number(body.len() as u32);
        all.number(1);
        all.number(fields.0.len() as u32);
        all.0.extend(fields.0);
        all.pad(8);
        all.0.extend(body);
        all.0
    }

    fn mounted() -> Vec<u8> {
        let mut body = Writer::default();
        for text in ["/run/media/user/A", "/dev/loop0", "ext4"] {
            body.text(text);
        }
        body.number(1);
        body.number(0);
        answer(None, "sssbb", &body.0)
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let read = parse(&mounted()).expect("an answer");
        assert!(read.is_to(7) && !read.is_to(8) && read.error().is_none());
        let (texts, flags) = read.texts_and_flags(3, 2).expect("these");
        assert_eq!(
            (texts, flags),
            (vec!["/run/media/user/A".into(), "/dev/loop0".into(), "ext4".into()], vec![true, false])
        );
        let mut text = Writer::default();
        text.text("it is in use");
        let error = parse(&answer(Some("a.b.Busy"), "s", &text.0)).expect("an error");
        assert_eq!(error.error(), Some(("a.b.Busy".to_owned(), "it is in use".to_owned())));
        let mut list = Writer::default();
        list.number(0);
        list.text("one");
        list.text("two");
        let len = (list.0.len() - 4) as u32;
        list.0[..4].copy_from_slice(&len.to_le_bytes());
        assert_eq!(
            parse(&answer(None, "as", &list.0)).and_then(|read| read.texts()).expect("a list"),
            ["one", "two"]
        );
    }

    #[test]
    fn what_is_cut_or_garbled_is_refused_or_read_and_never_more_than_that() {
        let whole = mounted();
        for len in 0..whole.len() {
            assert!(parse(&whole[..len]).is_err(), "{len} bytes");
        }
        let mut rng = Rng::new(7);
        for _ in 0..200_000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.below(256) as u8;
            }
            if let Ok(read) = parse(&bytes) {
                let _ = (read.error(), read.texts(), read.texts_and_flags(3, 2));
            }
        }
        let mut long = whole;
        long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(length(long.first_chunk().expect("a head")).is_err(), "no room is made for it");
    }
}
