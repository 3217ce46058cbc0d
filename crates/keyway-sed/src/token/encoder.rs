//! Writes tokens.

use super::tokens::Token;
use super::value::Value;
use zeroize::Zeroize;

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
