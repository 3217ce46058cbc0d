//! From words to an unlocked volume: what `cat`, `info`, `open` and the others have in common.

use crate::conversion;
use crate::failure::{Exit, Failure};
use crate::given::{Family, Key};
use crate::narrow::{FormatArg, NarrowArgs};
use crate::output::Output;
use crate::searching::Searched;
use crate::spawn;
use crate::system_drive::SystemDrive;
use keyway_engine::{Access, Device, LayerSecrets};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_volume::bitlocker::BitLockerError;
use keyway_volume::{HashName, HeaderChoice, Info, Opened, Secrets, UnlockRequest, bitlocker};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Which volume, and what it is looked for as.
#[derive(Debug, Clone)]
pub(crate) struct Which {
    /// Its file or device.
    pub(crate) path: PathBuf,
    /// Only this format.
    pub(crate) format: Option<FormatArg>,
    /// Only this hash.
    pub(crate) hash: Option<HashName>,
    /// Which header.
    pub(crate) header: HeaderChoice,
    /// It is an encrypted system.
    pub(crate) system: bool,
    /// It is a partition of one, whose header lies in this drive or file.
    pub(crate) system_header: Option<PathBuf>,
}

impl Which {
    /// From the command line.
    pub(crate) fn new(path: &Path, narrow: &NarrowArgs) -> Self {
        Self {
            path: path.to_owned(),
            format: narrow.format(),
            hash: narrow.hash(),
            header: narrow.header(),
            system: narrow.system(),
            system_header: narrow.system_header().map(Path::to_owned),
        }
    }

    /// The same by paths that a process in another folder finds.
    pub(crate) fn absolute(self) -> Result<Self, Failure> {
        let system_header = self.system_header.as_deref().map(spawn::absolute).transpose()?;
        Ok(Self { path: spawn::absolute(&self.path)?, system_header, ..self })
    }

    /// The request for BitLocker's code. Whoever says that it is such a volume is believed where its
    /// first sector does not.
    pub(crate) fn bitlocker_request<'a>(
        &self,
        secrets: &'a [bitlocker::Secret],
    ) -> bitlocker::UnlockRequest<'a> {
        let search = self.format == Some(FormatArg::Bitlocker);
        bitlocker::UnlockRequest { search, ..bitlocker::UnlockRequest::new(secrets) }
    }

    /// What can be said of a BitLocker volume without a secret.
    pub(crate) fn look_at_bitlocker(&self, store: &dyn Store) -> Result<bitlocker::Seen, BitLockerError> {
        if self.format == Some(FormatArg::Bitlocker) {
            bitlocker::find(&Searched::new(store))
        } else {
            bitlocker::look(store)
        }
    }

    /// The request for the format's own code. `drive` is where a system partition's header may be.
    pub(crate) fn request<'a>(
        &self,
        secrets: &'a Secrets,
        protect: Option<&'a Secrets>,
        drive: Option<&'a SystemDrive>,
    ) -> UnlockRequest<'a> {
        UnlockRequest {
            secrets,
            format: self.format.and_then(FormatArg::veracrypt),
            hash: self.hash,
            header: self.header,
            system: self.system,
            system_header: drive.map(SystemDrive::header),
            protect_hidden: protect,
        }
    }
}

/// A volume that is open in this process.
pub(crate) struct OpenVolume {
    /// Its sectors.
    pub(crate) device: Device,
    /// What its header says.
    pub(crate) info: Info,
    /// What its owner should know.
    pub(crate) warnings: Vec<String>,
}

/// Opens the file or device; a volume in use elsewhere is refused for writing.
pub(crate) fn store(path: &Path, access: Access, caching: Caching) -> Result<FileStore, Failure> {
    let mode = match access {
        Access::ReadOnly => OpenMode::ReadOnly,
        Access::ReadWrite => OpenMode::ReadWrite,
    };
    Ok(FileStore::open(path, mode, caching)?)
}

/// Unlocks a volume and puts its layout over the store.
pub(crate) fn open<'a>(
    which: &Which,
    access: Access,
    caching: Caching,
    key: impl Into<Key<'a>>,
    protect: Option<&Secrets>,
) -> Result<OpenVolume, Failure> {
    open_and(which, access, caching, key, protect, false).map(|(open, _)| open)
}

