//! What this machine and this user can do, and which way a volume would be attached here.

mod in_words;

use crate::sandbox::Sandbox;
use keyway_attach::mount::can_mount;
use keyway_attach::session::{Lack, Need, Wish, choose, find_program};
use keyway_cipher::Kernel;
use keyway_error::{Advice, Explain};
use keyway_fs::mkfs::FileSystem;
use keyway_store::size;
use keyway_sys::machine;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

/// What Argon2id without a PIM takes: 416 MiB (VeraCrypt's documentation, "PIM").
const ARGON2ID_BYTES: u64 = 416 << 20;

/// What this machine and this user can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// The user is root.
    pub root: bool,
    /// It is root that lacks CAP_SYS_ADMIN, as in a container.
    pub confined: bool,
    /// What the processor calls itself.
    pub processor: String,
    /// Its features that ciphers and key derivations use.
    pub cpu_features: Vec<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// The cipher kernels that run here, the fastest last.
    pub kernels: Vec<&'static str>,
    /// The one that would be chosen.
    pub kernel: &'static str,
    /// Memory in bytes, where the system tells it.
    pub memory_bytes: Option<u64>,
    /// Bytes of it that can be had.
    pub memory_available_bytes: Option<u64>,
    /// VeraCrypt's Argon2id, for want of memory or not.
    pub argon2id: Capability,
    /// Bytes that may be locked; `None` is no limit.
    pub memlock_bytes: Option<u64>,
    /// FUSE file systems.
    pub fuse: Capability,
    /// The program by which users mount them is there.
    pub fusermount3: bool,
    /// Loop devices.
    pub loop_device: Capability,
    /// The kernel's dm-crypt.
    pub dm_crypt: Capability,
    /// The NBD server.
    pub nbd: Capability,
    /// The server for virtual machines.
    pub vhost_user: Capability,
    /// The NVMe/TCP controller.
    pub nvme_tcp: Capability,
    /// The kernel's ublk driver.
    pub ublk: Capability,
    /// All layers of the sandbox around a process that has a volume open.
    pub sandbox: Capability,
    /// File systems that can be made here.
    pub filesystems: Vec<&'static str>,
    /// File systems that this kernel mounts, or a helper of mount(8) does.
    pub filesystems_mounted: Vec<&'static str>,
    /// File systems that are read without the kernel, and without root.
    pub filesystems_read: Vec<&'static str>,
    /// The word of the way in which a volume would be attached: one of
    /// [`CANDIDATES`](crate::session::CANDIDATES)'.
    pub attachment: &'static str,
    /// The same for one whose files are wanted in a folder; empty where that can't be had.
    pub attachment_with_folder: &'static str,
}

/// The file systems that are asked for in the kernel, as mount(8) has them.
const FILE_SYSTEMS: [&str; 9] =
    ["ext4", "vfat", "exfat", "ntfs", "btrfs", "xfs", "f2fs", "hfsplus", "iso9660"];
/// Those that [`Files`](crate::Files) reads by itself.
const READ: [&str; 4] = ["ext4", "vfat", "exfat", "ntfs"];

/// Whether something can be used, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Capability {
    /// It can be used.
    pub usable: bool,
    /// What it lacks.
    pub reason: Option<String>,
    /// What helps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}

impl Capability {
    const PRESENT: Self = Self { usable: true, reason: None, advice: Vec::new() };

    fn of(need: Need) -> Self {
        let lacking =
            |lack: Lack| Self { usable: false, reason: Some(lack.to_string()), advice: lack.advice() };
        need.check(Wish::default()).map_or_else(lacking, |()| Self::PRESENT)
    }
}

impl Capability {
    fn of_sandbox() -> Self {
        match Sandbox::missing() {
            missing if missing.is_empty() => Self::PRESENT,
            missing => {
                let reason = Some(format!("this kernel lacks {}", missing.join(", ")));
                Self { usable: false, reason, advice: Vec::new() }
            }
        }
    }
}

fn chosen(wish: Wish) -> &'static str {
    choose(wish, |_| true).map_or("", |choice| choice.candidate.name)
}

impl Capabilities {
    /// Looks what there is on this machine.
    pub fn look() -> Self {
        let (processor, cpu_features) = machine::processor();
        let (memory_bytes, memory_available_bytes) = machine::memory();
        let kernels: Vec<_> = Kernel::available().iter().map(|k| k.name()).collect();
        let argon2id = match memory_available_bytes {
            Some(have) if have < ARGON2ID_BYTES => {
                let (takes, have) = (size::words(ARGON2ID_BYTES), size::words(have));
                let reason = Some(format!("it takes {takes} and {have} can be had"));
                Capability { usable: false, reason, advice: Vec::new() }
            }
            _ => Capability::PRESENT,
        };
        let mut filesystems: Vec<_> = FileSystem::ALL.to_vec();
        filesystems.retain(|filesystem| filesystem.find_program().is_some());
        Self {
            root: rustix::process::geteuid().is_root(),
            confined: keyway_sys::is_confined_root(),
            processor,
            cpu_features,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: kernels.last().copied().unwrap_or("portable"),
            kernels,
            memory_bytes,
            memory_available_bytes,
            argon2id,
            memlock_bytes: getrlimit(Resource::Memlock).current,
            fuse: Capability::of(Need::Fuse),
            fusermount3: find_program("fusermount3").is_some(),
            loop_device: Capability::of(Need::LoopDevice),
            dm_crypt: Capability::of(Need::DmCrypt),
            nbd: Capability::PRESENT,
            vhost_user: Capability::PRESENT,
            nvme_tcp: Capability::PRESENT,
            ublk: Capability::of(Need::Ublk),
            sandbox: Capability::of_sandbox(),
            filesystems_mounted: FILE_SYSTEMS.into_iter().filter(|kind| can_mount(kind)).collect(),
            filesystems_read: READ.to_vec(),
            filesystems: filesystems.into_iter().map(FileSystem::name).collect(),
            attachment: chosen(Wish::default()),
            attachment_with_folder: chosen(Wish { mount: true, ..Wish::default() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_fs::files::FilesError;
    use keyway_store::MemStore;
    use std::sync::Arc;

    /// What is told to be read without the kernel is known to who reads it; what is not is refused by its name.
    #[test]
    fn what_is_read_without_the_kernel_is_what_files_opens() {
        for kind in FILE_SYSTEMS {
            let opened = crate::Files::open(Arc::new(MemStore::new(1 << 20)), Some(kind));
            let refused = matches!(opened, Err(FilesError::Unreadable(_)));
            assert_eq!(refused, !READ.contains(&kind), "{kind}");
        }
    }
}
