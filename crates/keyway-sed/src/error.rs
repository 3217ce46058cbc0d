//! Faults of bytes that claim to be of these protocols.

/// Bytes that are not what the TCG Storage specifications describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The bytes end inside something.
    #[error("{0} is cut off")]
    Truncated(&'static str),
    /// A length that points outside of what surrounds it, or above this program's limit.
    #[error("{what} has a length of {len} bytes, which cannot be")]
    Length {
        /// The part.
        what: &'static str,
        /// What it claims.
        len: u64,
    },
    /// A byte that begins no token (TCG Storage Architecture Core 2.01, 3.2.2.3: reserved).
    #[error("{0:#04x} begins no token")]
    ReservedToken(u8),
    /// An integer of more than 64 bits.
    #[error("an integer has {0} bytes; no field of these protocols has more than 8")]
    IntegerTooLong(usize),
    /// A byte string that is continued in another token; nobody sends them.
    #[error("a byte string is continued in another token, which is not supported")]
    Continued,
    /// Lists in lists without end.
    #[error("values are nested deeper than {0} levels")]
    TooDeep(usize),
    /// Values without end.
    #[error("there are more than {0} values in one message")]
    TooMany(usize),
    /// A token where another was due.
    #[error("{found} stands where {expected} should be")]
    Unexpected {
        /// What the grammar asks for.
        expected: &'static str,
        /// What was there.
        found: &'static str,
    },
    /// A field with a value its definition does not have.
    #[error("{what} is {value:#x}, which is not defined")]
    Value {
        /// The field.
        what: &'static str,
        /// What was there.
        value: u64,
    },
    /// A packet kind nobody sends here.
    #[error("subpackets of kind {0:#06x} are not defined")]
    SubpacketKind(u16),
}
