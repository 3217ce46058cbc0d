//! What a session serves: a device of ours, or a volume that the kernel decrypts.

use super::latency::{KernelStat, Latencies};
use super::state::{SessionState, Spared};
use crate::AttachError;
use crate::dmcrypt::Mapping;
use keyway_engine::{Access, Counters, Device, DeviceError, HandOver};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// A session's volume.
pub(super) enum Served {
    /// Our engine does the work.
    Ours(Arc<Device>),
    /// The keys wait to be handed over.
    Waiting(Box<HandOver>),
    /// The kernel does the work.
    Kernel(Kernel),
}

/// A volume that the kernel decrypts, and what of it we know without its keys.
pub(super) struct Kernel {
    size: u64,
    sector_bytes: u32,
    read_only: bool,
    /// `None` once it is removed.
    mapping: Option<Mapping>,
}

impl Served {
    /// Our own device.
    pub(super) fn device(&self) -> Result<&Arc<Device>, AttachError> {
        match self {
            Self::Ours(device) => Ok(device),
            Self::Waiting(_) | Self::Kernel(_) => {
                Err(AttachError::io("serve the volume", io::Error::other("the kernel has its keys")))
            }
        }
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Ours(device) => device.size(),
            Self::Waiting(volume) => volume.layout.size(),
            Self::Kernel(kernel) => kernel.size,
        }
    }

    pub(super) fn sector_bytes(&self) -> u32 {
        match self {
            Self::Ours(device) => device.sector_bytes(),
            Self::Waiting(volume) => volume.layout.sector_bytes(),
            Self::Kernel(kernel) => kernel.sector_bytes,
        }
    }

    pub(super) fn is_read_only(&self) -> bool {
        match self {
            Self::Ours(device) => device.is_read_only(),
            Self::Waiting(volume) => volume.access == Access::ReadOnly,
            Self::Kernel(kernel) => kernel.read_only,
        }
    }

    /// Whether the volume's file is locked already.
    pub(super) fn is_claimed(&self) -> bool {
        matches!(self, Self::Ours(device) if device.is_claimed())
    }

    pub(super) fn guard_hit(&self) -> bool {
        matches!(self, Self::Ours(device) if device.guard_hit())
    }

    /// What was written over the volume's own metadata, if anything: it is not there.
    pub(super) fn spared(&self) -> Option<Spared> {
        let Self::Ours(device) = self else { return None };
        let writes = device.counters().writes_refused;
        (writes > 0).then(|| Spared { writes, room_bytes: device.room_before_metadata() })
    }

    /// Why the first of what is not on the medium could not be written.
    pub(super) fn first_failed_write(&self) -> Option<String> {
        match self {
            Self::Ours(device) => device.first_failed_write(),
            Self::Waiting(_) | Self::Kernel(_) => None,
        }
    }

    /// Gives the keys to the kernel, and the volume's open file; the block device that it makes of them.
    #[cfg_attr(not(feature = "dm-crypt"), allow(dead_code, reason = "nothing is handed over then"))]
    pub(super) fn hand_over(
        &mut self,
        file: Option<&File>,
        state: &SessionState,
    ) -> Result<&Mapping, AttachError> {
        let missing = || AttachError::io("hand the keys over", io::Error::other("they were not asked for"));
        let (size, sector_bytes, read_only) = (self.size(), self.sector_bytes(), self.is_read_only());
        let (Self::Waiting(_), Some(file)) = (&*self, file) else { return Err(missing()) };
        let kernel = Kernel { size, sector_bytes, read_only, mapping: None };
        let Self::Waiting(keys) = std::mem::replace(self, Self::Kernel(kernel)) else {
            return Err(missing());
        };
        let loaded = Mapping::new(*keys, file, &state.volume, &state.id)?;
        match self {
            Self::Kernel(kernel) => Ok(kernel.mapping.insert(loaded)),
            Self::Ours(_) | Self::Waiting(_) => Err(missing()),
        }
    }

    /// Takes the kernel's mapping away, and its keys.
    #[cfg_attr(not(feature = "dm-crypt"), allow(dead_code, reason = "nothing is handed over then"))]
    pub(super) fn take_back(&mut self) -> Result<(), AttachError> {
        let Self::Kernel(Kernel { mapping, .. }) = self else { return Ok(()) };
        let Some(loaded) = &mapping else { return Ok(()) };
        match loaded.remove() {
            Err(busy @ AttachError::Busy { .. }) => Err(busy),
            done => {
                *mapping = None;
                done
            }
        }
    }

    /// Puts everything written on the medium, at the end; the kernel does so when a mapping goes.
    pub(super) fn flush(&self) -> Result<(), DeviceError> {
        match self {
            Self::Ours(device) => device.flush().and_then(|()| device.must_be_written()),
            Self::Waiting(_) | Self::Kernel(_) => Ok(()),
        }
    }

    pub(super) fn counters(&self) -> Counters {
        match self {
            Self::Ours(device) => device.counters(),
            Self::Waiting(_) => Counters::default(),
            Self::Kernel(kernel) => {
                let stat = kernel.stat();
                Counters {
                    reads: stat.reads,
                    bytes_read: stat.read_sectors.saturating_mul(512),
                    writes: stat.writes,
                    bytes_written: stat.written_sectors.saturating_mul(512),
                    flushes: stat.flushes,
                    writes_refused: 0,
                }
            }
        }
    }

    /// How long requests took; `counts` is what the kernel counts of the block device that a user has of it, if any,
    /// which had counted so much `before`.
    pub(super) fn latencies(&self, counts: Option<&File>, before: &KernelStat) -> Latencies {
        match self {
            Self::Ours(engine) => {
                let ours = Latencies::of(&engine.latency());
                match counts.and_then(KernelStat::read) {
                    Some(stat) => ours.with_device(&stat.since(before)),
                    None => ours,
                }
            }
            Self::Waiting(_) => Latencies::default(),
            Self::Kernel(kernel) => Latencies::default().with_device(&kernel.stat()),
        }
    }
}

impl Kernel {
    /// What the kernel counts; nothing before there is a mapping.
    fn stat(&self) -> KernelStat {
        let device = self.mapping.as_ref().map(Mapping::device);
        device.and_then(KernelStat::open).as_ref().and_then(KernelStat::read).unwrap_or_default()
    }
}
