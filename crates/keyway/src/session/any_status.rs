//! What a name stands for: an open volume, one that is not, or one that is half converted.

use super::error::SessionError;
use super::in_use::other_partition;
use super::others::OtherUser;
use super::overview::{OpenVolume, VolumeStatus, WaitingVolume};
use crate::disk::{self, Disk, DiskPartition};
use crate::error::Error;
use crate::medium;
use crate::under_way::{Description, describe};
use crate::unlock::UnlockArguments;
use keyway_attach::session::{SessionElsewhere, find_replaced};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is known of whatever a name stands for.
#[derive(Debug)]
pub enum AnyStatus {
    /// A volume, open or not.
    Volume(Box<VolumeStatus>),
    /// One that is half converted.
    Converting {
        /// Its file or device.
        path: PathBuf,
        /// How far it is.
        found: Box<Description>,
        /// How it is open meanwhile.
        open: Option<Box<OpenVolume>>,
    },
}

impl AnyStatus {
    /// Looks at the volume of that name, or at that partition of a disk; its journal may lie elsewhere.
    ///
    /// # Errors
    /// It isn't there, can't be read, is plainly no volume, or is damaged.
    pub fn of(name: &Path, partition: Option<u32>, journal: Option<&Path>) -> Result<Self, Error> {
        let is_meant = |open: &OpenVolume| other_partition(&open.state, partition).is_none();
        let open = match OpenVolume::find(name)?.filter(is_meant) {
            None => of_partition(name, partition)?,
            open => open,
        };
        let of_dead = |all: Vec<WaitingVolume>| all.into_iter().next().filter(|_| open.is_none());
        let killed = of_dead(WaitingVolume::killed(Some(name))?);
        let elsewhere = SessionElsewhere::find(name).filter(|_| open.is_none() && killed.is_none());
        let (path, converts) = match (&open, &killed) {
            (Some(open), _) => (&*open.state.volume, open.state.is_converting()),
            // The name may be of what it was attached by.
            (None, Some(killed)) => (&*killed.volume, true),
            (None, None) => {
                let volume = elsewhere.as_ref().map_or(name, |session| &*session.volume);
                // What another user has mounted is no volume by that name, and open all the same.
                medium::must_exist(volume).map_err(|error| match OtherUser::having(name) {
                    Some(other) => SessionError::Others { path: name.to_owned(), other }.into(),
                    None => error,
                })?;
                (volume, true)
            }
        };
        if converts && let Some(found) = describe(path, journal)? {
            return Ok(Self::Converting {
                path: path.to_owned(),
                found: Box::new(found),
                open: open.map(Box::new),
            });
        }
        let mut status = match open {
            Some(open) if converts => VolumeStatus::converted(open),
            Some(open) => open.into(),
            None => {
                let waiting = of_dead(WaitingVolume::named(Some(name))?);
                let volume = waiting.as_ref().map_or(path, |waiting| &*waiting.volume);
                let locked = VolumeStatus::locked(volume, partition)?;
                let open_before = find_replaced(name)?.map(WaitingVolume::from);
                VolumeStatus { waiting: waiting.clone(), killed: killed.clone(), open_before, ..locked }
            }
        };
        status.partition = partition_of(name, &status, partition);
        Ok(Self::Volume(Box::new(status)))
    }

    /// Who else has it open: another user, or this one with sessions in another folder.
    pub fn other(&self) -> Option<&OtherUser> {
        match self {
            Self::Volume(status) => status.other_user.as_ref(),
            Self::Converting { .. } => None,
        }
    }

    /// Whether somebody of this user serves it now.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Volume(status) => status.session.is_some(),
            Self::Converting { open, .. } => open.is_some(),
        }
    }
}

/// The open volume that is a partition of that disk: the one that is meant, or any where several may be.
fn of_partition(disk: &Path, number: Option<u32>) -> Result<Option<OpenVolume>, Error> {
    let devices = match disk::meant(disk, &arguments(number)) {
        Ok(Some(meant)) => meant.device.into_iter().collect(),
        Err(Error::Disk(_)) if number.is_none() => keyway_sys::partitions(disk),
        _ => Vec::new(),
    };
    for device in devices {
        if let Some(open) = OpenVolume::find(&device)? {
            return Ok(Some(open));
        }
    }
    Ok(None)
}

/// Which partition of a disk that is, where the disk was named.
fn partition_of(disk: &Path, status: &VolumeStatus, number: Option<u32>) -> Option<DiskPartition> {
    let Some(OpenVolume { state, .. }) = &status.session else {
        return Some(disk::meant(disk, &arguments(number)).ok()??.partition);
    };
    let same =
        |one: &Path| one.canonicalize().is_ok_and(|one| disk.canonicalize().is_ok_and(|disk| one == disk));
    if same(&state.volume) {
        let own = state.details.get("partition").and_then(Value::as_u64);
        let own = own.and_then(|own| u32::try_from(own).ok());
        return Some(disk::meant(disk, &arguments(number.or(own))).ok()??.partition);
    }
    // What was named may also be what it is attached by.
    let partition = keyway_sys::partition_of(&state.volume).ok()??;
    let disk = Disk::on(disk).ok()?.filter(|_| same(&partition.drive))?;
    disk.partitions.into_iter().find(|one| one.offset_bytes == partition.start)
}

fn arguments(partition: Option<u32>) -> UnlockArguments {
    UnlockArguments { partition, ..UnlockArguments::new() }
}

impl OpenVolume {
    /// The document of a volume that is half converted, with the fields of all volumes, and with those of the open one.
    pub fn beside(converting: Value, open: Option<&Self>) -> Value {
        let mut document = converting;
        if let Some(object) = document.as_object_mut() {
            // What is known of a BitLocker volume is there already.
            object.entry("encryption_method").or_insert(Value::Null);
            object.entry("protection_status").or_insert(json!("Unknown"));
            object.entry("key_protectors").or_insert(json!([]));
            object
                .insert("lock_status".to_owned(), json!(if open.is_some() { "Unlocked" } else { "Locked" }));
            object.extend(open.map(Self::in_use).unwrap_or_default());
        }
        document
    }
}