/// As [`open`]; with the cipher's own keys where they are wanted, to be handed over to the kernel.
pub(crate) fn open_and<'a>(
    which: &Which,
    access: Access,
    caching: Caching,
    key: impl Into<Key<'a>>,
    protect: Option<&Secrets>,
    keys_too: bool,
) -> Result<(OpenVolume, Vec<LayerSecrets>), Failure> {
    let store = store(&which.path, access, caching)?;
    let about = |e: Failure| about(&which.path, e);
    let mut keys = Vec::new();
    let opened: Opened = match key.into() {
        Key::VeraCrypt(secrets) => {
            let drive = SystemDrive::of(which)?;
            let request = which.request(secrets, protect, drive.as_ref());
            let unlocked = keyway_volume::unlock(&store, &request).map_err(|e| about(e.into()))?;
            if keys_too {
                keys = unlocked.layer_secrets().map_err(|e| about(e.into()))?;
            }
            unlocked.into()
        }
        Key::BitLocker(_) if protect.is_some() => {
            return Err(about(Failure::usage(
                "a BitLocker volume has no hidden one to protect",
                "leave out the --protect-… options",
            )));
        }
        Key::BitLocker(secrets) => {
            let request = which.bitlocker_request(secrets);
            let unlocked =
                bitlocker::unlock(&Searched::new(&store), &request).map_err(|e| about(e.into()))?;
            if keys_too {
                keys = unlocked.layer_secrets().map_err(|e| about(e.into()))?;
            }
            unlocked.into()
        }
    };
    let access = if opened.read_only { Access::ReadOnly } else { access };
    let device = Device::new(Box::new(store), opened.layout, access)?;
    Ok((OpenVolume { device, info: opened.info, warnings: opened.warnings }, keys))
}

/// Which formats' code is to look at a volume: the one that was named, else what its first sector
/// says.
pub(crate) fn family(which: &Which) -> Result<Family, Failure> {
    conversion::refuse_if_half(&which.path)?;
    match which.format {
        Some(FormatArg::Bitlocker) => Ok(Family::BitLocker),
        Some(FormatArg::Veracrypt | FormatArg::Truecrypt) => Ok(Family::VeraCrypt),
        None => {
            let store = store(&which.path, Access::ReadOnly, Caching::Buffered)?;
            let bitlocker = !which.system && bitlocker::is_volume(&store)?;
            Ok(if bitlocker { Family::BitLocker } else { Family::VeraCrypt })
        }
    }
}

/// Tells the warnings of unlocking, and that memory could not be locked.
pub(crate) fn warn(out: Output, warnings: &[String]) {
    for warning in warnings {
        out.warn(warning);
    }
    if !keyway_secret::all_locked() {
        out.warn("keys could not be locked in memory and may be swapped out: raise `ulimit -l`");
    }
}

/// An error of a format's code in words that name the volume.
pub(crate) fn about(path: &Path, error: impl Into<Failure>) -> Failure {
    named(path, error.into())
}

fn named(path: &Path, mut failure: Failure) -> Failure {
    let name = path.display().to_string();
    if !failure.message.contains(&name) {
        failure.message = format!("{name}: {}", failure.message);
    }
    failure
}

/// The protector that a VeraCrypt volume's secret is, for `status` and `protector list`.
pub(crate) fn protector_of(secrets: &Secrets) -> Value {
    let kind = if secrets.password.is_empty() { "keyfiles" } else { "password" };
    json!({"id": "0", "kind": kind, "keyfiles": secrets.keyfiles.len(), "pim": secrets.pim})
}

/// The volume must be there and readable before anyone is asked for a password.
pub(crate) fn must_exist(path: &Path) -> Result<(), Failure> {
    let meta = path.metadata().map_err(|e| Failure::io("open", path, &e))?;
    if meta.is_dir() {
        return Err(Failure::new(
            Exit::Failed,
            format!("{} is a folder", path.display()),
            "name a volume's file or a block device",
        )
        .kind("not-suitable"));
    }
    // A pipe would keep whoever opens it waiting.
    if meta.file_type().is_fifo() || meta.file_type().is_socket() {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a block device");
        return Err(Failure::io("open", path, &error));
    }
    File::open(path).map(drop).map_err(|e| Failure::io("open", path, &e))
}

/// So must be the right to write to it.
pub(crate) fn must_be_writable(path: &Path) -> Result<(), Failure> {
    OpenOptions::new().write(true).open(path).map(drop).map_err(|e| Failure::io("open", path, &e))
}

/// Refuses offsets past the end; cuts the length off there.
pub(crate) fn range(size: u64, offset: u64, length: Option<u64>) -> Result<(u64, u64), Failure> {
    if offset > size {
        return Err(Failure::usage(
            format!("the offset {offset} is past the end of the volume ({size} bytes)"),
            "ask for less; `keyway info` tells the volume's size",
        ));
    }
    let rest = size - offset;
    Ok((offset, length.unwrap_or(rest).min(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_the_volume() {
        assert_eq!(range(10, 0, None), Ok((0, 10)));
        assert_eq!(range(10, 4, Some(3)), Ok((4, 3)));
        assert_eq!(range(10, 4, Some(30)), Ok((4, 6)));
        assert_eq!(range(10, 10, None), Ok((10, 0)));
        assert_eq!(range(10, 11, None).map_err(|e| e.exit), Err(Exit::Usage));
    }
}
