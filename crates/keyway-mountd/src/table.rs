//! Who has what mounted, and how much of it.
//!
//! It is kept in a file as well: a helper that was killed is started anew by the next request, and must not have forgotten.

use crate::refusal::{Kind, Refusal};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So much may a user have mounted, and be waiting for, together.
pub const MOST: usize = 16;

/// Something that is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mounted {
    /// The connection that it belongs to, by its name on the bus.
    pub caller: String,
    /// The user.
    pub user: u32,
    /// The folder.
    pub folder: PathBuf,
    /// The loop device.
    pub device: PathBuf,
    /// What it is on: the device number of the file system that the file is in, and its inode number.
    pub file: (u64, u64),
}

/// How far something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// On its way: the request that made it decides what becomes of it.
    Coming,
    Here,
    /// Somebody takes it down.
    Going,
}

#[derive(Default)]
struct Inner {
    mounted: Vec<(Mounted, Stage)>,
    /// How many requests each user has here.
    requests: HashMap<u32, usize>,
}

/// The table. Everybody who works on it has a copy of the same.
#[derive(Clone)]
pub struct Table {
    inner: Arc<Mutex<Inner>>,
    last: Arc<Mutex<Instant>>,
    file: PathBuf,
}

/// A request's place among those of its user.
pub struct Slot {
    table: Table,
    user: u32,
}

impl Table {
    /// What that file says, if it is there; what stands in it is there until somebody has looked.
    pub fn load(file: impl Into<PathBuf>) -> Self {
        let file = file.into();
        let before: Vec<Mounted> =
            std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let mounted = before.into_iter().map(|mounted| (mounted, Stage::Here)).collect();
        let inner = Inner { mounted, requests: HashMap::new() };
        Self { inner: Arc::new(Mutex::new(inner)), last: Arc::new(Mutex::new(Instant::now())), file }
    }

    /// A place for a request of that user.
    ///
    /// # Errors
    /// [`Kind::TooMany`].
    pub fn enter(&self, user: u32) -> Result<Slot, Refusal> {
        let mut inner = self.lock();
        let mounted = inner.mounted.iter().filter(|(mounted, _)| mounted.user == user).count();
        let requests = inner.requests.entry(user).or_default();
        if mounted + *requests >= MOST {
            return Err(
                Kind::TooMany.says(format!("you have {MOST} volumes mounted, or being mounted, already"))
            );
        }
        *requests += 1;
        Ok(Slot { table: self.clone(), user })
    }

    /// Writes down what is about to be mounted.
    ///
    /// # Errors
    /// [`Kind::InUse`]: it is mounted already, and two drivers on the same bytes would destroy them.
    pub fn comes(&self, mounted: Mounted) -> Result<(), Refusal> {
        let mut inner = self.lock();
        if let Some((other, _)) = inner.mounted.iter().find(|(other, _)| other.file == mounted.file) {
            return Err(Kind::InUse.says(format!("it is mounted at {} already", other.folder.display())));
        }
        inner.mounted.push((mounted, Stage::Coming));
        self.write(&inner);
        Ok(())
    }

    /// It is there: from now on it goes when its caller does.
    pub fn is_here(&self, folder: &Path) {
        self.set(folder, Stage::Here);
    }

    /// It could not be taken down, and stays.
    pub fn stays(&self, folder: &Path) {
        self.set(folder, Stage::Here);
    }

    /// It is gone, or never came.
    pub fn is_gone(&self, folder: &Path) {
        let mut inner = self.lock();
        inner.mounted.retain(|(mounted, _)| mounted.folder != folder);
        self.write(&inner);
    }

    /// What is mounted there.
    pub fn at(&self, folder: &Path) -> Option<Mounted> {
        let inner = self.lock();
        let mut found = inner.mounted.iter().filter(|(_, stage)| *stage != Stage::Coming);
        found.find(|(mounted, _)| mounted.folder == folder).map(|(mounted, _)| mounted.clone())
    }

    /// Everything, for who has just been started.
    pub fn all(&self) -> Vec<Mounted> {
        self.lock().mounted.iter().map(|(mounted, _)| mounted.clone()).collect()
    }

    /// What is there of those that are meant; whoever asks takes it down, and nobody else does.
    pub fn begin_to_go(&self, is_meant: impl Fn(&Mounted) -> bool) -> Vec<Mounted> {
        let mut inner = self.lock();
        let meant =
            inner.mounted.iter_mut().filter(|(mounted, stage)| *stage == Stage::Here && is_meant(mounted));
        meant
            .map(|(mounted, stage)| {
                *stage = Stage::Going;
                mounted.clone()
            })
            .collect()
    }

