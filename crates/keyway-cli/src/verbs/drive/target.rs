//! The drive that a verb is about: opened, and its errors told in words.

use super::secret::Who;
use crate::failure::{Exit, Failure};
use crate::volume;
use crate::words;
use keyway_engine::Access;
use keyway_error::Explain;
use keyway_error::Kind;
use keyway_secret::SecretBytes;
use keyway_sed::Status;
use keyway_sed::discovery::{Discovery, Feature};
use keyway_sed::explain::{Explanation, Situation, explain};
use keyway_sed::host::{Credential, Did, Host, HostError, Refused, Session};
use keyway_sed::password::{PasswordHash, SERIAL_BYTES};
use keyway_sed::transport::{TransportError, open_device};
use keyway_store::{Caching, OpenMode, Operation, StoreError, refuse_if_claimed};
use keyway_sys::disks_under;
use keyway_virtual_drive::VirtualTransport;
use keyway_virtual_drive::{Drive, DriveError};
use serde_json::json;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A drive, open for commands.
pub(super) struct Target {
    /// Its device or file.
    pub(super) path: PathBuf,
    /// The way to it.
    pub(super) host: Host,
    /// Bytes of a virtual drive, whose file is larger than what it holds.
    pub(super) virtual_bytes: Option<u64>,
    /// How the passwords given to it are hashed.
    pub(super) hash: PasswordHash,
    /// Whether what it is told is the factory's secret.
    pub(super) factory_pin: bool,
}

impl Target {
    /// Opens the device, or the virtual drive's file.
    pub(super) fn open(path: &Path, hash: PasswordHash) -> Result<Self, Failure> {
        let (host, virtual_bytes) = open(path)?;
        Ok(Self { path: path.to_owned(), host, virtual_bytes, hash, factory_pin: false })
    }

    /// The serial number's field, which hashes are salted with.
    pub(super) fn serial(&self) -> [u8; SERIAL_BYTES] {
        self.host.identity().serial_field
    }

    /// Does something with the drive; its errors in words.
    pub(super) fn with<T>(
        &mut self,
        what: impl FnOnce(&mut Host) -> Result<T, HostError>,
    ) -> Result<T, Failure> {
        what(&mut self.host).map_err(|e| self.failure(&e))
    }

