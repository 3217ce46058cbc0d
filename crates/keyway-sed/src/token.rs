//! The data stream: atoms and control tokens, and the values they make up.
//!
//! TCG Storage Architecture Core Specification 2.01, 3.2.2.3 ("Data Stream Encoding"):
//!
//! | first byte | token |
//! |---|---|
//! | `0x00..=0x7f` | tiny atom: bit 6 signed, bits 0 to 5 the integer |
//! | `0x80..=0xbf` | short atom: bit 5 bytes, bit 4 signed, bits 0 to 3 the length |
//! | `0xc0..=0xdf` | medium atom: bit 4 bytes, bit 3 signed, 11 bits of length |
//! | `0xe0..=0xe3` | long atom: bit 1 bytes, bit 0 signed, 24 bits of length |
//! | `0xf0..=0xff` | control tokens, where defined |

use crate::CodecError;
use zeroize::Zeroize;

/// How deep lists and names may nest. The deepest structure of any specification is an ACE's
/// expression inside a row inside the parameters: six levels.
pub const MAX_DEPTH: usize = 16;

/// Values in one message. A buffer of the largest size has room for more, but nothing that is
/// defined does: a `Next` over the largest table has a few hundred.
pub const MAX_VALUES: usize = 8192;

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Int(i64),
    /// A byte string.
    Bytes(&'a [u8]),
    /// `[`, 0xf0.
    StartList,
    /// `]`, 0xf1.
    EndList,
    /// Begins a name and its value, 0xf2.
    StartName,
    /// Ends them, 0xf3.
    EndName,
    /// Begins a method call, 0xf8.
    Call,
    /// Ends its parameters or results, 0xf9.
    EndOfData,
    /// Closes the session, 0xfa.
    EndOfSession,
    /// Opens a transaction, 0xfb.
    StartTransaction,
    /// Ends it, 0xfc.
    EndTransaction,
    /// Nothing, 0xff.
    Empty,
}

impl Token<'_> {
    /// The token's name, for errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Uint(_) => "an unsigned integer",
            Self::Int(_) => "a signed integer",
            Self::Bytes(_) => "a byte string",
            Self::StartList => "StartList",
            Self::EndList => "EndList",
            Self::StartName => "StartName",
            Self::EndName => "EndName",
            Self::Call => "Call",
            Self::EndOfData => "EndOfData",
            Self::EndOfSession => "EndOfSession",
            Self::StartTransaction => "StartTransaction",
            Self::EndTransaction => "EndTransaction",
            Self::Empty => "EmptyAtom",
        }
    }
}

/// The tokens of a byte string, one after the other; empty atoms are passed over.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Reads from the first byte on.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next token, or none at the end.
    ///
    /// # Errors
    /// What is not a token; the rest can't be read then.
    pub fn take(&mut self) -> Result<Option<Token<'a>>, CodecError> {
        loop {
            let token = self.take_any()?;
            if token != Some(Token::Empty) {
                return Ok(token);
            }
        }
    }

    /// What the next token will be.
    ///
    /// # Errors
    /// As [`Tokens::take`].
    pub fn peek(&self) -> Result<Option<Token<'a>>, CodecError> {
        self.clone().take()
    }

    fn take_any(&mut self) -> Result<Option<Token<'a>>, CodecError> {
        let Some((&first, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        let token = match first {
            0x00..=0x3f => Token::Uint(u64::from(first)),
            // Six bits of two's complement.
            0x40..=0x7f => Token::Int(i64::from(((first << 2) as i8) >> 2)),
            0x80..=0xbf => self.atom(first & 0x20 != 0, first & 0x10 != 0, usize::from(first & 0x0f))?,
            0xc0..=0xdf => {
                let low = self.length_bytes(1)?;
                let len = usize::from(first & 0x07) << 8 | low;
                self.atom(first & 0x10 != 0, first & 0x08 != 0, len)?
            }
            0xe0..=0xe3 => {
                let len = self.length_bytes(3)?;
                self.atom(first & 0x02 != 0, first & 0x01 != 0, len)?
            }
            0xf0 => Token::StartList,
            0xf1 => Token::EndList,
            0xf2 => Token::StartName,
            0xf3 => Token::EndName,
            0xf8 => Token::Call,
            0xf9 => Token::EndOfData,
            0xfa => Token::EndOfSession,
            0xfb => Token::StartTransaction,
            0xfc => Token::EndTransaction,
            0xff => Token::Empty,
            other => return Err(CodecError::ReservedToken(other)),
        };
        Ok(Some(token))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(CodecError::Truncated("a token"))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn length_bytes(&mut self, count: usize) -> Result<usize, CodecError> {
        Ok(self.bytes(count)?.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)))
    }

    fn atom(&mut self, is_bytes: bool, signed: bool, len: usize) -> Result<Token<'a>, CodecError> {
        let bytes = self.bytes(len)?;
        match (is_bytes, signed) {
            (true, true) => Err(CodecError::Continued),
            (true, false) => Ok(Token::Bytes(bytes)),
            (false, signed) => {
                let fill = if signed && bytes.first().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
                let extra = bytes.len().saturating_sub(8);
                let (head, tail) = bytes.split_at(extra);
                if head.iter().any(|b| *b != fill) {
                    return Err(CodecError::IntegerTooLong(bytes.len()));
                }
                let mut wide = [fill; 8];
                if let Some(place) = wide.get_mut(8 - tail.len()..) {
                    place.copy_from_slice(tail);
                }
                Ok(if signed {
                    let value = i64::from_be_bytes(wide);
                    // What was cut off must not have been what made it negative.
                    if (fill == 0xff) != (value < 0) {
                        return Err(CodecError::IntegerTooLong(bytes.len()));
                    }
                    Token::Int(value)
                } else {
                    Token::Uint(u64::from_be_bytes(wide))
                })
            }
        }
    }
}