    /// Whether nothing has been here or asked for so long.
    pub fn is_idle_for(&self, time: Duration) -> bool {
        let idle = {
            let inner = self.lock();
            inner.mounted.is_empty() && inner.requests.values().all(|requests| *requests == 0)
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !idle {
            *last = Instant::now();
        }
        idle && last.elapsed() >= time
    }

    /// Somebody asked for something.
    pub fn asked(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn set(&self, folder: &Path, to: Stage) {
        let mut inner = self.lock();
        inner
            .mounted
            .iter_mut()
            .filter(|(mounted, _)| mounted.folder == folder)
            .for_each(|(_, stage)| *stage = to);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whole or not at all. What can't be written is told: it costs no more than what a killed helper leaves.
    fn write(&self, inner: &Inner) {
        let write = || {
            if let Some(folder) = self.file.parent() {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            let new = self.file.with_extension("new");
            let file =
                std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            let all: Vec<_> = inner.mounted.iter().map(|(mounted, _)| mounted).collect();
            serde_json::to_writer(file, &all)?;
            std::fs::rename(&new, &self.file)
        };
        if let Err(e) = write() {
            eprintln!("keyway-mountd: could not write {}: {e}", self.file.display());
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut inner = self.table.lock();
        if let Some(requests) = inner.requests.get_mut(&self.user) {
            *requests = requests.saturating_sub(1);
            if *requests == 0 {
                inner.requests.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(caller: &str, user: u32, name: &str) -> Mounted {
        let folder = Path::new("/run/media/user").join(name);
        let file = (7, name.bytes().map(u64::from).sum());
        Mounted { caller: caller.to_owned(), user, folder, device: "/dev/loop7".into(), file }
    }

    #[test]
    fn one_user_has_so_many_and_that_is_no_matter_of_anothers() {
        let folder = tempfile::tempdir().expect("a folder");
        let table = Table::load(folder.path().join("state/mounts.json"));
        table.comes(mounted(":1.1", 7, "A")).expect("new");
        let slots: Vec<_> = (1..MOST).map(|_| table.enter(7).expect("room")).collect();
        assert_eq!(table.enter(7).err().map(|refusal| refusal.kind), Some(Kind::TooMany));
        assert!(table.enter(8).is_ok());
        drop(slots);
        assert!(table.enter(7).is_ok());
    }

    #[test]
    fn what_goes_is_taken_down_by_one_alone_and_what_comes_by_nobody_yet() {
        let folder = tempfile::tempdir().expect("a folder");
        let table = Table::load(folder.path().join("mounts.json"));
        let a = mounted(":1.1", 7, "A");
        table.comes(a.clone()).expect("new");
        let of_it = |mounted: &Mounted| mounted.caller == ":1.1";
        assert_eq!(table.begin_to_go(of_it), [], "its request looks to it");
        assert_eq!(table.at(&a.folder), None);
        assert_eq!(table.comes(a.clone()).err().map(|refusal| refusal.kind), Some(Kind::InUse));
        table.is_here(&a.folder);
        assert_eq!(table.begin_to_go(of_it), std::slice::from_ref(&a));
        assert_eq!(table.begin_to_go(of_it), []);
        table.stays(&a.folder);
        assert_eq!(table.begin_to_go(of_it), std::slice::from_ref(&a));
        table.is_gone(&a.folder);
        assert_eq!(table.all(), []);
    }

    #[test]
    fn who_is_started_anew_knows_what_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("mounts.json");
        let (a, b) = (mounted(":1.1", 7, "A"), mounted(":1.2", 8, "B"));
        let table = Table::load(&file);
        table.comes(a.clone()).expect("new");
        table.comes(b.clone()).expect("new");
        table.is_gone(&b.folder);
        assert_eq!(Table::load(&file).all(), [a]);
        std::fs::write(&file, "nonsense").expect("ours");
        assert_eq!(Table::load(&file).all(), []);
    }

    #[test]
    fn idle_is_who_has_nothing_and_was_asked_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let table = Table::load(folder.path().join("mounts.json"));
        assert!(table.is_idle_for(Duration::ZERO));
        let slot = table.enter(7).expect("room");
        assert!(!table.is_idle_for(Duration::ZERO));
        drop(slot);
        table.comes(mounted(":1.1", 7, "A")).expect("new");
        assert!(!table.is_idle_for(Duration::ZERO));
        table.is_gone(Path::new("/run/media/user/A"));
        assert!(table.is_idle_for(Duration::ZERO) && !table.is_idle_for(Duration::from_secs(3600)));
    }
}
