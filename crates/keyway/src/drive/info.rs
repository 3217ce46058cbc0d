//! What a drive says of itself to anybody.

use super::contents::{DriveContents, words};
use super::feature::FeatureInfo;
use super::handle::Drive;
use super::range_locks::RangeLocks;
use crate::error::Error;
use keyway_error::{Explain, Kind};
use keyway_sed::discovery::{Discovery, Feature};
use keyway_sed::host::enterprise::Band;
use keyway_sed::protocols::IEEE_1667;
use keyway_sed::transport::Interface;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a drive's own encryption is called, as Windows does.
pub const HARDWARE_ENCRYPTION: &str = "Hardware Encryption";

/// Where a drive is between factory and locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LockState {
    /// Locking is not in use.
    Factory,
    /// Locking is in use, and everything is unlocked.
    Unlocked,
    /// Something is locked.
    Locked,
}

/// Everything that a drive says of itself.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DriveInfo {
    /// Always `opal`: the family of standards.
    pub format: &'static str,
    /// Its device or file.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// How it is connected.
    #[serde(serialize_with = "words")]
    pub interface: Interface,
    /// Its model.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// Its firmware's revision.
    pub firmware: String,
    /// The standards that it keeps to, the one that is spoken here first.
    pub standards: Vec<&'static str>,
    /// Its state; `None` where it can't lock.
    pub state: Option<LockState>,
    /// [`HARDWARE_ENCRYPTION`] where it encrypts.
    pub encryption_method: Option<&'static str>,
    /// No drive tells its cipher here.
    pub cipher: Option<&'static str>,
    /// Locking is in use.
    pub locking_enabled: bool,
    /// Something is locked.
    pub locked: bool,
    /// The MBR shadow is shown after power cycles.
    pub shadow_enabled: bool,
    /// The MBR shadow has done its work for now.
    pub shadow_done: bool,
    /// Firmware has blocked the owner until the next power cycle.
    pub sid_blocked: bool,
    /// The security protocols that it speaks, as `0x01`; empty where it does not tell.
    pub security_protocols: Vec<String>,
    /// It speaks IEEE 1667, by which Windows drives an encrypted drive.
    pub ieee_1667: bool,
    /// What ranges there can be; `None` where it tells only those whom it knows.
    pub limits: Option<Limits>,
    /// The bands of a drive of the Enterprise standard.
    pub bands: Option<Bands>,
    /// What is on it that has to do with encryption.
    pub contents: Option<DriveContents>,
    /// What it can do, in its own order.
    pub features: Vec<FeatureInfo>,
}

/// What ranges a drive can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Limits {
    /// Ranges besides the global one.
    pub ranges: u16,
    /// Bytes of a block, where it tells.
    pub block_bytes: Option<u64>,
    /// Blocks that starts and lengths are multiples of.
    pub alignment_blocks: u64,
    /// The first aligned block.
    pub lowest_aligned_block: u64,
}

/// The bands of a drive of the Enterprise standard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bands {
    /// How many there can be besides the global one, where it tells.
    pub most: Option<u16>,
    /// Those that it tells of, the global one first.
    pub bands: Vec<BandInfo>,
}

/// A band.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BandInfo {
    /// Its number; 0 is everything that no other covers.
    pub band: u16,
    /// Where it lies, and how it is locked.
    #[serde(flatten)]
    pub locks: RangeLocks,
    /// Who rules it.
    pub authority: String,
    /// Whether that one may be used, where the drive tells.
    pub authority_enabled: Option<bool>,
}

impl From<&Band> for BandInfo {
    fn from(Band { range, master_enabled }: &Band) -> Self {
        let mut locks = RangeLocks::from(range);
        locks.read_locked &= locks.read_lock_enabled;
        locks.write_locked &= locks.write_lock_enabled;
        Self {
            band: range.number,
            locks,
            authority: format!("BandMaster{}", range.number),
            authority_enabled: *master_enabled,
        }
    }
}

/// The standards that a drive keeps to, the one we speak first.
pub(super) fn standards(discovery: &Discovery) -> Vec<&'static str> {
    let is_ssc = |feature: &&Feature| {
        matches!(
            feature,
            Feature::OpalV2(_)
                | Feature::Ruby(_)
                | Feature::OpalV1(_)
                | Feature::Opalite(_)
                | Feature::PyriteV2(_)
                | Feature::PyriteV1(_)
                | Feature::Enterprise(_)
        )
    };
    discovery.features.iter().filter(is_ssc).map(Feature::name).collect()
}

impl Drive {
    /// Where it is between factory and locked; `None` where it can't lock.
    pub fn state(&self) -> Option<LockState> {
        let locking = self.discovery().locking().filter(|l| l.supported)?;
        Some(match (locking.enabled, locking.locked) {
            (false, _) => LockState::Factory,
            (true, false) => LockState::Unlocked,
            (true, true) => LockState::Locked,
        })
    }

    /// Whether it encrypts what is on it, and does not only lock it.
    pub fn encrypts(&self) -> bool {
        self.discovery().locking().is_some_and(|l| l.media_encryption)
    }