/// A value: an atom, a list, or a name with a value. Byte strings stay where they were received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Int(i64),
    /// A byte string.
    Bytes(&'a [u8]),
    /// A list.
    List(Vec<Value<'a>>),
    /// A named value.
    Named(Box<(Value<'a>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The unsigned integer, if it is one. A signed one that is not negative counts: some drives
    /// write their numbers so.
    pub fn uint(&self) -> Option<u64> {
        match self {
            Self::Uint(n) => Some(*n),
            Self::Int(n) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The byte string, if it is one.
    pub const fn bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The list, if it is one.
    pub fn list(&self) -> Option<&[Value<'a>]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// Name and value, if it is a named one.
    pub fn named(&self) -> Option<(&Value<'a>, &Value<'a>)> {
        if let Self::Named(pair) = self { Some((&pair.0, &pair.1)) } else { None }
    }

    /// Whether it is true or false: 1 or 0 (Core 2.01, 5.1.3.12).
    pub fn boolean(&self) -> Option<bool> {
        match self.uint() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        }
    }

    /// The 8 bytes of a UID, if it is one.
    pub fn uid(&self) -> Option<crate::Uid> {
        self.bytes()?.try_into().ok().map(crate::Uid::from_bytes)
    }
}

/// Counts values and levels while a message is parsed.
pub(crate) struct Budget {
    values: usize,
    limit: usize,
}

impl Budget {
    pub(crate) const fn new() -> Self {
        Self::of(MAX_VALUES)
    }

    /// Another number of values, for what is no message.
    pub(crate) const fn of(values: usize) -> Self {
        Self { values, limit: values }
    }

    fn one_more(&mut self) -> Result<(), CodecError> {
        self.values = self.values.checked_sub(1).ok_or(CodecError::TooMany(self.limit))?;
        Ok(())
    }

    /// Reads the values up to EndList, which is taken too.
    pub(crate) fn list<'a>(&mut self, tokens: &mut Tokens<'a>) -> Result<Vec<Value<'a>>, CodecError> {
        self.list_at(tokens, 1)
    }

    fn list_at<'a>(&mut self, tokens: &mut Tokens<'a>, depth: usize) -> Result<Vec<Value<'a>>, CodecError> {
        let mut values = Vec::new();
        loop {
            match tokens.take()?.ok_or(CodecError::Truncated("a list"))? {
                Token::EndList => return Ok(values),
                token => values.push(self.value(token, tokens, depth)?),
            }
        }
    }

    fn value<'a>(
        &mut self,
        token: Token<'a>,
        tokens: &mut Tokens<'a>,
        depth: usize,
    ) -> Result<Value<'a>, CodecError> {
        self.one_more()?;
        if depth > MAX_DEPTH {
            return Err(CodecError::TooDeep(MAX_DEPTH));
        }
        match token {
            Token::Uint(n) => Ok(Value::Uint(n)),
            Token::Int(n) => Ok(Value::Int(n)),
            Token::Bytes(bytes) => Ok(Value::Bytes(bytes)),
            Token::StartList => Ok(Value::List(self.list_at(tokens, depth + 1)?)),
            Token::StartName => {
                let cut = CodecError::Truncated("a named value");
                let name = tokens.take()?.ok_or(cut)?;
                let name = self.value(name, tokens, depth + 1)?;
                let value = tokens.take()?.ok_or(cut)?;
                let value = self.value(value, tokens, depth + 1)?;
                match tokens.take()?.ok_or(cut)? {
                    Token::EndName => Ok(Value::Named(Box::new((name, value)))),
                    other => {
                        Err(CodecError::Unexpected { expected: Token::EndName.name(), found: other.name() })
                    }
                }
            }
            other => Err(CodecError::Unexpected { expected: "a value", found: other.name() }),
        }
    }
}