    /// Does something in a session with the Locking SP.
    pub(super) fn locking<T>(
        &mut self,
        who: Who,
        pin: &[u8],
        what: impl FnOnce(&mut Session<'_>) -> Result<T, HostError>,
    ) -> Result<T, Failure> {
        self.must_be_set_up()?;
        self.with(|host| in_session(host, who, pin, what))
    }

    /// As [`Target::locking`], as the one who was named, or else as the first user and then the first
    /// administrator: which of them a password belongs to, only the drive knows.
    pub(super) fn locking_as_any<T>(
        &mut self,
        who: Option<Who>,
        pin: &SecretBytes,
        mut what: impl FnMut(&mut Session<'_>) -> Result<T, HostError>,
    ) -> Result<(Who, T), Failure> {
        if let Some(who) = who {
            return self.locking(who, pin, what).map(|done| (who, done));
        }
        self.must_be_set_up()?;
        let (user, admin) = (Who::User(1), Who::Admin(1));
        match in_session(&mut self.host, user, pin, &mut what) {
            Ok(done) => Ok((user, done)),
            // A drive says so to a wrong password and to a user that is not enabled.
            Err(HostError::Refused(Refused { did: Did::Authenticate, status, .. }))
                if status != Status::AuthorityLockedOut =>
            {
                match in_session(&mut self.host, admin, pin, &mut what) {
                    Ok(done) => Ok((admin, done)),
                    Err(e) => {
                        let failure = self.failure(&e);
                        let message = failure.message.replace("administrator 1", "user 1 or administrator 1");
                        Err(Failure { message, ..failure })
                    }
                }
            }
            Err(e) => Err(self.failure(&e)),
        }
    }

    /// Refuses a drive in its factory state, which has no one to authenticate as.
    pub(super) fn must_be_set_up(&self) -> Result<(), Failure> {
        must_be_opal(&self.path, self.host.discovery())?;
        if self.host.discovery().locking().is_some_and(|l| l.enabled) {
            Ok(())
        } else {
            Err(self.not_set_up())
        }
    }

    /// Refuses a drive that nobody has taken.
    pub(super) fn must_be_owned(&mut self) -> Result<(), Failure> {
        must_be_opal(&self.path, self.host.discovery())?;
        let enabled = self.host.discovery().locking().is_some_and(|l| l.enabled);
        let unowned = !enabled && self.with(Host::is_unowned)?;
        if unowned { Err(self.not_set_up()) } else { Ok(()) }
    }

    fn not_set_up(&self) -> Failure {
        Failure::new(
            Exit::Failed,
            format!("{}: locking is not in use on this drive", self.path.display()),
            "set it up first: keyway drive setup DEVICE",
        )
        .kind(Kind::NotSetUp)
    }

    /// Refuses to cut off what is in use: on the whole drive, whichever of its devices was named.
    pub(super) fn must_be_unused(&self) -> Result<(), Failure> {
        for disk in self.disks()? {
            let uses = keyway_sys::uses(&disk).map_err(|e| Failure::io("look at", &disk, &e))?;
            if let Some(by) = uses.first() {
                return Err(Failure::new(
                    Exit::Busy,
                    format!("{} is in use: {by}", disk.display()),
                    "unmount or close that first",
                )
                .kind(Kind::InUse));
            }
            // An open volume in one of its partitions, too.
            refuse_if_claimed(&disk, OpenMode::ReadWrite)
                .map_err(|e| StoreError::new(Operation::Open, &*disk, 0, 0, e))?;
        }
        Ok(())
    }

    /// Refuses a file that would lie on the drive itself, where nobody can read it who needs it.
    pub(super) fn must_not_hold(&self, file: &Path) -> Result<(), Failure> {
        let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let below = disks_under(folder).map_err(|e| Failure::io("look at", folder, &e))?;
        if self.disks()?.iter().any(|disk| below.contains(disk)) {
            return Err(Failure::usage(
                format!("{} would lie on the drive that it is for", file.display()),
                "keep it elsewhere: on a stick, or on paper",
            ));
        }
        Ok(())
    }

    /// The drive's disks; none of a virtual drive's file.
    fn disks(&self) -> Result<Vec<PathBuf>, Failure> {
        let look = |e| Failure::io("look at", &self.path, &e);
        if self.path.metadata().map_err(look)?.is_file() {
            return Ok(Vec::new());
        }
        let disks = disks_under(&self.path).map_err(look)?;
        // Where the kernel does not say what it is a part of, it is the disk.
        Ok(if disks.is_empty() && self.is_device() { vec![self.path.clone()] } else { disks })
    }

    /// Whether it is a device, not a virtual drive's file.
    pub(super) fn is_device(&self) -> bool {
        self.path.metadata().is_ok_and(|meta| meta.file_type().is_block_device())
    }

    /// An error in words.
    pub(super) fn failure(&self, error: &HostError) -> Failure {
        let situation =
            Situation { discovery: self.host.discovery(), hash: self.hash, factory_pin: self.factory_pin };
        failure(&self.path, &explain(error, &situation))
    }
}

/// Does something in a session with the Locking SP, and ends it.
fn in_session<T>(
    host: &mut Host,
    who: Who,
    pin: &[u8],
    what: impl FnOnce(&mut Session<'_>) -> Result<T, HostError>,
) -> Result<T, HostError> {
    let mut session = host.locking(Some(Credential { authority: who.uid(), pin }))?;
    let done = what(&mut session)?;
    session.end()?;
    Ok(done)
}

fn open(path: &Path) -> Result<(Host, Option<u64>), Failure> {
    volume::must_exist(path)?;
    let meta = path.metadata().map_err(|e| Failure::io("open", path, &e))?;
    let kind = meta.file_type();
    if kind.is_block_device() || kind.is_char_device() {
        let file = File::open(path).map_err(|e| Failure::io("open", path, &e))?;
        let transport = open_device(file).map_err(|e| unreached(path, e.into()))?;
        let host = Host::open(transport).map_err(|e| unreached(path, e))?;
        return Ok((host, None));
    }
    let store = volume::store(path, Access::ReadWrite, Caching::Buffered)?;
    let drive = Drive::open(Arc::new(store)).map_err(|e| not_opened(path, e))?;
    let bytes = drive.config().data_bytes();
    let transport = VirtualTransport::new(Arc::new(drive));
    let host = Host::open(Box::new(transport)).map_err(|e| unreached(path, e))?;
    Ok((host, Some(bytes)))
}

/// A virtual drive that can't be powered up.
fn not_opened(path: &Path, error: DriveError) -> Failure {
    let failure = match error {
        DriveError::Store(e) => return volume::about(path, Failure::from(e)),
        DriveError::NotADrive => return unreached(path, TransportError::NotADrive.into()),
        DriveError::NoRandom => error.into(),
        _ => {
            let advice = words::sentences(&error.advice());
            Failure::new(Exit::NotAVolume, error.to_string(), advice).kind(Kind::Damaged)
        }
    };
    volume::about(path, failure)
}

/// An error before the drive said anything of itself.
fn unreached(path: &Path, error: HostError) -> Failure {
    let discovery = Discovery { revision: (0, 0), vendor: [0; 32], features: Vec::new() };
    let situation = Situation { discovery: &discovery, hash: PasswordHash::default(), factory_pin: false };
    let failure = failure(path, &explain(&error, &situation));
    match error {
        HostError::Transport(TransportError::NotADrive) => {
            Failure { exit: Exit::NotAVolume, ..failure }.kind(Kind::NotADrive)
        }
        _ => failure,
    }
}

fn failure(path: &Path, told: &Explanation) -> Failure {
    let exit = match told.kind {
        Kind::WrongSecret => Exit::WrongSecret,
        Kind::LockedOut | Kind::SidBlocked | Kind::NotAllowed | Kind::NotPermitted | Kind::Unsupported => {
            Exit::NotPermitted
        }
        Kind::Busy => Exit::Busy,
        _ => Exit::Failed,
    };
    let hint = match told.causes.as_slice() {
        [] => told.next.clone(),
        causes => format!("Likely causes: {}. Next: {}", causes.join("; "), told.next),
    };
    Failure::new(exit, format!("{}: {}", path.display(), told.what), hint)
        .kind(told.kind)
        .with(json!({"causes": told.causes, "next": told.next}))
}

/// The standards that a drive keeps to, the one we speak first.
pub(super) fn standards(discovery: &Discovery) -> Vec<&'static str> {
    let is_ssc = |feature: &&Feature| {
        matches!(
            feature,
            Feature::OpalV2(_)
                | Feature::Ruby(_)
                | Feature::OpalV1(_)
                | Feature::Opalite(_)
                | Feature::PyriteV2(_)
                | Feature::PyriteV1(_)
                | Feature::Enterprise(_)
        )
    };
    discovery.features.iter().filter(is_ssc).map(Feature::name).collect()
}

/// Refuses a drive of a standard that we can only read of.
pub(super) fn must_be_opal(path: &Path, discovery: &Discovery) -> Result<(), Failure> {
    let standards = standards(discovery);
    let name = path.display();
    let (what, hint) = match standards.as_slice() {
        [] => (
            format!("{name} keeps to no standard of self-encryption that Keyway knows"),
            "encrypt it with `keyway create` instead",
        ),
        ["Enterprise"] => (
            format!("{name} keeps to the Enterprise standard, which Keyway reads but does not manage"),
            "use sedutil-cli, or encrypt it with `keyway create`",
        ),
        _ => return Ok(()),
    };
    Err(Failure::new(Exit::NotPermitted, what, hint).kind(Kind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_sed::discovery::{BasicSsc, Ssc};

    #[test]
    fn a_drive_that_is_only_read_is_refused_in_words() {
        let drive = |features| Discovery { revision: (0, 1), vendor: [0; 32], features };
        let enterprise =
            drive(vec![Feature::Enterprise(BasicSsc { base_com_id: 0x07fe, ..BasicSsc::default() })]);
        assert_eq!(standards(&enterprise), ["Enterprise"]);
        let refused = must_be_opal(Path::new("/dev/sdx"), &enterprise).expect_err("not managed");
        assert_eq!((refused.exit, refused.kind), (Exit::NotPermitted, Kind::Unsupported));
        assert!(refused.message.contains("Enterprise") && refused.hint.contains("sedutil"), "{refused:?}");
        let none = must_be_opal(Path::new("/dev/sdx"), &drive(Vec::new())).expect_err("no standard");
        assert!(none.message.contains("no standard"), "{none:?}");
        let opal = drive(vec![Feature::OpalV2(Ssc::default())]);
        assert!(must_be_opal(Path::new("/dev/sdx"), &opal).is_ok());
    }
}
