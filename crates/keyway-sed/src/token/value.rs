//! Values, and how they are read from tokens with a limit to their number and depth.

use super::tokens::{MAX_DEPTH, MAX_VALUES, Token, Tokens};
use crate::CodecError;

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
pub struct Budget {
    values: usize,
    limit: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// What a message may have: [`MAX_VALUES`].
    pub const fn new() -> Self {
        Self::of(MAX_VALUES)
    }

    /// Another number of values, for what is no message.
    pub const fn of(values: usize) -> Self {
        Self { values, limit: values }
    }

    fn one_more(&mut self) -> Result<(), CodecError> {
        self.values = self.values.checked_sub(1).ok_or(CodecError::TooMany(self.limit))?;
        Ok(())
    }

    /// Reads the values up to EndList, which is taken too.
    ///
    /// # Errors
    /// Bytes that are none, more values than there may be, or too deep in each other.
    pub fn list<'a>(&mut self, tokens: &mut Tokens<'a>) -> Result<Vec<Value<'a>>, CodecError> {
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
