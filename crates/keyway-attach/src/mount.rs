//! Mounting the file system inside a volume, for root.

use crate::{AttachError, User};
use keyway_fs::Superblock;
use keyway_sys::{Mount, mounted_over};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Options of every mount: what lies in a volume gets no rights on this machine.
pub(crate) const OPTIONS: &str = "nosuid,nodev";
/// Names are text for programs that mount NTFS, in whichever language they speak.
pub(crate) const UTF8: &str = "C.UTF-8";
/// Options that the kernel takes as flags (mount(2)); what is none of these is the file system's own.
const FLAGS: [(&str, MountFlags); 29] = [
    ("defaults", MountFlags::empty()),
    ("rw", MountFlags::empty()),
    ("async", MountFlags::empty()),
    ("atime", MountFlags::empty()),
    ("diratime", MountFlags::empty()),
    ("norelatime", MountFlags::empty()),
    ("nostrictatime", MountFlags::empty()),
    ("nolazytime", MountFlags::empty()),
    // Words of /etc/fstab for mount(8) and for systemd.
    ("auto", MountFlags::empty()),
    ("noauto", MountFlags::empty()),
    ("nofail", MountFlags::empty()),
    ("user", MountFlags::empty()),
    ("users", MountFlags::empty()),
    ("nouser", MountFlags::empty()),
    ("owner", MountFlags::empty()),
    ("group", MountFlags::empty()),
    ("_netdev", MountFlags::empty()),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("ro", MountFlags::RDONLY),
    ("exec", MountFlags::empty()),
    ("noexec", MountFlags::NOEXEC),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("lazytime", MountFlags::LAZYTIME),
];

/// Options that no volume is mounted with, and why.
const REFUSED: [(&[&str], &str); 3] = [
    (&["suid", "dev"], "nosuid and nodev always hold"),
    (&["bind", "rbind", "move", "remount"], "it is for what is mounted already"),
    (&["loop", "offset", "sizelimit"], "the volume is attached by this program"),
];

/// Why an option is refused that no driver takes.
pub(crate) const NOT_TAKEN: &str = "its driver does not take it";

/// Options that say nothing, or what holds anyway where this program shows the files.
const HARMLESS: [&str; 8] = ["", "defaults", "ro", "nosuid", "nodev", "noatime", "nodiratime", "relatime"];

/// How the file system inside the volume is mounted.
#[derive(Debug, Clone)]
pub struct MountPlan {
    /// An existing folder.
    pub at: PathBuf,
    /// The file system's type as `mount -t` takes it; found out when `None`.
    pub filesystem: Option<String>,
    /// Further options as `mount -o` takes them (mount(8)), joined by commas.
    pub options: String,
    /// Whoever unmounts it by other means (`umount`) has closed the volume.
    pub ends_it: bool,
}

/// Refuses options that no volume is mounted with, whatever file system is in it.
///
/// # Errors
/// [`AttachError::MountOption`].
pub fn check_options(options: &str) -> Result<(), AttachError> {
    let name = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
    let refused = options.split(',').map(name).find_map(|option| {
        let why = REFUSED.iter().find(|(of, _)| of.contains(&option.as_str()))?.1;
        Some(AttachError::MountOption { option, why })
    });
    refused.map_or(Ok(()), Err)
}

/// The first option that only the kernel's driver of a file system knows, not this program where it shows the files.
pub fn option_of_drivers(options: &str) -> Option<&str> {
    options.split(',').find(|option| !HARMLESS.contains(option))
}

/// Mounts what is on the block device at the folder and returns the file system's type.
pub(crate) fn mount(device: &Path, wanted: &MountPlan, read_only: bool) -> Result<String, AttachError> {
    let at = &wanted.at;
    let found = match &wanted.filesystem {
        Some(name) => Some(name.to_owned()),
        None => {
            let doing = || format!("look for a file system on {}", device.display());
            let file = File::open(device).map_err(|e| AttachError::io(doing(), e))?;
            let found = Superblock::on(&file).map_err(|e| AttachError::io(doing(), e))?;
            found.map(|found| found.kind.mount_type().to_owned())
        }
    };
    let fail = |source: io::Error| AttachError::Mount {
        found: found.clone().unwrap_or_else(|| "no file system we know".into()),
        at: at.to_owned(),
        source,
    };
    let Some(of) = &found else {
        return Err(fail(io::Error::other(
            "it is empty or damaged: be sure that no files were in it before you make one",
        )));
    };
    let (mut flags, own) = split(&wanted.options);
    flags |= MountFlags::NOSUID | MountFlags::NODEV;
    if read_only {
        flags |= MountFlags::RDONLY;
    }
    let own = CString::new(own).map_err(|e| fail(e.into()))?;
    for name in drivers(of) {
        match rustix::mount::mount(device, at, name, flags, (!own.is_empty()).then_some(own.as_c_str())) {
            Ok(()) => return Ok(name.to_owned()),
            Err(Errno::NODEV) => {}
            Err(Errno::INVAL) if !own.is_empty() => {
                let option = own.to_string_lossy().into_owned();
                return Err(AttachError::MountOption { option, why: NOT_TAKEN });
            }
            Err(e) => return Err(refused(device, of, at, e.into())),
        }
    }
    // The kernel has no such file system; mount(8) knows helpers for some (ntfs-3g, exfat-fuse).
    let Some(helper) = helper(of) else {
        return Err(AttachError::NoFileSystem { filesystem: of.clone(), at: at.to_owned() });
    };
    by_program(device, wanted, &helper, read_only).map_err(|e| refused(device, of, at, e))?;
    Ok(of.clone())
}

