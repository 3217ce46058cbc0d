//! Conversions in place: a file system becomes an encrypted volume, a volume becomes a file system again, gets another
//! cipher, or another format.
//!
//! Losing power at any moment loses nothing: what was interrupted is [`Found`] on the medium, and goes on.

mod claim;

pub use crate::under_way::*;
pub use claim::*;
pub use keyway_convert::ConversionKind;
