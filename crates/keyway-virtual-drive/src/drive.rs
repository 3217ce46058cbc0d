//! A drive under power: what a controller needs of it.

use super::config::DriveConfig;
use super::error::DriveError;
use super::fault::Fault;
use super::media::{IoError, Media};
use super::slots::Slots;
use super::state::State;
use super::tper::Tper;
use keyway_sed::SecurityError;
use keyway_sed::discovery::Discovery;
use keyway_store::Store;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A drive under power.
pub struct Drive {
    store: Arc<dyn Store>,
    tper: Mutex<Tper>,
    /// Read by every access to blocks for as long as it takes; written when something is locked or unlocked.
    media: RwLock<Media>,
    power_cycles: AtomicU64,
}

impl Drive {
    /// Makes a drive on a medium, whatever was there before.
    ///
    /// # Errors
    /// A configuration that can't be, a medium that is too small or fails.
    pub fn create(store: Arc<dyn Store>, config: &DriveConfig) -> Result<Self, DriveError> {
        if let Some(fault) = config.fault() {
            return Err(DriveError::Config(fault));
        }
        let (needed, present) = (config.medium_bytes(), store.size());
        if present < needed {
            return Err(DriveError::TooSmall { needed, present });
        }
        let state = State::factory(config).map_err(|_| DriveError::NoRandom)?;
        Slots::fresh().save(&*store, state.encode().as_bytes())?;
        Self::open(store)
    }

    /// As [`Drive::create`], a drive whose blocks are left as they are: whoever gives it a drive's time has the work
    /// of its cipher in that. Everything else is as in any drive, locks included.
    ///
    /// # Errors
    /// As [`Drive::create`].
    #[cfg(feature = "modelled")]
    pub(crate) fn create_without_engine(
        store: Arc<dyn Store>,
        config: &DriveConfig,
    ) -> Result<Self, DriveError> {
        let drive = Self::create(store, config)?;
        {
            let mut tper = drive.tper.lock().unwrap_or_else(PoisonError::into_inner);
            let mut media = drive.media.write().unwrap_or_else(PoisonError::into_inner);
            tper.stop_engine(&mut media)?;
        }
        Ok(drive)
    }

    /// Powers a drive up that was made before.
    ///
    /// # Errors
    /// A medium that holds none, or fails.
    pub fn open(store: Arc<dyn Store>) -> Result<Self, DriveError> {
        let (tper, media) = power_up(&store, None)?;
        let power_cycles = AtomicU64::new(0);
        Ok(Self { store, tper: Mutex::new(tper), media: RwLock::new(media), power_cycles })
    }

    /// Takes the power away and gives it back.
    ///
    /// # Errors
    /// As [`Drive::open`]; the drive has failed then, and everything is locked.
    pub fn power_cycle(&self) -> Result<(), DriveError> {
        let mut tper = self.tper.lock().unwrap_or_else(PoisonError::into_inner);
        let mut media = self.media.write().unwrap_or_else(PoisonError::into_inner);
        self.power_cycles.fetch_add(1, Ordering::AcqRel);
        let powered =
            self.store.flush().map_err(DriveError::from).and_then(|()| power_up(&self.store, Some(&tper)));
        match powered {
            Ok(new) => (*tper, *media) = new,
            Err(error) => {
                tper.fail(&mut media);
                return Err(error);
            }
        }
        Ok(())
    }

    /// A reset that is no loss of power: a TCG reset event of type Hardware. Sessions, their transactions, and answers
    /// that wait are gone (Opal SSC 2.30, 3.3.5.1), and Block SID, if it was asked for so; nothing locks, for
    /// LockOnReset takes Power Cycle and Programmatic only (4.3.5.2.2).
    pub fn reset(&self) {
        self.tper.lock().unwrap_or_else(PoisonError::into_inner).hardware_reset();
    }

    /// How often its power was taken away and given back.
    pub fn power_cycles(&self) -> u64 {
        self.power_cycles.load(Ordering::Acquire)
    }

    /// Makes the firmware misbehave so, from now on and over power cycles, in place of what was switched on before.
    pub fn inject(&self, faults: &[Fault]) {
        self.tper.lock().unwrap_or_else(PoisonError::into_inner).inject(faults);
    }

    /// IF-SEND: a security protocol, a ComID (NVMe's SPSP, SCSI's security protocol specific) and bytes.
    ///
    /// # Errors
    /// What the drive refuses. What is wrong inside the bytes is answered inside the protocol, or dropped.
    pub fn security_send(&self, protocol: u8, com_id: u16, bytes: &[u8]) -> Result<(), SecurityError> {
        let mut tper = self.tper.lock().unwrap_or_else(PoisonError::into_inner);
        let mut media = self.media.write().unwrap_or_else(PoisonError::into_inner);
        tper.send(protocol, com_id, bytes, &mut media)
    }

    /// IF-RECV: what the drive has to say, at most `len` bytes. The controller pads with zeros.
    ///
    /// # Errors
    /// What the drive refuses.
    pub fn security_receive(&self, protocol: u8, com_id: u16, len: usize) -> Result<Vec<u8>, SecurityError> {
        self.tper.lock().unwrap_or_else(PoisonError::into_inner).receive(protocol, com_id, len)
    }

    /// What Level 0 discovery says.
    pub fn discovery(&self) -> Discovery {
        self.tper.lock().unwrap_or_else(PoisonError::into_inner).discovery()
    }

    /// What it was made as.
    pub fn config(&self) -> DriveConfig {
        self.tper.lock().unwrap_or_else(PoisonError::into_inner).state.config.clone()
    }

    /// Logical blocks.
    pub fn blocks(&self) -> u64 {
        self.media.read().unwrap_or_else(PoisonError::into_inner).blocks
    }

    /// Bytes of a logical block.
    pub fn block_bytes(&self) -> u32 {
        self.media.read().unwrap_or_else(PoisonError::into_inner).block_bytes
    }

    /// Reads whole blocks from `lba` on.
    ///
    /// # Errors
    /// A range that is locked; nothing of it is in `buf` then.
    pub fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), IoError> {
        self.media.read().unwrap_or_else(PoisonError::into_inner).read(&*self.store, lba, buf)
    }

    /// Writes whole blocks from `lba` on.
    ///
    /// # Errors
    /// A range that is locked; nothing was written then.
    pub fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), IoError> {
        self.media.read().unwrap_or_else(PoisonError::into_inner).write(&*self.store, lba, bytes)
    }

    /// Says that blocks are no longer needed; what they read as afterwards is not defined.
    ///
    /// # Errors
    /// As [`Drive::write`].
    pub fn discard(&self, lba: u64, blocks: u64) -> Result<(), IoError> {
        self.media.read().unwrap_or_else(PoisonError::into_inner).discard(&*self.store, lba, blocks)
    }

    /// Puts everything written on the medium.
    ///
    /// # Errors
    /// The medium's.
    pub fn flush(&self) -> Result<(), IoError> {
        Ok(self.store.flush().map_err(DriveError::from)?)
    }
}

fn power_up(store: &Arc<dyn Store>, before: Option<&Tper>) -> Result<(Tper, Media), DriveError> {
    let (slots, bytes) = Slots::load(&**store)?;
    let state = State::decode(&bytes)?;
    let (needed, present) = (state.config.medium_bytes(), store.size());
    if present < needed {
        return Err(DriveError::CutOff { needed, present });
    }
    Tper::new(store.clone(), state, slots, before)
}
