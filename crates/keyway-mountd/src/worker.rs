//! The process of one request: it looks at the user's descriptor as that user, and puts a loop device on it.
//!
//! It is this program, started anew. Standard input is the descriptor, standard output a socket to the helper. It says what it
//! found, waits for one byte, sets the loop device up, hands that over and ends. A FUSE file system lets in who has all of its
//! user's ids, so it takes them on for good; and whoever serves that file can make it wait, so nobody else waits with it.

use crate::descriptor::check;
use crate::options::driver;
use crate::refusal::{Kind, Refusal};
use keyway_fs::superblock::VolumeInfo;
use keyway_fs::{FileSystemKind, Superblock};
use keyway_store::{ReadOnlyStore, StoreError};
use keyway_sys::{Account, loop_attach_until_closed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recv, recvmsg, send, sendmsg, socketpair,
};
use rustix::process::{Gid, Uid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The argument by which the program knows that it is one of these.
pub const WORD: &str = "worker";

/// How long what serves the file may take to answer.
const PATIENCE: Timespec = Timespec { tv_sec: 30, tv_nsec: 0 };
/// An answer is no longer than this.
const LONGEST: usize = 16 << 10;
/// What putting a loop device up takes.
const ATTACHES: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::DAC_OVERRIDE);

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The loop device's sectors.
    pub sector_bytes: u32,
    /// Nothing is to be written.
    pub read_only: bool,
}

/// What is on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// The file system's type, as `mount -t` takes it.
    filesystem: String,
    /// Its label, as it stands there.
    pub label: Option<String>,
    /// Its UUID or serial number.
    pub uuid: Option<String>,
    /// It was not left in order: it is only read.
    pub unclean: bool,
    /// It is only read.
    pub read_only: bool,
    /// It is on a drive that belongs to the machine.
    pub system_device: bool,
    /// As [`Checked::file`](crate::descriptor::Checked::file).
    pub file: (u64, u64),
}

impl Looked {
    /// The file system. What the process says of it is believed no further than to be one that is mounted.
    pub fn kind(&self) -> Option<FileSystemKind> {
        MOUNTED.into_iter().find(|kind| kind.mount_type() == self.filesystem)
    }
}

/// The file systems that are mounted for users, by [`driver`].
const MOUNTED: [FileSystemKind; 7] = [
    FileSystemKind::Fat,
    FileSystemKind::ExFat,
    FileSystemKind::Ntfs,
    FileSystemKind::Ext,
    FileSystemKind::Xfs,
    FileSystemKind::Btrfs,
    FileSystemKind::Iso9660,
];

/// Such a process, seen by the helper. It ends when this is dropped.
pub struct Worker {
    child: Option<Child>,
    to: OwnedFd,
}

impl Worker {
    /// Starts it for that user, with what he handed over.
    ///
    /// # Errors
    /// The system's.
    pub fn start(volume: OwnedFd, account: &Account, asked: Asked) -> Result<Self, Refusal> {
        let fail = |e: io::Error| Kind::Failed.of("start a process for the request", e);
        let (to, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|e| fail(e.into()))?;
        let mode = if asked.read_only { "ro" } else { "rw" };
        let child = Command::new("/proc/self/exe")
            .args([
                WORD,
                &account.user.to_string(),
                &account.group.to_string(),
                &asked.sector_bytes.to_string(),
                mode,
            ])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(volume))
            .stdout(Stdio::from(theirs))
            .spawn()
            .map_err(fail)?;
        Ok(Self { child: Some(child), to })
    }

    /// What it found.
    ///
    /// # Errors
    /// What it refuses; or it does not answer.
    pub fn looked(&self) -> Result<Looked, Refusal> {
        self.hear().map(|(looked, _)| looked)
    }

    /// Has it put a loop device on the descriptor, which is there as long as the file is open, or what is mounted from it.
    ///
    /// # Errors
    /// As [`looked`](Self::looked).
    pub fn attach(&self) -> Result<(PathBuf, File), Refusal> {
        send(&self.to, &[1], SendFlags::NOSIGNAL)
            .map_err(|e| Kind::Failed.of("speak with the request's process", e))?;
        let (device, file) = self.hear::<PathBuf>()?;
        file.map(|file| (device, file)).ok_or_else(|| Kind::Failed.says("there is no loop device"))
    }

    fn hear<T: DeserializeOwned>(&self) -> Result<(T, Option<File>), Refusal> {
        let silent = || Kind::Unreadable.says("what serves the file does not answer");
        let lost = |e: io::Error| Kind::Failed.of("hear the request's process", e);
        loop {
            match poll(&mut [PollFd::new(&self.to, PollFlags::IN)], Some(&PATIENCE)) {
                Ok(0) => return Err(silent()),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(e) => return Err(lost(e.into())),
            }
        }
        let mut bytes = vec![0; LONGEST];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received =
            recvmsg(&self.to, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)
                .map_err(|e| lost(e.into()))?;
        let file = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next().map(File::from),
            _ => None,
        });
        let answer = bytes.get(..received.bytes).unwrap_or_default();
        let answer: Result<T, Refusal> = serde_json::from_slice(answer).map_err(|e| lost(e.into()))?;
        answer.map(|answer| (answer, file))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            // One that waits for a drive ends when that answers.
            std::thread::spawn(move || child.wait());
        }
    }
}

