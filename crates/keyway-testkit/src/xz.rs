//! Unpacks the compressed test volumes with `xz`.

use crate::require_tool;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use tempfile::NamedTempFile;

/// Uncompresses a file into a temporary one, sparse where it is zero; `None` after a visible skip
/// when `xz` is missing.
///
/// # Panics
/// When the file is not what its name says.
pub fn unpack_xz(path: &Path) -> Option<NamedTempFile> {
    let xz = require_tool("xz")?;
    let unpacked = NamedTempFile::new().expect("a temporary file");
    let output = File::create(unpacked.path()).expect("the temporary file opens");
    let status = Command::new(xz).arg("-dc").arg(path).stdout(output).status().expect("xz runs");
    assert!(status.success(), "xz could not uncompress {}", path.display());
    Some(unpacked)
}
