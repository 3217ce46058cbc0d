//! The file system inside a volume whose size changes: its own tool makes it larger or smaller on the open volume.

use crate::attach_words::by_fuse;
use crate::failure::Failure;
use crate::session_words;
use crate::volume::{Which, about};
use keyway::session::SessionSecrets;
use keyway_fs::FileSystem;

/// Opens the volume, makes its file system `to` bytes large, and closes it again.
///
/// # Errors
/// The volume can't be attached as a device or file here, the tool is missing or refuses: then the file system
/// has its old size, but where the tool itself failed in the middle of it.
pub(super) fn resize(
    which: &Which,
    secrets: &SessionSecrets,
    fs: &FileSystem,
    to: u64,
) -> Result<(), Failure> {
    let session = session_words::start(&which.to_serve(by_fuse(false)?)?, secrets)?;
    // A loop device where this user may have one; otherwise the file that it would be made of.
    let place = session.state.device.as_ref().or(session.state.file.as_ref());
    let resized = place.map_or(Ok(()), |place| fs.kind.resize(place, to));
    let closed = session.close();
    resized.map_err(|e| about(&which.path, e))?;
    closed?;
    Ok(())
}

/// Gives a file system its size back that was made smaller for a change that failed; what is to be told of it.
pub(super) fn undo(which: &Which, secrets: &SessionSecrets, fs: &FileSystem) -> String {
    match resize(which, secrets, fs, fs.bytes) {
        Ok(()) => format!("its {} file system has the size again that it had", fs.kind),
        Err(e) => format!(
            "its {} file system was made smaller before, and could not get its size back ({}); nothing in it is lost",
            fs.kind, e.message
        ),
    }
}
