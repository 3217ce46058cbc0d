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

mod encoder;
mod tokens;
mod value;

pub use encoder::Encoder;
pub use tokens::{MAX_DEPTH, Token, Tokens};
pub use value::{Budget, Value};
