//! A FUSE connection: `/dev/fuse` bound to a mount point, by ourselves or by `fusermount3`.

use crate::AttachError;
use keyway_error::Advice;
use rustix::io::{Errno, IoSliceMut};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use std::ffi::CString;
use std::fs::DirBuilder;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

const DEVICE: &str = "/dev/fuse";
const HELPER: &str = "fusermount3";
/// What `mount` and `df` show.
pub(super) const SOURCE: &str = "keyway";
const SUBTYPE: &str = "keyway";

/// What is shown, and so what may be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// The decrypted volume as a file, for its owner to read and write.
    File,
    /// The files in it, for reading: what lies there gets no rights on this machine.
    Files,
}

/// Mounts a FUSE file system at the folder `at` and returns its connection.
pub(crate) fn connect(at: &Path, what: Show) -> Result<OwnedFd, AttachError> {
    if rustix::process::geteuid().is_root() { connect_as_root(at, what) } else { connect_as_user(at, what) }
}

/// Mounts one for a moment, in a folder of this user's: that the device opens does not say that it can be done.
///
/// # Errors
/// It can't.
pub fn try_out(runtime: &Path) -> Result<(), AttachError> {
    let at = runtime.join(format!("fuse-{}", std::process::id()));
    match DirBuilder::new().mode(0o700).create(&at) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(AttachError::on("make", &at, e)),
        _ => {}
    }
    let tried = connect(&at, Show::File).and_then(|connection| {
        drop(connection);
        disconnect(&at, true)
    });
    // Where it could not be unmounted, that is told.
    let _ = std::fs::remove_dir(&at);
    tried
}

fn connect_as_root(at: &Path, what: Show) -> Result<OwnedFd, AttachError> {
    let fuse = std::fs::OpenOptions::new().read(true).write(true).open(DEVICE).map_err(no_device)?;
    // S_IFDIR of stat.h in octal, as the kernel's option parser wants it. The kernel checks modes
    // itself (default_permissions); nobody but the owner gets in (no allow_other).
    let options = format!(
        "fd={},rootmode=40000,user_id={},group_id={},default_permissions",
        fuse.as_raw_fd(),
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw()
    );
    let options = CString::new(options).map_err(|e| AttachError::io("mount FUSE", io::Error::from(e)))?;
    let flags = MountFlags::NOSUID
        | MountFlags::NODEV
        | match what {
            Show::File => MountFlags::NOEXEC,
            Show::Files => MountFlags::RDONLY,
        };
    rustix::mount::mount(SOURCE, at, format!("fuse.{SUBTYPE}"), flags, options.as_c_str()).map_err(|e| {
        match e {
            Errno::NODEV => {
                AttachError::Missing { what: "the kernel's FUSE".into(), advice: Advice::LoadFuse }
            }
            e => AttachError::NoFuse { doing: format!("mount FUSE at {}", at.display()), source: e.into() },
        }
    })?;
    Ok(fuse.into())
}

/// Asks the set-user-id helper of the fuse3 package; it sends the connection back over a socket.
fn connect_as_user(at: &Path, what: Show) -> Result<OwnedFd, AttachError> {
    // The helper opens it with the user's rights, too.
    drop(std::fs::OpenOptions::new().read(true).write(true).open(DEVICE).map_err(no_device)?);
    let doing = || format!("mount FUSE at {} through {HELPER}", at.display());
    let fail = |e: io::Error| AttachError::io(doing(), e);
    let (ours, theirs) = UnixStream::pair().map_err(fail)?;
    // The helper looks up the socket's number in the environment; standard input is one that a
    // child gets without further ado.
    let access = match what {
        Show::File => "rw,noexec",
        Show::Files => "ro",
    };
    let helper = Command::new(HELPER)
        .arg("-o")
        .arg(format!("{access},nosuid,nodev,default_permissions,fsname={SOURCE},subtype={SUBTYPE}"))
        .arg("--")
        .arg(at)
        .env("_FUSE_COMMFD", "0")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(no_helper)?;
    let received = receive_descriptor(&ours);
    let done = helper.wait_with_output().map_err(fail)?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(AttachError::NoFuse { doing: doing(), source: io::Error::other(said.trim().to_owned()) });
    }
    received
        .map_err(fail)?
        .ok_or_else(|| fail(io::Error::new(io::ErrorKind::UnexpectedEof, "it sent no descriptor")))
}

