//! Other programs that read BitLocker volumes: dislocker, libbde and dissect.fve.
//!
//! What each can't do was tried on the volumes that Windows made: libbde 20190102 knows no AES-XTS
//! with 256 bits, no clear key, no encrypt-on-write, and inside
//! only NTFS, or in To Go volumes FAT; dislocker 0.7 knows
//! only ASCII passwords and crashes on encrypt-on-write; dissect.fve does everything, but a mebibyte of AES-XTS takes it a second or two, so that it is
//! asked for some stretches of a volume where the others give all of it.

use crate::{
    PATIENCE, leave_out, require_fuse, require_root, require_tool, sha256_of_file, skip, wait_until,
};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What opens a volume.
#[derive(Debug, Clone, Copy)]
pub enum BitLockerSecret<'a> {
    /// A password.
    Password(&'a str),
    /// A recovery password of 48 digits.
    Recovery(&'a str),
    /// A .BEK file.
    StartupKey(&'a Path),
    /// The key in the open of a suspended volume.
    ClearKey,
}

/// The SHA-256 of the whole decrypted volume by dislocker; `None` after a visible skip.
///
/// # Panics
/// When dislocker does not open it.
pub fn dislocker_sha256(image: &Path, secret: BitLockerSecret<'_>) -> Option<String> {
    let program = require_tool("dislocker-file")?;
    let folder = TempDir::new().expect("a temporary folder");
    let plain = folder.path().join("plain");
    let mut command = Command::new(program);
    command.args(["-q", "-s", "-V"]).arg(image).arg(dislocker_option(secret)).arg("--").arg(&plain);
    checked(&mut command);
    Some(sha256_of_file(&plain))
}

/// The SHA-256 of the whole decrypted volume by libbde; `None` after a visible skip.
///
/// # Panics
/// When libbde does not open it, or with a clear key, which it does not know.
pub fn libbde_sha256(image: &Path, secret: BitLockerSecret<'_>) -> Option<String> {
    let program = require_tool("bdemount")?;
    require_tool("fusermount3")?;
    if !require_fuse() {
        return None;
    }
    let folder = TempDir::new().expect("a temporary folder");
    let mut command = Command::new(program);
    match secret {
        BitLockerSecret::Password(text) => command.args(["-p", text]),
        BitLockerSecret::Recovery(text) => command.args(["-r", text]),
        BitLockerSecret::StartupKey(path) => command.arg("-s").arg(path),
        BitLockerSecret::ClearKey => panic!("libbde knows no clear key"),
    };
    // It goes to the background once it has mounted.
    checked(command.arg(image).arg(folder.path()).stdin(Stdio::null()));
    let mounted = Mounted { folder: folder.path().to_owned(), server: None };
    let sha256 = sha256_of_file(&folder.path().join("bde1"));
    drop(mounted);
    Some(sha256)
}

/// The SHA-256 of these stretches of the decrypted volume, one after the other, by dissect.fve;
/// `None` after a visible skip.
///
/// # Panics
/// When it does not open it.
pub fn dissect_sha256(image: &Path, secret: BitLockerSecret<'_>, stretches: &[Range<u64>]) -> Option<String> {
    const SCRIPT: &str = "
import hashlib, sys
from dissect.fve.bde import BDE
image, kind, secret, *stretches = sys.argv[1:]
bde = BDE(open(image, 'rb'))
if kind == 'password': bde.unlock_with_passphrase(secret)
elif kind == 'recovery': bde.unlock_with_recovery_password(secret)
elif kind == 'key': bde.unlock_with_bek(open(secret, 'rb'))
else: bde.unlock_with_clear_key()
plain, sha256 = bde.open(), hashlib.sha256()
for stretch in stretches:
    at, end = map(int, stretch.split('-'))
    plain.seek(at)
    while at < end:
        piece = plain.read(min(end - at, 1 << 20))
        if not piece: sys.exit('the volume ends at %d' % at)
        sha256.update(piece)
        at += len(piece)
print(sha256.hexdigest())
";
    let python = python_with_dissect()?;
    let (kind, secret): (_, OsString) = match secret {
        BitLockerSecret::Password(text) => ("password", text.into()),
        BitLockerSecret::Recovery(text) => ("recovery", text.into()),
        BitLockerSecret::StartupKey(path) => ("key", path.into()),
        BitLockerSecret::ClearKey => ("clear", OsString::new()),
    };
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]).arg(image).arg(kind).arg(secret);
    command.args(stretches.iter().map(|stretch| format!("{}-{}", stretch.start, stretch.end)));
    Some(String::from_utf8_lossy(&checked(&mut command).stdout).trim().to_owned())
}