/// What programs say of a file system that is damaged: they have no number for it.
const DAMAGED: [&str; 6] =
    ["last sector", "Input/output error", "Invalid argument", "orrupt", "nconsisten", "$MFT"];

/// What it means that a driver which is there does not mount what is on a device or in a file: that ends too soon, is damaged, or
/// something else is in the way.
pub(crate) fn refused(on: &Path, filesystem: &str, at: &Path, source: io::Error) -> AttachError {
    let (found, at) = (filesystem.to_owned(), at.to_owned());
    let looked = || {
        let mut file = File::open(on).ok()?;
        // A block device has no length but its end.
        let present = file.seek(SeekFrom::End(0)).ok()?;
        let there = Superblock::on(&file).ok()??;
        (there.kind.mount_type() == filesystem).then_some((there.claims, present))
    };
    // Whoever named another type has named a wrong one.
    let Some((claims, present)) = looked() else { return AttachError::Mount { found, at, source } };
    if let Some(claims) = claims.filter(|claims| *claims > present) {
        return AttachError::EndsTooSoon { found, at, claims, present };
    }
    let number = source.raw_os_error().map(Errno::from_raw_os_error);
    let damaged = match number {
        Some(number) => [Errno::INVAL, Errno::IO, Errno::UCLEAN, Errno::BADMSG].contains(&number),
        None => DAMAGED.iter().any(|words| source.to_string().contains(words)),
    };
    match damaged {
        true => AttachError::Unmountable { found, at, source },
        false => AttachError::Mount { found, at, source },
    }
}

/// The flags among the options, and what is left for the file system.
fn split(options: &str) -> (MountFlags, String) {
    let (mut flags, mut own) = (MountFlags::empty(), Vec::new());
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match FLAGS.iter().find(|(name, _)| *name == option) {
            Some((_, flag)) => flags |= *flag,
            None if ["x-", "X-", "comment="].iter().any(|notes| option.starts_with(notes)) => {}
            None => own.push(option),
        }
    }
    (flags, own.join(","))
}

fn by_program(device: &Path, wanted: &MountPlan, name: &str, read_only: bool) -> io::Result<()> {
    let mode = if read_only { "ro" } else { "rw" };
    let (at, further) = (&wanted.at, &wanted.options);
    let options = [further, OPTIONS, mode].iter().filter(|o| !o.is_empty()).copied().collect::<Vec<_>>();
    let done = Command::new("mount")
        .args(["-t", name, "-o", &options.join(","), "--"])
        .args([device, at.as_path()])
        .env("LC_ALL", UTF8)
        .stdin(Stdio::null())
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(io::Error::other(said.lines().next().unwrap_or_default().trim()))
}

/// What is said of root where that may not do what root does.
pub(crate) const NO_RIGHTS: &str = "this root lacks CAP_SYS_ADMIN, as in a container";

/// Whether this machine mounts file systems of that type: its kernel has it, or a module, or mount(8) a helper.
pub fn can_mount(filesystem: &str) -> bool {
    let found = known_drivers();
    drivers(filesystem).iter().any(|name| found.iter().any(|driver| driver == name))
        || helper(filesystem).is_some()
}

/// The file systems that the kernel has, or modules for. They are looked up once: a process that serves a volume can't see them
/// any more when it is in its sandbox, and has to have looked before.
pub fn known_drivers() -> &'static [String] {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let kernel = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
        let release = rustix::system::uname();
        let modules = Path::new("/lib/modules").join(release.release().to_string_lossy().as_ref());
        let modules = std::fs::read_to_string(modules.join("modules.alias")).unwrap_or_default();
        let kernel = kernel.lines().filter_map(|line| line.split_whitespace().last());
        let modules = modules.lines().filter_map(|line| line.split_whitespace().nth(1)?.strip_prefix("fs-"));
        kernel.chain(modules).map(str::to_owned).collect()
    })
}

/// NTFS has two drivers in the kernel's history; the newer one first.
fn drivers(filesystem: &str) -> Vec<&str> {
    if filesystem == "ntfs" { vec!["ntfs3", "ntfs"] } else { vec![filesystem] }
}

/// By which name mount(8) finds a program for it: Debian's for exFAT is mount.exfat-fuse alone.
fn helper(filesystem: &str) -> Option<String> {
    let is_there = |name: &String| {
        ["/sbin", "/usr/sbin"].iter().any(|folder| Path::new(folder).join(format!("mount.{name}")).exists())
    };
    [filesystem.to_owned(), format!("{filesystem}-fuse")].into_iter().find(is_there)
}

