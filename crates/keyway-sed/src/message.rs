//! What a stream of tokens says: a method call, its answer, or a word about the session.
//!
//! Core 2.01, 3.2.4 ("Messaging"): a call is `Call`, the UID it is invoked on, the method's UID and
//! a list of parameters; an answer is the list of results alone. Both end in `EndOfData` and a
//! status list of three integers, of which the first is the status and the others are reserved.

use crate::token::{Budget, Encoder, Token, Tokens, Value};
use crate::{CodecError, Status, Uid};

/// One message of a session's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<'a> {
    /// A method is called. The session manager's answers (SyncSession, Properties, CloseSession)
    /// have this shape too.
    Call(Call<'a>),
    /// A method answers.
    Answer(Answer<'a>),
    /// The session is to be closed, or is.
    EndOfSession,
    /// A transaction begins; status 0 from the host.
    StartTransaction(u64),
    /// A transaction ends: 0 commits, anything else aborts.
    EndTransaction(u64),
}

/// A method call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// What the method is invoked on.
    pub invoking: Uid,
    /// The method.
    pub method: Uid,
    /// Its parameters; optional ones are named by numbers.
    pub arguments: Vec<Value<'a>>,
    /// What the status list says; success in every call of a host.
    pub status: Status,
}

/// A method's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The results.
    pub results: Vec<Value<'a>>,
    /// Whether it worked.
    pub status: Status,
}

impl<'a> Call<'a> {
    /// The optional parameter of that number.
    pub fn optional(&self, number: u64) -> Option<&Value<'a>> {
        self.arguments
            .iter()
            .filter_map(Value::named)
            .find(|(name, _)| name.uint() == Some(number))
            .map(|p| p.1)
    }

    /// The parameters that must be given, in order.
    pub fn required(&self) -> impl Iterator<Item = &Value<'a>> {
        self.arguments.iter().filter(|value| value.named().is_none())
    }
}

impl<'a> Message<'a> {
    /// Reads one message from the front of the tokens; none when there are no more.
    ///
    /// # Errors
    /// Tokens that are no message.
    pub fn read(tokens: &mut Tokens<'a>) -> Result<Option<Self>, CodecError> {
        let Some(first) = tokens.take()? else { return Ok(None) };
        match first {
            Token::Call => {
                let invoking = uid(tokens)?;
                let method = uid(tokens)?;
                expect(tokens, Token::StartList)?;
                let arguments = Budget::new().list(tokens)?;
                let status = status_list(tokens)?;
                Ok(Some(Self::Call(Call { invoking, method, arguments, status })))
            }
            Token::StartList => {
                let results = Budget::new().list(tokens)?;
                let status = status_list(tokens)?;
                Ok(Some(Self::Answer(Answer { results, status })))
            }
            // Linux sends the tail of a call behind it: nothing after the end counts.
            Token::EndOfSession => {
                *tokens = Tokens::new(&[]);
                Ok(Some(Self::EndOfSession))
            }
            Token::StartTransaction => Ok(Some(Self::StartTransaction(integer(tokens)?))),
            Token::EndTransaction => Ok(Some(Self::EndTransaction(integer(tokens)?))),
            other => Err(CodecError::Unexpected { expected: "a method call or answer", found: other.name() }),
        }
    }

    /// Reads the only message that there is.
    ///
    /// # Errors
    /// None, more than one, or what is no message.
    pub fn parse(payload: &'a [u8]) -> Result<Self, CodecError> {
        let mut tokens = Tokens::new(payload);
        let message = Self::read(&mut tokens)?.ok_or(CodecError::Truncated("a message"))?;
        match tokens.take()? {
            None => Ok(message),
            Some(more) => {
                Err(CodecError::Unexpected { expected: "the end of the message", found: more.name() })
            }
        }
    }
}

/// Writes a method call.
pub fn write_call(to: &mut Encoder, invoking: Uid, method: Uid, arguments: impl FnOnce(&mut Encoder)) {
    write_call_with(to, invoking, method, Status::Success, arguments);
}

/// Writes a method call whose status list is not success: the session manager's refusals.
pub fn write_call_with(
    to: &mut Encoder,
    invoking: Uid,
    method: Uid,
    status: Status,
    arguments: impl FnOnce(&mut Encoder),
) {
    to.token(Token::Call).uid(invoking).uid(method).list(arguments);
    write_status(to, status);
}

