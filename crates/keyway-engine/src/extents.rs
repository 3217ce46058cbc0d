//! Which parts of a volume read as zeros because nothing is stored for them.

use crate::{Device, Mapping};

/// A run of bytes of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// How many bytes.
    pub len: u64,
    /// Whether they read as zeros whatever lies on the medium. A hole in the file under an encrypted
    /// volume is none of these: its bytes are decrypted like any others, to noise.
    pub zero: bool,
}

impl Device {
    /// The run that begins at `offset`, no longer than `len`; `None` where that is nothing, or past the
    /// end. Runs that follow each other are of different kinds.
    pub fn extent(&self, offset: u64, len: u64) -> Option<Extent> {
        let end = offset.saturating_add(len).min(self.size());
        let mut at = offset;
        let mut zero = None;
        while at < end
            && let Some(segment) = self.layout.find(at)
            && *zero.get_or_insert(matches!(segment.mapping, Mapping::Zero))
                == matches!(segment.mapping, Mapping::Zero)
        {
            at = (segment.start + segment.len).min(end);
        }
        Some(Extent { len: at - offset, zero: zero? })
    }
}
