//! The files of the volume's file system in a folder, for users that the kernel mounts nothing for: read by
//! [`keyway_fs::tree`], shown by FUSE, for reading only.
//!
//! It is mounted before anything in the volume is looked at, so that the process can give up everything first that it
//! does not need to look: what is in a file system was written by anybody.

mod ahead;
mod tree_files;

use crate::fuse::transport::device::Channel;
use crate::fuse::{self, Show, Threads, Transport};
use crate::{AttachError, Stop};
use keyway_engine::Device;
use keyway_fs::Superblock;
use keyway_fs::files::FilesError;
use keyway_fs::tree::Tree;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tree_files::TreeFiles;

/// What a session's state calls it.
pub(crate) const ATTACHMENT: &str = "files";

/// A mounted folder and the threads that serve it.
pub(crate) struct FilesMount {
    files: Arc<TreeFiles>,
    threads: Vec<JoinHandle<()>>,
}

impl FilesMount {
    /// Mounts it at a folder. Whoever looks into that waits until [`show`](Self::show) says what is there. `gone` is
    /// requested when it is unmounted, by us or by anybody else.
    pub(crate) fn new(at: &Path, confined: bool, gone: Arc<Stop>) -> Result<Self, AttachError> {
        let fail = |e: io::Error| AttachError::io("speak FUSE with the kernel", e);
        let fuse = fuse::connect(at, Show::Files)?;
        let mut threads = Threads::new(Arc::new(TreeFiles::new()), gone, confined);
        let started = Channel::new()
            .init(&fuse, &*threads.file, false)
            .and_then(|_| threads.start_channels(&fuse, Transport::Device))
            .and_then(|()| threads.all_begin());
        threads.one_ends();
        match started {
            Ok(()) => Ok(Self { files: threads.file, threads: threads.handles }),
            Err(e) => {
                drop(fuse);
                fuse::disconnect(at, true)?;
                Err(fail(e))
            }
        }
    }

    /// Looks what is in the volume, and shows it; the file system's name.
    ///
    /// # Errors
    /// Nothing that is read here: the folder fails from then on.
    pub(crate) fn show(&self, device: &Arc<Device>) -> Result<&'static str, FilesError> {
        let found = Superblock::read(&**device)?.map(|found| found.type_name());
        let tree = Tree::open(Arc::clone(device) as Arc<_>, found)?;
        let kind = tree.kind();
        self.files.show(Some(tree));
        Ok(kind)
    }

    /// Waits for the threads, after it was unmounted.
    pub(crate) fn join(&mut self) {
        fuse::join(&mut self.threads);
    }

    /// Whoever waits for what is in it waits in vain.
    pub(crate) fn show_nothing(&self) {
        self.files.show(None);
    }
}

/// Takes away what a killed server left at that folder; what somebody else has mounted there since stays.
pub(crate) fn abandon(at: &Path) -> Result<(), AttachError> {
    if fuse::is_dead(at) { fuse::disconnect(at, true) } else { Ok(()) }
}
