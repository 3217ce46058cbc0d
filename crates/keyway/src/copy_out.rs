//! A volume's decrypted bytes, to whoever takes them.

use crate::error::Error;
use crate::volume::Volume;
use keyway_engine::Device;
use keyway_store::AlignedBuf;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;

/// Bytes read and decrypted at a time; a multiple of every sector size.
const PIECE: u64 = 2 << 20;

impl Volume {
    /// Writes the bytes from an offset on, `length` at most, to something that is called `name`: one thread reads and
    /// decrypts, this one writes.
    ///
    /// # Errors
    /// The offset is past the end; the medium failed; or it can't be written.
    pub fn copy_out(
        &self,
        offset: u64,
        length: Option<u64>,
        to: impl Write,
        name: &Path,
    ) -> Result<(), Error> {
        let end = offset + self.available(offset, length)?;
        copy(&self.device, offset, end, to, name)
    }
}

fn copy(device: &Device, offset: u64, end: u64, mut to: impl Write, name: &Path) -> Result<(), Error> {
    let (full, next) = mpsc::sync_channel::<Result<AlignedBuf, Error>>(1);
    let (empty, again) = mpsc::channel::<AlignedBuf>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut at = offset;
            while at < end {
                // The first piece ends on a boundary, so that all others begin on one.
                let len = (PIECE - at % PIECE).min(end - at);
                let mut piece = again.try_recv().unwrap_or_default();
                piece.resize(len as usize);
                let read = device.read_at(&mut piece, at).map(|()| piece).map_err(Error::from);
                let failed = read.is_err();
                if full.send(read).is_err() || failed {
                    break;
                }
                at += len;
            }
        });
        for piece in next {
            let piece = piece?;
            to.write_all(&piece).map_err(|e| Error::system("write to", name, e))?;
            // The reading thread may be done already.
            let _ = empty.send(piece);
        }
        Ok(())
    })
}