/// Writes an answer. When `results` fails, the answer is its status and no result.
pub fn write_answer(to: &mut Encoder, results: impl FnOnce(&mut Encoder) -> Result<(), Status>) {
    let from = to.len();
    to.start_list();
    let status = match results(to) {
        Ok(()) => Status::Success,
        Err(status) => {
            to.truncate(from);
            to.start_list();
            status
        }
    };
    to.end_list();
    write_status(to, status);
}

fn write_status(to: &mut Encoder, status: Status) {
    to.token(Token::EndOfData).list(|to| {
        to.uint(u64::from(status.code())).uint(0).uint(0);
    });
}

fn expect(tokens: &mut Tokens<'_>, token: Token<'static>) -> Result<(), CodecError> {
    match tokens.take()?.ok_or(CodecError::Truncated("a message"))? {
        found if found == token => Ok(()),
        found => Err(CodecError::Unexpected { expected: token.name(), found: found.name() }),
    }
}

fn uid(tokens: &mut Tokens<'_>) -> Result<Uid, CodecError> {
    match tokens.take()?.ok_or(CodecError::Truncated("a method call"))? {
        Token::Bytes(bytes) => {
            let bytes = bytes
                .try_into()
                .map_err(|_| CodecError::Length { what: "a UID", len: bytes.len() as u64 })?;
            Ok(Uid::from_bytes(bytes))
        }
        other => Err(CodecError::Unexpected { expected: "a UID", found: other.name() }),
    }
}

fn integer(tokens: &mut Tokens<'_>) -> Result<u64, CodecError> {
    match tokens.take()?.ok_or(CodecError::Truncated("a transaction's status"))? {
        Token::Uint(n) => Ok(n),
        other => Err(CodecError::Unexpected { expected: "a status", found: other.name() }),
    }
}

fn status_list(tokens: &mut Tokens<'_>) -> Result<Status, CodecError> {
    expect(tokens, Token::EndOfData)?;
    expect(tokens, Token::StartList)?;
    let list = Budget::new().list(tokens)?;
    let code = list.first().and_then(Value::uint).ok_or(CodecError::Truncated("a status list"))?;
    let code = u8::try_from(code).map_err(|_| CodecError::Value { what: "a status code", value: code })?;
    Ok(Status::from_code(code))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::uid::{method, sp};
    use proptest::prelude::*;

    #[test]
    fn a_start_session_as_linux_sends_it() {
        let mut wire = Encoder::new();
        write_call(&mut wire, Uid::SESSION_MANAGER, method::START_SESSION, |to| {
            to.uint(0x41).uid(sp::ADMIN).uint(1).named(0, |to| {
                to.bytes(b"pin");
            });
        });
        let expected = [
            &[0xf8, 0xa8, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xa8, 0, 0, 0, 0, 0, 0, 0xff, 2, 0xf0][..],
            &[0x81, 0x41, 0xa8, 0, 0, 2, 5, 0, 0, 0, 1, 1, 0xf2, 0, 0xa3, b'p', b'i', b'n', 0xf3],
            &[0xf1, 0xf9, 0xf0, 0, 0, 0, 0xf1],
        ]
        .concat();
        assert_eq!(wire.as_bytes(), expected);
        let Message::Call(call) = Message::parse(wire.as_bytes()).unwrap() else { unreachable!("a call") };
        assert_eq!(call.optional(0).and_then(Value::bytes), Some(&b"pin"[..]));
        assert_eq!(call.required().count(), 3);
    }

    #[test]
    fn a_failing_answer_has_no_results() {
        let mut wire = Encoder::new();
        write_answer(&mut wire, |to| {
            to.uint(1);
            Err(Status::NotAuthorized)
        });
        let expected = Answer { results: vec![], status: Status::NotAuthorized };
        assert_eq!(Message::parse(wire.as_bytes()), Ok(Message::Answer(expected)));
    }

    #[test]
    fn the_end_of_a_session_is_that_whatever_follows() {
        let linux = [0xfa, 0xf1, 0xf9, 0xf0, 0, 0, 0, 0xf1];
        assert_eq!(Message::parse(&linux), Ok(Message::EndOfSession));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Message::parse(&bytes);
            let call = [&[0xf8, 0xa8, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xa8, 0, 0, 0, 0, 0, 0, 0xff, 2, 0xf0][..], &bytes].concat();
            let _ = Message::parse(&call);
        }
    }
}
