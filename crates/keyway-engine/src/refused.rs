//! The part of a write that was refused while the rest went on.

use crate::error::DeviceError;

/// The first byte that a write was refused, if any.
#[derive(Default)]
pub(crate) struct Refused(Option<u64>);

impl Refused {
    /// Takes note of bytes that were refused, and lets the request go on; any other error ends it.
    pub(crate) fn sparing_the_rest(&mut self, done: Result<(), DeviceError>) -> Result<(), DeviceError> {
        match done {
            Err(DeviceError::Metadata(at)) => {
                self.0.get_or_insert(at);
                Ok(())
            }
            other => other,
        }
    }

    pub(crate) fn answer(self) -> Result<(), DeviceError> {
        self.0.map_or(Ok(()), |at| Err(DeviceError::Metadata(at)))
    }
}