/// What the process does, with its arguments.
///
/// # Errors
/// It was not started by the helper. What is wrong with the descriptor has been told to that.
pub fn work(words: &[&str]) -> Result<(), Refusal> {
    let wrong = || Kind::Failed.says("the helper starts this, and nobody else");
    let [user, group, sector_bytes, mode] = words else { return Err(wrong()) };
    let number = |word: &str| word.parse::<u32>().map_err(|_| wrong());
    let (user, group) = (number(user)?, number(group)?);
    let asked = Asked { sector_bytes: number(sector_bytes)?, read_only: *mode == "ro" };
    let duplicate = |from: BorrowedFd<'_>| from.try_clone_to_owned().map_err(|e| Kind::Failed.of("begin", e));
    let (volume, to) = (File::from(duplicate(io::stdin().as_fd())?), duplicate(io::stdout().as_fd())?);
    become_user(user, group).map_err(|e| Kind::Failed.of("become the user", e))?;
    let looked = look(&volume, asked, (user, group));
    answer(&to, &looked, None)?;
    let Ok(looked) = looked else { return Ok(()) };
    // One byte; anything else is the helper's end.
    if !matches!(recv(&to, &mut [0u8; 2][..], RecvFlags::empty()), Ok((1, _))) {
        return Ok(());
    }
    let attached = may(ATTACHES)
        .and_then(|()| loop_attach_until_closed(&volume, asked.sector_bytes, looked.read_only))
        .map_err(|e| Kind::Failed.of("put a loop device on it", e));
    match attached {
        Ok((device, file)) => answer(&to, &Ok(device), Some(file.as_fd())),
        Err(refusal) => answer::<PathBuf>(&to, &Err(refusal), None),
    }
}

/// This process is the user's from now on, with nothing of root's but what [`may`] takes up again.
fn become_user(user: u32, group: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    rustix::thread::set_no_new_privs(true)?;
    rustix::thread::set_keep_capabilities(true)?;
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)?;
    may(CapabilitySet::empty())
}

/// These capabilities work from now on; none but [`ATTACHES`] can be had again.
fn may(now: CapabilitySet) -> io::Result<()> {
    let sets = CapabilitySets { effective: now, permitted: ATTACHES, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}

/// What the descriptor is, and what is on it.
fn look(volume: &File, asked: Asked, (user, group): (u32, u32)) -> Result<Looked, Refusal> {
    let checked = check(volume)?;
    if !matches!(asked.sector_bytes, 512 | 1024 | 2048 | 4096) {
        return Err(
            Kind::BadSectors.says(format!("no loop device has sectors of {} bytes", asked.sector_bytes))
        );
    }
    let unreadable = |e: StoreError| Kind::Unreadable.says(format!("it can't be read: {e}"));
    // A block device has no length but its end.
    let size = { volume }.seek(SeekFrom::End(0)).map_err(|e| Kind::Unreadable.of("find its size", e))?;
    let store = ReadOnlyStore::new("the volume", size, |buf: &mut [u8], at| volume.read_exact_at(buf, at));
    let found = Superblock::read(&store).map_err(unreadable)?;
    let none = || Kind::NoFileSystem.says("there is no file system on it that is known");
    let Superblock { kind, uuid, .. } = found.ok_or_else(none)?;
    if driver(kind, true, user, group).is_none() {
        return Err(Kind::NoFileSystem.says(format!("{kind} is mounted by root alone")));
    }
    let VolumeInfo { label, unclean, .. } = VolumeInfo::read(&store, kind).map_err(unreadable)?;
    let read_only = asked.read_only || checked.read_only || unclean;
    let filesystem = kind.mount_type().to_owned();
    let (system_device, file) = (checked.system_device, checked.file);
    Ok(Looked { filesystem, label, uuid, unclean, read_only, system_device, file })
}

fn answer<T: Serialize>(
    to: &OwnedFd,
    answer: &Result<T, Refusal>,
    file: Option<BorrowedFd<'_>>,
) -> Result<(), Refusal> {
    let fail = |e: io::Error| Kind::Failed.of("answer the helper", e);
    let bytes = serde_json::to_vec(answer).map_err(|e| fail(e.into()))?;
    let files: Vec<_> = file.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    sendmsg(to, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL).map_err(|e| fail(e.into()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::require_tool;

    const RW: Asked = Asked { sector_bytes: 512, read_only: false };

    #[test]
    fn what_is_mounted_has_a_driver_and_nothing_else_has() {
        for kind in FileSystemKind::ALL {
            assert_eq!(driver(kind, false, 1, 1).is_some(), MOUNTED.contains(&kind), "{kind}");
        }
    }

    #[test]
    fn an_empty_file_and_a_size_that_no_sector_has_are_refused() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(1 << 20).expect("sized");
        let kind = |asked| look(file.as_file(), asked, (1, 1)).err().map(|refusal| refusal.kind);
        assert_eq!(kind(RW), Some(Kind::NoFileSystem));
        for sector_bytes in [0, 1, 513, 8192, u32::MAX] {
            assert_eq!(kind(Asked { sector_bytes, ..RW }), Some(Kind::BadSectors));
        }
    }

    #[test]
    fn what_was_not_left_in_order_is_only_read() {
        let Some(mkfs) = require_tool("mkfs.ext4") else { return };
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(8 << 20).expect("sized");
        let done =
            Command::new(mkfs).args(["-q", "-L", "STICK"]).arg(file.path()).status().expect("it starts");
        assert!(done.success());
        let looked = look(file.as_file(), RW, (1, 1)).expect("a file system");
        assert_eq!(
            (looked.label.as_deref(), looked.unclean, looked.read_only),
            (Some("STICK"), false, false)
        );
        assert_eq!(looked.kind(), Some(FileSystemKind::Ext));
        // Its superblock says that there are faults.
        file.as_file().write_all_at(&[3, 0], 1024 + 0x3a).expect("room");
        let looked = look(file.as_file(), RW, (1, 1)).expect("a file system");
        assert!(looked.unclean && looked.read_only);
    }
}