fn receive_descriptor(socket: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0u8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let iov = &mut [IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(socket, iov, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok(descriptors.next())
}

/// Takes the mount at `at` away; `lazily` also when it is busy or its server is dead. Under somebody else's mount it stays
/// then: what would go is theirs.
pub(crate) fn disconnect(at: &Path, lazily: bool) -> Result<(), AttachError> {
    let mounts = || keyway_sys::mounts().unwrap_or_default();
    if lazily && keyway_sys::mounted_over(&mounts(), at, Path::new(SOURCE)).is_some_and(|over| over == at) {
        return Ok(());
    }
    let fail = |e: io::Error| AttachError::io(format!("unmount {}", at.display()), e);
    if rustix::process::geteuid().is_root() {
        let flags = if lazily { UnmountFlags::DETACH } else { UnmountFlags::empty() };
        return match rustix::mount::unmount(at, flags) {
            Ok(()) => Ok(()),
            // EINVAL: nothing is mounted there (any more).
            Err(Errno::INVAL | Errno::NOENT) => Ok(()),
            Err(e) => Err(fail(e.into())),
        };
    }
    let mut helper = Command::new(HELPER);
    helper.arg("-u");
    if lazily {
        helper.arg("-z");
    }
    let done = helper.arg("--").arg(at).stdin(Stdio::null()).output().map_err(no_helper)?;
    if done.status.success() || !is_mounted(at) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    // The helper's only sign of EBUSY is the system's text for it.
    let busy = said.contains("busy");
    let kind = if busy { io::ErrorKind::ResourceBusy } else { io::ErrorKind::Other };
    Err(fail(io::Error::new(kind, said.trim().to_owned())))
}

/// Has the kernel give up the connection of a server that was killed: whoever waits for it gets an error. That may be a
/// thread of that server, which could not end before.
pub(crate) fn abort(at: &Path) {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    let Some(mount) = mounts.iter().rfind(|mount| mount.at == at) else { return };
    if mount.source != Path::new(SOURCE) {
        return;
    }
    // Users may as well, where the kernel's control file system is mounted (fuse.rst, "Aborting a filesystem connection").
    let told = std::fs::write(format!("/sys/fs/fuse/connections/{}/abort", mount.device.1), "1");
    if told.is_err() {
        // It gives up before it finds that the mount is in use; one that is not goes, and was to go anyway.
        let _ = rustix::mount::unmount(at, UnmountFlags::FORCE | UnmountFlags::NOFOLLOW);
    }
}

/// Whether something is mounted at `at`, dead or alive.
pub(crate) fn is_mounted(at: &Path) -> bool {
    keyway_sys::mounts().is_ok_and(|mounts| mounts.iter().any(|mount| mount.at == at))
}

/// Whether a FUSE file system of ours is mounted at `at` that nobody serves any more.
pub(crate) fn is_dead(at: &Path) -> bool {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    // Nothing else answers so (fuse(4)).
    let unserved =
        || at.symlink_metadata().is_err_and(|e| e.raw_os_error() == Some(Errno::NOTCONN.raw_os_error()));
    mounts.iter().any(|mount| mount.at == at && mount.source == Path::new(SOURCE)) && unserved()
}

fn no_device(e: io::Error) -> AttachError {
    match e.kind() {
        io::ErrorKind::NotFound => AttachError::Missing { what: DEVICE.into(), advice: Advice::LoadFuse },
        io::ErrorKind::PermissionDenied => {
            let advice = Advice::LetUsersOpen { device: DEVICE.to_owned() };
            AttachError::NotPermitted { what: format!("open {DEVICE}"), advice, source: e }
        }
        _ => AttachError::io(format!("open {DEVICE}"), e),
    }
}

fn no_helper(e: io::Error) -> AttachError {
    match e.kind() {
        io::ErrorKind::NotFound => AttachError::Missing { what: HELPER.into(), advice: Advice::InstallFuse },
        _ => AttachError::io(format!("run {HELPER}"), e),
    }
}
