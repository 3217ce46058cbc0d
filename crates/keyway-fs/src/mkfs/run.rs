//! Runs the system's `mkfs` and puts what it made into a volume.
//!
//! The `mkfs` writes into a sparse file in memory (memfd_create(2)) that has the volume's size; what it
//! wrote is then copied through the [`Store`], and what it skipped keeps the random bytes that
//! are there. That is what a `mkfs` on a used disk relies on too, so each one is told not to
//! discard and not to take unwritten space for zeros:
//! - `mkfs.ext4` would punch holes in place of zeros (`UNIX_IO_NOZEROOUT`, e2fsprogs) and take
//!   discarded inode tables for zeroed ones (`nodiscard`, mke2fs(8)). Its inode tables are left to
//!   the kernel's lazy initialisation; its journal is written in full.
//! - `mkfs.xfs` zeroes its log with `FALLOC_FL_ZERO_RANGE`, which memory files do not have, so it
//!   writes the zeros.
//! - the journals are kept at 256 MiB at most, because they pass through memory.

use super::{FileSystem, MkfsError, Progress, search_path};
use keyway_store::{AlignedBuf, Store};
use rustix::fs::{MemfdFlags, SeekFrom};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Bytes copied at a time.
const PIECE: usize = 512 * 1024;
/// From this size on a journal or log is limited to 256 MiB.
const LARGE: u64 = 64 << 30;
/// The most of a program's complaint that is kept, in bytes.
const COMPLAINT: u64 = 4096;

/// Makes an empty file system over the whole of `device` and flushes it. The label is what the
/// file system shows as its name; the program gets it as an argument.
pub fn format_into(
    device: &dyn Store,
    fs: FileSystem,
    label: Option<&str>,
    progress: Progress<'_>,
) -> Result<(), MkfsError> {
    let image = image(fs, device.size(), device.sector_bytes(), label, progress)?;
    copy_into(&image, device, fs, progress)
}

/// Makes an empty file system in a sparse file in memory, `size` bytes long.
pub fn image(
    fs: FileSystem,
    size: u64,
    sector_bytes: u32,
    label: Option<&str>,
    progress: Progress<'_>,
) -> Result<File, MkfsError> {
    let program = fs.find_program().ok_or(MkfsError::Missing(fs))?;
    if sector_bytes != 512 && fs == FileSystem::ExFat {
        return Err(MkfsError::SectorSize { fs, sector_bytes });
    }
    let run_failed = |source: io::Error| MkfsError::Run { fs, source };
    let image = File::from(
        rustix::fs::memfd_create("keyway-mkfs", MemfdFlags::CLOEXEC).map_err(|e| run_failed(e.into()))?,
    );
    image.set_len(size).map_err(run_failed)?;
    let child = command(&program, fs, size, sector_bytes, label)
        // The image is the program's standard input: it reaches it without a name in any folder.
        .arg("/proc/self/fd/0")
        .stdin(image.try_clone().map_err(run_failed)?)
        // A terminal's Ctrl-C is for us: whoever watches hears of it, and the program is ended then.
        .process_group(0)
        .spawn()
        .map_err(run_failed)?;
    wait(child, fs, size, progress)?;
    Ok(image)
}

/// Copies what [`image`] made through `device`, and flushes it.
pub fn copy_into(
    image: &File,
    device: &dyn Store,
    fs: FileSystem,
    progress: Progress<'_>,
) -> Result<(), MkfsError> {
    copy(image, device, fs, progress)?;
    Ok(device.flush()?)
}

fn command(program: &Path, fs: FileSystem, size: u64, sector_bytes: u32, label: Option<&str>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C.UTF-8").env("UNIX_IO_NOZEROOUT", "1").stdout(Stdio::null());
    command.env("PATH", std::env::join_paths(search_path()).unwrap_or_default()).stderr(Stdio::piped());
    let sector = sector_bytes.to_string();
    let label_flag = match fs {
        FileSystem::Fat => "-n",
        _ => "-L",
    };
    match fs {
        FileSystem::Ext4 => {
            // Its first folder is whoever's who makes it, not root's: else that user could write nothing where it is mounted.
            command.args(["-q", "-F", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=0,root_owner"]);
            if sector_bytes > 1024 {
                command.args(["-b", "4096"]);
            }
            if size >= LARGE {
                command.args(["-J", "size=256"]);
            }
        }
        FileSystem::ExFat => {}
        FileSystem::Ntfs => {
            // Without a partition table there is no geometry; zeros are what Windows ignores.
            command.args(["-q", "-Q", "-F", "-p", "0", "-H", "0", "-S", "0", "-s"]).arg(sector);
        }
        FileSystem::Fat => {
            command.arg("-S").arg(sector);
        }
        FileSystem::Btrfs => {
            command.args(["-q", "-f", "-K"]);
        }
        FileSystem::Xfs => {
            command.args(["-q", "-f", "-K", "-s"]).arg(format!("size={sector}"));
            if size >= LARGE {
                command.args(["-l", "size=256m"]);
            }
        }
    }
    if let Some(label) = label {
        command.arg(label_flag).arg(label);
    }
    command
}

/// Waits for the program, or ends it when the caller wants to stop.
fn wait(mut child: Child, fs: FileSystem, size: u64, progress: Progress<'_>) -> Result<(), MkfsError> {
    let run_failed = |source: io::Error| MkfsError::Run { fs, source };
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut pipe) = stderr {
            // A pipe that can't be read only costs the explanation.
            let _ = pipe.by_ref().take(COMPLAINT).read_to_end(&mut kept);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        String::from_utf8_lossy(&kept).trim().to_owned()
    });
    let status = loop {
        if let Some(status) = child.try_wait().map_err(run_failed)? {
            break status;
        }
        if progress(0, size).is_break() {
            child.kill().map_err(run_failed)?;
            child.wait().map_err(run_failed)?;
            return Err(MkfsError::Stopped);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let complaint = reader.join().unwrap_or_default();
    if status.success() { Ok(()) } else { Err(MkfsError::Refused { fs, status, complaint }) }
}

/// Copies every page that was written, zeros included.
fn copy(image: &File, device: &dyn Store, fs: FileSystem, progress: Progress<'_>) -> Result<(), MkfsError> {
    let run_failed = |source: io::Error| MkfsError::Run { fs, source };
    let size = device.size();
    let mut buf = AlignedBuf::zeroed(PIECE);
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(image, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => break,
            Err(e) => return Err(run_failed(e.into())),
        };
        let end = rustix::fs::seek(image, SeekFrom::Hole(start)).map_err(|e| run_failed(e.into()))?;
        at = start;
        while at < end.min(size) {
            let len = (end.min(size) - at).min(PIECE as u64) as usize;
            buf.resize(len);
            image.read_exact_at(&mut buf, at).map_err(run_failed)?;
            device.write_at(&buf, at)?;
            at += len as u64;
            if progress(at, size).is_break() {
                return Err(MkfsError::Stopped);
            }
        }
    }
    let _ = progress(size, size);
    Ok(())
}
