//! A modelled drive that encrypts by itself: the virtual drive's protocol and keys with a real drive's timing.
//!
//! [`set_up`] makes one as its user would: it takes ownership, activates locking, locks the whole drive and
//! unlocks it again, all by the messages that a real drive gets. What comes out is a
//! [`ModelDrive`], a store like any other. What a drive's own engine takes is in the time that the model gives to a
//! request; [`Engine`] says whether this machine does its work, too.

use crate::config::{DriveConfig, Label};
use crate::drive::Drive;
use crate::error::DriveError;
use crate::store::DriveStore;
use crate::transport::VirtualTransport;
use keyway_model::{Clock, DriveModel, ModelDrive, SparseStore};
use keyway_secret::SecretBytes;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::{Credential, Host, HostError};
use keyway_sed::uid::authority;
use keyway_store::{Store, StoreError};
use std::sync::Arc;

/// Bytes of the generated owner's PIN: as many as a PIN can have.
const PIN_BYTES: usize = crate::keys::MAX_PIN;

/// Who does the work of the drive's cipher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// This machine: the blocks lie encrypted. A host that waits for a request waits for the model and not for the
    /// cipher; one that keeps a queue filled pays for it when it submits, as no host of a real drive does.
    Computed,
    /// Nobody: the blocks lie as they are. For measurements of what a host pays, which is nothing.
    InTheModel,
}

/// A modelled drive that is set up and unlocked.
pub struct Modelled {
    /// Its blocks, in the model's time.
    pub drive: ModelDrive,
    /// Its security, without delay: lock it, cycle its power, look into its discovery.
    pub security: Arc<Drive>,
    /// The owner's and first administrator's PIN.
    pub pin: SecretBytes,
}

/// Why a modelled drive could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ModelledError {
    /// The drive can't be made.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// It refused what makes it ready.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Makes a drive of that model whose encrypted blocks rest in `blocks`, and sets it up. Its size is that of
/// `blocks`, rounded down to whole 4096 bytes.
///
/// # Errors
/// A store that is too small or fails.
pub fn set_up(
    model: DriveModel,
    clock: Clock,
    engine: Engine,
    blocks: Arc<dyn Store>,
) -> Result<Modelled, ModelledError> {
    let block_bytes = model.sector_bytes;
    let label = Label { serial: "KWMODEL".into(), msid: "MODELLED".into(), psid: "MODELLED".into() };
    let count = blocks.size() / 4096 * 4096 / u64::from(block_bytes.max(1));
    let config = DriveConfig::opal(count, block_bytes, label);
    let tables = SparseStore::new(config.data_offset(), block_bytes);
    let medium = Split { tables, at: config.data_offset(), blocks };
    let medium = Arc::new(medium);
    let security = Arc::new(match engine {
        Engine::Computed => Drive::create(medium, &config)?,
        Engine::InTheModel => Drive::create_without_engine(medium, &config)?,
    });

    let mut pin = SecretBytes::zeroed(PIN_BYTES);
    getrandom::fill(&mut pin).map_err(|_| DriveError::NoRandom)?;
    let mut host = Host::open(Box::new(VirtualTransport::new(security.clone())))?;
    host.take_ownership(&pin)?;
    host.activate(&pin, &[])?;
    let mut session = host.locking(Some(Credential { authority: authority::admin(1), pin: &pin }))?;
    session.enable_locking(0, true)?;
    session.lock(0, Lock::Locked)?;
    session.lock(0, Lock::Unlocked)?;
    session.end()?;
    let drive = ModelDrive::over(model, clock, Box::new(DriveStore::new(security.clone())));
    Ok(Modelled { drive, security, pin })
}

/// A medium whose front, the drive's own tables, lies in memory, and whose blocks lie elsewhere.
struct Split {
    tables: SparseStore,
    /// Where the blocks begin.
    at: u64,
    blocks: Arc<dyn Store>,
}

impl Split {
    /// The store of an address. No request reaches from one into the other: tables and blocks are never
    /// asked for together.
    fn of(&self, offset: u64) -> (&dyn Store, u64) {
        match offset.checked_sub(self.at) {
            Some(inner) => (&*self.blocks, inner),
            None => (&self.tables, offset),
        }
    }
}

impl Store for Split {
    keyway_store::pass_on! { [blocks] flush sector_bytes is_read_only }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let (store, at) = self.of(offset);
        store.read_at(buf, at)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let (store, at) = self.of(offset);
        store.write_at(buf, at)
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        let (store, at) = self.of(offset);
        store.discard(at, len)
    }

    fn size(&self) -> u64 {
        self.at + self.blocks.size()
    }
}
