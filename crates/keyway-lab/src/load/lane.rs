//! One request at a time, on whatever a subject is.

use super::fill::{fill, refresh};
use super::offsets::Rng;
use crate::error::LabError;
use crate::sectors::{Sectors, Subject, Window};
use crate::workload::Data;
use keyway_store::{Action, AlignedBuf, Completion, Queue, Request};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// A file or device, past the page cache or through it.
struct RawFile {
    file: File,
    size: u64,
}

impl RawFile {
    fn open(path: &Path, size: u64, direct: bool) -> Result<Self, LabError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        if direct {
            options.custom_flags(OFlags::DIRECT.bits() as i32);
        }
        let file = options.open(path).map_err(|e| LabError::io("open", path, e))?;
        Ok(Self { file, size })
    }
}

impl Sectors for RawFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(buf, offset)
    }
    fn flush(&self) -> io::Result<()> {
        self.file.sync_data()
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn sector_bytes(&self) -> u32 {
        4096
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

/// A subject's sectors, where it has some that threads can share.
pub(crate) fn sectors(subject: &Subject) -> Result<Option<Arc<dyn Sectors>>, LabError> {
    Ok(match subject {
        Subject::InProcess(sectors) => Some(sectors.clone()),
        Subject::File { path, start, len, direct } => {
            let file: Arc<dyn Sectors> = Arc::new(RawFile::open(path, start + len, *direct)?);
            Some(Arc::new(Window::new(file, *start, *len)))
        }
        Subject::Queued { .. } => None,
    })
}

/// Requests one after the other, with one buffer.
pub(crate) struct Lane {
    medium: Medium,
    buf: AlignedBuf,
    rng: Rng,
    size: u64,
}

enum Medium {
    Sectors(Arc<dyn Sectors>),
    Queue { queue: Box<dyn Queue>, start: u64, done: Vec<Completion> },
}

impl Lane {
    /// For a turn with this seed.
    pub(crate) fn of(subject: &Subject, seed: u64) -> Result<Self, LabError> {
        let medium = match subject {
            Subject::Queued { open, start, .. } => {
                Medium::Queue { queue: open(), start: *start, done: Vec::new() }
            }
            other => match sectors(other)? {
                Some(sectors) => Medium::Sectors(sectors),
                None => return Err(LabError::Unsuited("it has no sectors".to_owned())),
            },
        };
        Ok(Self { medium, buf: AlignedBuf::default(), rng: Rng::new(seed), size: subject.size() })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn random(&mut self, below: u64) -> u64 {
        self.rng.below(below.max(1))
    }

    pub(crate) fn read(&mut self, len: usize, offset: u64) -> Result<(), LabError> {
        self.request(Action::Read, len, offset)
    }

    /// What was read last.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Writes what the buffer holds: what was read last.
    pub(crate) fn write_back(&mut self, len: usize, offset: u64) -> Result<(), LabError> {
        self.request(Action::Write, len, offset)
    }

    pub(crate) fn write_random(&mut self, len: usize, offset: u64) -> Result<(), LabError> {
        if self.buf.len() != len {
            self.buf.resize(len);
            fill(&mut self.buf, Data::Random, &mut self.rng);
        }
        refresh(&mut self.buf, Data::Random, &mut self.rng);
        self.request(Action::Write, len, offset)
    }

    pub(crate) fn flush(&mut self) -> Result<(), LabError> {
        self.request(Action::Flush, 0, 0)
    }

    fn request(&mut self, action: Action, len: usize, offset: u64) -> Result<(), LabError> {
        let fail = |e| LabError::io("use", Path::new("the volume under test"), e);
        if action != Action::Flush {
            self.buf.resize(len);
        }
        match &mut self.medium {
            Medium::Sectors(sectors) => match action {
                Action::Read => sectors.read_at(&mut self.buf, offset),
                Action::Write => sectors.write_at(&self.buf, offset),
                Action::Flush => sectors.flush(),
            }
            .map_err(fail),
            Medium::Queue { queue, start, done } => {
                // A queue that encrypts does so where the bytes lie, so that what was read is kept.
                let mut buf = AlignedBuf::default();
                if action != Action::Flush {
                    buf.resize(len);
                }
                if action == Action::Write {
                    buf.copy_from_slice(&self.buf);
                }
                queue.submit(Request { tag: 0, action, offset: *start + offset, buf })?;
                queue.complete(1, done)?;
                for completion in done.drain(..) {
                    completion.result?;
                    if action == Action::Read {
                        self.buf = completion.buf;
                    }
                }
                Ok(())
            }
        }
    }
}