/// Unmounts what is mounted at `at`, writing everything out. Fails with [`AttachError::Busy`], and
/// changes nothing, while somebody uses it.
pub fn unmount(at: &Path) -> Result<(), AttachError> {
    match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
        // EINVAL: nothing is mounted there any more.
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(Errno::BUSY) => Err(AttachError::busy(at, User::of_mount(at))),
        Err(e) => Err(AttachError::io(format!("unmount {}", at.display()), e)),
    }
}

/// [`unmount`] of a device's file system; whatever else is mounted there stays.
///
/// # Errors
/// As [`unmount`], and [`AttachError::Busy`] where another mount is over it or inside it, or it is mounted elsewhere too.
pub(crate) fn unmount_device(at: &Path, device: &Path) -> Result<(), AttachError> {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    match in_the_way(&mounts, at, device) {
        Some(other) => Err(AttachError::busy(&other, User::of_mount(&other))),
        None if mounts.iter().any(|mount| mount.at == at && mount.source == device) => unmount(at),
        None => Ok(()),
    }
}

/// The mount that keeps a device's file system from being unmounted from `at` for good.
fn in_the_way(mounts: &[Mount], at: &Path, device: &Path) -> Option<PathBuf> {
    let elsewhere = || mounts.iter().find(|mount| mount.source == device && mount.at != at);
    mounted_over(mounts, at, device).or_else(|| elsewhere().map(|mount| mount.at.clone()))
}

/// Says what must be unmounted before a device, if anything.
///
/// # Errors
/// [`AttachError::MountedThere`].
pub(crate) fn refuse_further_mounts(at: &Path, device: &Path) -> Result<(), AttachError> {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    in_the_way(&mounts, at, device)
        .map_or(Ok(()), |other| Err(AttachError::MountedThere { at: at.to_owned(), other }))
}

/// Takes every mount of the device away, in use or not: its medium is gone.
pub(crate) fn abandon(device: &Path) {
    let mounts = keyway_sys::mounts().unwrap_or_default();
    // Under somebody else's it stays: what would go is theirs.
    let covered = |at: &Path| mounted_over(&mounts, at, device).is_some_and(|over| over == at);
    for mount in mounts.iter().rev() {
        if mount.source == device && !covered(&mount.at) {
            // What can't be unmounted lazily can't be helped; the device's detaching reports it.
            let _ = rustix::mount::unmount(&mount.at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ends too soon is no lack of this machine's, nor is what is damaged; and what is neither is not called that.
    #[test]
    fn why_a_driver_refuses_is_told_apart() {
        let of = |bytes: u64, kind: &str, source: io::Error| {
            let mut boot = vec![0; 64 << 10];
            boot.iter_mut().skip(3).zip(b"EXFAT   ").for_each(|(to, from)| *to = *from);
            boot.iter_mut().skip(72).zip(128u64.to_le_bytes()).for_each(|(to, from)| *to = from);
            boot.iter_mut().skip(108).zip([9, 3]).for_each(|(to, from)| *to = from);
            boot.truncate(bytes as usize);
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), boot).expect("written");
            refused(file.path(), kind, Path::new("/mnt"), source)
        };
        let invalid = || io::Error::from(Errno::INVAL);
        let short = of(32 << 10, "exfat", invalid());
        assert!(
            matches!(short, AttachError::EndsTooSoon { claims: 65_536, present: 32_768, .. }),
            "{short:?}"
        );
        for said in
            [invalid(), io::Error::from(Errno::IO), io::Error::other("Failed to read last sector (9)")]
        {
            let whole = of(64 << 10, "exfat", said);
            assert!(matches!(whole, AttachError::Unmountable { .. }), "{whole:?}");
        }
        let other = [
            of(64 << 10, "exfat", io::Error::from(Errno::BUSY)),
            of(64 << 10, "exfat", io::Error::other("fuse: device not found")),
            of(32 << 10, "ext4", invalid()),
        ];
        assert!(other.iter().all(|error| matches!(error, AttachError::Mount { .. })), "{other:?}");
    }

    #[test]
    fn what_is_no_flag_goes_to_the_file_system() {
        let (flags, own) = split("noatime,uid=1000,noexec,,umask=077");
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::NOEXEC);
        assert_eq!(own, "uid=1000,umask=077");
        for options in ["defaults,rw", "noauto,nofail,x-systemd.automount,comment=mine", "atime,async"] {
            assert_eq!(split(options), (MountFlags::empty(), String::new()));
        }
    }

    #[test]
    fn what_no_volume_is_mounted_with_is_refused() {
        for wrong in ["suid", "noatime,dev", "remount,ro", "offset=512", "bind"] {
            let refused = check_options(wrong);
            assert!(matches!(refused, Err(AttachError::MountOption { .. })), "{wrong}: {refused:?}");
        }
        for right in ["", "noatime,uid=1000", "nosuid,nodev", "defaults"] {
            assert!(check_options(right).is_ok(), "{right}");
        }
    }
}