/// Writes tokens in their shortest form; wiped when dropped, for PINs travel in it.
#[derive(Default, PartialEq, Eq)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// Nothing written yet. There is room for ordinary messages; what outgrows it leaves no copy of its beginning
    /// behind.
    pub fn new() -> Self {
        Self { bytes: Vec::with_capacity(512) }
    }

    /// What was written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Length so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets, and wipes, what was written from there on.
    pub fn truncate(&mut self, len: usize) {
        if let Some(cut) = self.bytes.get_mut(len..) {
            cut.zeroize();
        }
        self.bytes.truncate(len);
    }

    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        let needed = self.bytes.len() + bytes.len();
        if needed > self.bytes.capacity() {
            let mut larger = Vec::with_capacity(needed.max(2 * self.bytes.capacity()));
            larger.extend_from_slice(&self.bytes);
            self.bytes.zeroize();
            self.bytes = larger;
        }
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Any control token; an atom is written as its own method does.
    pub fn token(&mut self, token: Token<'_>) -> &mut Self {
        let byte = match token {
            Token::Uint(n) => return self.uint(n),
            Token::Int(n) => return self.int(n),
            Token::Bytes(bytes) => return self.bytes(bytes),
            Token::StartList => 0xf0,
            Token::EndList => 0xf1,
            Token::StartName => 0xf2,
            Token::EndName => 0xf3,
            Token::Call => 0xf8,
            Token::EndOfData => 0xf9,
            Token::EndOfSession => 0xfa,
            Token::StartTransaction => 0xfb,
            Token::EndTransaction => 0xfc,
            Token::Empty => 0xff,
        };
        self.raw(&[byte])
    }

    /// An unsigned integer.
    pub fn uint(&mut self, n: u64) -> &mut Self {
        let bytes = n.to_be_bytes();
        let zeros = (n.leading_zeros() / 8) as usize;
        match bytes.get(zeros..) {
            Some([]) | None => self.raw(&[0]),
            Some([small @ 0..=0x3f]) => self.raw(&[*small]),
            Some(significant) => {
                // At most 8: it fits the four bits.
                self.raw(&[0x80 | significant.len() as u8]).raw(significant)
            }
        }
    }

    /// A signed integer.
    pub fn int(&mut self, n: i64) -> &mut Self {
        if (-32..32).contains(&n) {
            return self.raw(&[0x40 | (n as u8 & 0x3f)]);
        }
        let bytes = n.to_be_bytes();
        let sign_bits = if n < 0 { n.leading_ones() } else { n.leading_zeros() };
        let spare = ((sign_bits - 1) / 8) as usize;
        let significant = bytes.get(spare..).unwrap_or(&bytes);
        self.raw(&[0x90 | significant.len() as u8]).raw(significant)
    }

    /// True is 1, false is 0.
    pub fn boolean(&mut self, b: bool) -> &mut Self {
        self.uint(u64::from(b))
    }

    /// A byte string. What is longer than the format can say (16 MiB) is cut off there; callers
    /// have limits far below.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        let bytes = bytes.get(..0x00ff_ffff).unwrap_or(bytes);
        let [.., high, middle, low] = (bytes.len() as u32).to_be_bytes();
        match bytes.len() {
            0..=15 => self.raw(&[0xa0 | low]),
            16..=2047 => self.raw(&[0xd0 | middle, low]),
            _ => self.raw(&[0xe2, high, middle, low]),
        };
        self.raw(bytes)
    }

    /// The 8 bytes of a UID.
    pub fn uid(&mut self, uid: crate::Uid) -> &mut Self {
        self.bytes(&uid.to_bytes())
    }

    /// `[`.
    pub fn start_list(&mut self) -> &mut Self {
        self.token(Token::StartList)
    }

    /// `]`.
    pub fn end_list(&mut self) -> &mut Self {
        self.token(Token::EndList)
    }

    /// A list, its content written by `write`.
    pub fn list(&mut self, write: impl FnOnce(&mut Self)) -> &mut Self {
        self.start_list();
        write(self);
        self.end_list()
    }

    /// A named value: a number (a column, an optional parameter) and what `write` writes.
    pub fn named(&mut self, name: u64, write: impl FnOnce(&mut Self)) -> &mut Self {
        self.token(Token::StartName).uint(name);
        write(self);
        self.token(Token::EndName)
    }

    /// A value read elsewhere.
    pub fn value(&mut self, value: &Value<'_>) -> &mut Self {
        match value {
            Value::Uint(n) => self.uint(*n),
            Value::Int(n) => self.int(*n),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::List(list) => self.list(|to| {
                for value in list {
                    to.value(value);
                }
            }),
            Value::Named(pair) => {
                self.token(Token::StartName).value(&pair.0).value(&pair.1).token(Token::EndName)
            }
        }
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(bytes: &[u8]) -> Result<Option<Token<'_>>, CodecError> {
        Tokens::new(bytes).take()
    }

    #[test]
    fn atoms_as_in_the_specifications_table() {
        let cases: [(&[u8], Token<'_>); 12] = [
            (&[0x05], Token::Uint(5)),
            (&[0x3f], Token::Uint(63)),
            (&[0x7f], Token::Int(-1)),
            (&[0x41], Token::Int(1)),
            (&[0x81, 0x41], Token::Uint(0x41)),
            (&[0x82, 0x10, 0x00], Token::Uint(4096)),
            (&[0x91, 0x80], Token::Int(-128)),
            (&[0xa2, 7, 8], Token::Bytes(&[7, 8])),
            (&[0xd0, 0x01, 9], Token::Bytes(&[9])),
            (&[0xc0, 0x01, 9], Token::Uint(9)),
            (&[0xe2, 0, 0, 1, 9], Token::Bytes(&[9])),
            (&[0xff, 0xff, 0xf8], Token::Call),
        ];
        for (bytes, token) in cases {
            assert_eq!(one(bytes), Ok(Some(token)), "{bytes:02x?}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for byte in (0xe4..=0xef).chain(0xf4..=0xf7).chain([0xfd, 0xfe]) {
            assert_eq!(one(&[byte]), Err(CodecError::ReservedToken(byte)));
        }
        assert_eq!(one(&[0xa3, 1, 2]), Err(CodecError::Truncated("a token")));
        assert_eq!(one(&[0xe2, 0xff, 0xff, 0xff]), Err(CodecError::Truncated("a token")));
        assert_eq!(one(&[0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0]), Err(CodecError::IntegerTooLong(9)));
        assert_eq!(one(&[0x89, 0, 1, 0, 0, 0, 0, 0, 0, 0]), Ok(Some(Token::Uint(1 << 56))));
        assert_eq!(one(&[0xb1, 0]), Err(CodecError::Continued));
    }

    #[test]
    fn nesting_and_numbers_are_limited() {
        let deep = [vec![0xf0; 1000], vec![0xf1; 1000]].concat();
        let read = |bytes: &[u8]| Budget::new().list(&mut Tokens::new(bytes)).map(|l| l.len());
        assert_eq!(read(&deep), Err(CodecError::TooDeep(MAX_DEPTH)));
        assert_eq!(read(&vec![0u8; 100_000]), Err(CodecError::TooMany(MAX_VALUES)));
        assert!(read(&[0xf2, 1, 2, 3, 0xf3, 0xf1]).is_err());
    }

    fn leaf() -> impl Strategy<Value = Owned> {
        prop_oneof![
            any::<u64>().prop_map(Owned::Uint),
            any::<i64>().prop_map(Owned::Int),
            prop::collection::vec(any::<u8>(), 0..3000).prop_map(Owned::Bytes),
        ]
    }

    #[derive(Debug, Clone)]
    enum Owned {
        Uint(u64),
        Int(i64),
        Bytes(Vec<u8>),
        List(Vec<Owned>),
        Named(Box<(Owned, Owned)>),
    }

    impl Owned {
        fn value(&self) -> Value<'_> {
            match self {
                Self::Uint(n) => Value::Uint(*n),
                Self::Int(n) => Value::Int(*n),
                Self::Bytes(b) => Value::Bytes(b),
                Self::List(l) => Value::List(l.iter().map(Self::value).collect()),
                Self::Named(p) => Value::Named(Box::new((p.0.value(), p.1.value()))),
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(owned in leaf().prop_recursive(4, 40, 6, |inner| prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Owned::List),
            (inner.clone(), inner).prop_map(|pair| Owned::Named(Box::new(pair))),
        ])) {
            let value = owned.value();
            let mut encoder = Encoder::new();
            encoder.value(&value).end_list();
            let read = Budget::new().list(&mut Tokens::new(encoder.as_bytes())).unwrap();
            prop_assert_eq!(read, vec![value]);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut tokens = Tokens::new(&bytes);
            while let Ok(Some(_)) = tokens.take() {}
            let _ = Budget::new().list(&mut Tokens::new(&bytes));
        }
    }
}
