//! Reads tokens.

use crate::CodecError;

/// How deep lists and names may nest. The deepest structure of any specification is an ACE's
/// expression inside a row inside the parameters: six levels.
pub const MAX_DEPTH: usize = 16;

/// Values in one message. A buffer of the largest size has room for more, but nothing that is
/// defined does: a `Next` over the largest table has a few hundred.
pub(crate) const MAX_VALUES: usize = 8192;

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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::token::{Budget, Encoder, Value};
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