    /// [`HARDWARE_ENCRYPTION`] where it encrypts.
    pub fn encryption_method(&self) -> Option<&'static str> {
        self.encrypts().then_some(HARDWARE_ENCRYPTION)
    }

    /// Everything that it says of itself; no secret is needed. What it does not tell anybody is left out.
    pub fn info(&mut self) -> DriveInfo {
        let limits = self.limits();
        let bands = self.bands();
        // Not every drive has the list; that is no failure of this.
        let spoken = self.host.protocols().unwrap_or_default();
        let (id, discovery) = (self.identity().clone(), self.discovery());
        let locking = discovery.locking().copied().unwrap_or_default();
        DriveInfo {
            format: "opal",
            device: self.path.clone(),
            interface: id.interface,
            model: id.model,
            serial: id.serial,
            firmware: id.firmware,
            standards: standards(discovery),
            state: self.state(),
            encryption_method: self.encryption_method(),
            cipher: None,
            locking_enabled: locking.enabled,
            locked: locking.locked,
            shadow_enabled: locking.mbr_enabled,
            shadow_done: locking.mbr_done,
            sid_blocked: discovery.block_sid().is_some_and(|b| b.blocked),
            security_protocols: spoken.iter().map(|p| format!("{p:#04x}")).collect(),
            ieee_1667: spoken.contains(&IEEE_1667),
            limits,
            bands,
            contents: DriveContents::of(&self.path),
            features: discovery.features.iter().map(FeatureInfo::from).collect(),
        }
    }

    /// What it tells everybody about its ranges, where its Locking SP is in use; not every drive does.
    pub(super) fn limits(&mut self) -> Option<Limits> {
        if !self.is_enabled() {
            return None;
        }
        let mut session = self.host.locking(None).ok()?;
        let limits = session.range_limits().ok()?;
        session.end().ok()?;
        Some(Limits {
            ranges: limits.ranges,
            block_bytes: limits.block_bytes,
            alignment_blocks: limits.alignment,
            lowest_aligned_block: limits.lowest_aligned,
        })
    }

    /// What a drive of the Enterprise standard tells everybody about its bands.
    fn bands(&mut self) -> Option<Bands> {
        if !self.discovery().speaks_enterprise() {
            return None;
        }
        let told = self.host.bands().ok()?;
        Some(Bands { most: told.most, bands: told.bands.iter().map(BandInfo::from).collect() })
    }
}

/// One of a machine's drives, as far as it says.
#[derive(Debug, Serialize, Default)]
#[non_exhaustive]
pub struct ListedDrive {
    /// Its device.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// Its model.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Its firmware's revision.
    pub firmware: Option<String>,
    /// The standards that it keeps to.
    pub standards: Vec<&'static str>,
    /// Its state; `None` where it can't lock, or nothing is known.
    pub state: Option<LockState>,
    /// [`HARDWARE_ENCRYPTION`] where it encrypts.
    pub encryption_method: Option<&'static str>,
    /// What is on it that has to do with encryption.
    pub contents: Option<DriveContents>,
    /// Why nothing is known, without the drive's name.
    pub reason: Option<String>,
    /// The same as an error.
    #[serde(skip)]
    pub error: Option<Error>,
}

impl From<Drive> for ListedDrive {
    fn from(drive: Drive) -> Self {
        let id = drive.identity().clone();
        Self {
            model: Some(id.model),
            serial: Some(id.serial),
            firmware: Some(id.firmware),
            standards: standards(drive.discovery()),
            state: drive.state(),
            encryption_method: drive.encryption_method(),
            contents: DriveContents::of(&drive.path),
            device: drive.path,
            reason: None,
            error: None,
        }
    }
}

/// These drives; where none is named, all of this machine's NVMe, SATA and SAS drives.
///
/// # Errors
/// This user may ask none of them: that is no list.
pub fn list(devices: &[PathBuf]) -> Result<Vec<ListedDrive>, Error> {
    let all = if devices.is_empty() { drives() } else { devices.to_vec() };
    let listed = all.into_iter().map(|device| match Drive::open(&device) {
        Ok(drive) => drive.into(),
        Err(error) => {
            let what = match &error {
                Error::Drive(e) => e.diagnosis().map(|told| told.what.clone()),
                _ => None,
            };
            let reason = Some(what.unwrap_or_else(|| error.to_string()));
            ListedDrive { device, reason, error: Some(error), ..ListedDrive::default() }
        }
    });
    let mut listed: Vec<_> = listed.collect();
    if listed.iter().all(|drive| drive.error.is_some()) {
        let errors = listed.iter_mut().filter_map(|drive| drive.error.take());
        if let Some(denied) = errors.filter(|error| error.explain().kind == Kind::NotPermitted).last() {
            return Err(denied);
        }
    }
    Ok(listed)
}

/// Whole disks whose drivers take security commands.
fn drives() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.starts_with("nvme") || name.starts_with("sd"));
    names.sort();
    names.iter().map(|name| Path::new("/dev").join(name)).collect()
}