/// A Python that has dissect.fve: `KEYWAY_PYTHON`, which `scripts/test` sets, or the system's.
fn python_with_dissect() -> Option<PathBuf> {
    let named = std::env::var_os("KEYWAY_PYTHON").map(PathBuf::from);
    let candidates = named.into_iter().chain(["python3".into()]);
    let has = |python: &PathBuf| {
        let done = Command::new(python).args(["-c", "import dissect.fve.bde"]).output();
        done.is_ok_and(|done| done.status.success())
    };
    let found = candidates.into_iter().find(has);
    if found.is_none() {
        let reason = "no Python here has dissect.fve (scripts/test installs it with pip where it can)";
        // A machine that reaches no package index can't be helped by failing.
        if std::env::var_os("KEYWAY_NO_PIP").is_some() {
            leave_out(reason);
        } else {
            skip(reason);
        }
    }
    found
}

/// A volume mounted by dislocker for reading and writing; unmounted when dropped.
pub struct DislockerMount {
    mounted: Mounted,
    _folder: TempDir,
}

impl DislockerMount {
    /// Mounts it; `None` after a visible skip.
    ///
    /// # Panics
    /// When dislocker does not open it.
    pub fn open(image: &Path, secret: BitLockerSecret<'_>) -> Option<Self> {
        let program = require_tool("dislocker-fuse").or_else(|| require_tool("dislocker"))?;
        require_tool("fusermount3")?;
        if !require_fuse() {
            return None;
        }
        let folder = TempDir::new().expect("a temporary folder");
        let mut command = Command::new(program);
        command.args(["-q", "-s", "-V"]).arg(image).arg(dislocker_option(secret)).arg("--").arg("-f");
        let server = command
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("dislocker starts");
        let mounted = Mounted { folder: folder.path().to_owned(), server: Some(server) };
        let mount = Self { mounted, _folder: folder };
        wait_until("dislocker shows its file", || mount.file().exists());
        Some(mount)
    }

    /// The decrypted volume as a file.
    pub fn file(&self) -> PathBuf {
        self.mounted.folder.join("dislocker-file")
    }
}

/// An NTFS file system that ntfs-3g has mounted; unmounted when dropped.
pub struct NtfsMount {
    mounted: Mounted,
    _folder: TempDir,
}

impl NtfsMount {
    /// Mounts the file or device; `None` after a visible skip.
    ///
    /// # Panics
    /// When ntfs-3g refuses it.
    pub fn open(volume: &Path) -> Option<Self> {
        let program = require_tool("ntfs-3g")?;
        require_tool("fusermount3")?;
        // It runs as root, whom a user's FUSE file system keeps out.
        if !require_fuse() || (lies_on_fuse(volume) && !require_root()) {
            return None;
        }
        let folder = TempDir::new().expect("a temporary folder");
        checked(Command::new(program).arg(volume).arg(folder.path()).stdin(Stdio::null()));
        let mounted = Mounted { folder: folder.path().to_owned(), server: None };
        Some(Self { mounted, _folder: folder })
    }

    /// A path inside.
    pub fn path(&self, name: &str) -> PathBuf {
        self.mounted.folder.join(name)
    }
}

/// A FUSE mount of another program.
struct Mounted {
    folder: PathBuf,
    /// The program, where it stays in the foreground.
    server: Option<Child>,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmount = |how| Command::new("fusermount3").arg(how).arg(&self.folder).status();
        let started = Instant::now();
        // What has just been written may keep it busy for a moment.
        while !unmount("-u").is_ok_and(|status| status.success()) {
            if started.elapsed() > PATIENCE {
                let _ = unmount("-uz");
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        if let Some(server) = &mut self.server {
            let _ = server.wait();
        }
        // A server in the background may still be writing out what it has.
        let started = Instant::now();
        while is_mounted(&self.folder) && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn lies_on_fuse(path: &Path) -> bool {
    // FUSE_SUPER_MAGIC (linux/magic.h).
    rustix::fs::statfs(path).is_ok_and(|found| found.f_type == 0x6573_5546)
}

fn is_mounted(folder: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(1) == folder.to_str())
}

fn dislocker_option(secret: BitLockerSecret<'_>) -> OsString {
    match secret {
        BitLockerSecret::Password(text) => format!("-u{text}").into(),
        BitLockerSecret::Recovery(text) => format!("-p{text}").into(),
        BitLockerSecret::StartupKey(path) => {
            let mut option = OsString::from("-f");
            option.push(path);
            option
        }
        BitLockerSecret::ClearKey => "-c".into(),
    }
}

fn checked(command: &mut Command) -> Output {
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    if !done.status.success() {
        let mut said = String::from_utf8_lossy(&done.stdout).into_owned();
        let _ = write!(said, "{}", String::from_utf8_lossy(&done.stderr));
        panic!("{command:?} ended with {}:\n{said}", done.status);
    }
    done
}
