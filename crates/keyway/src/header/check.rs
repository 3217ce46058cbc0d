//! Which copies of a header are in order.

use super::family::family;
use crate::detect::{cut_off, must_be_noise};
use crate::error::Error;
use crate::locked::LockedVolume;
use crate::log_file;
use crate::searching::Searched;
use crate::unlock::Family;
use keyway_volume::VolumeError;
use keyway_volume::bitlocker::{self, BootFault, CopyInfo, CopyState, UnlockRequest};
use keyway_volume::veracrypt::{self, ChangeError, HeaderCheck, HeaderFault, HeaderLocation, HeaderState};
use serde::Serialize;

/// What came of looking at every copy.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// Everything is in order.
    pub good: bool,
    /// What its owner should know besides.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// What only one format has.
    #[serde(flatten)]
    pub details: CheckedDetails,
}

/// What came of looking at every copy, of one format.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CheckedDetails {
    /// A VeraCrypt or TrueCrypt volume.
    VeraCrypt {
        /// Its headers.
        headers: Vec<CheckedHeader>,
    },
    /// A BitLocker volume.
    BitLocker {
        /// The first sector says what it must.
        first_sector: bool,
        /// The copies of the metadata.
        metadata_copies: Vec<CopyInfo>,
        /// The copy that counts was last written by somebody who had the volume's key; `None` where no secret was named.
        authentic: Option<bool>,
        /// Why the first sector does not tell where they are.
        #[serde(skip)]
        lost: Option<BootFault>,
        /// Only a part of it is lost.
        #[serde(skip)]
        lost_in_part: bool,
    },
}

/// A header of a VeraCrypt or TrueCrypt volume.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedHeader {
    /// Which.
    pub place: HeaderLocation,
    /// "good", "differs", "does-not-open", "unreadable", "cut-off" or "absent".
    pub state: &'static str,
    /// More of that.
    pub reason: Option<String>,
}

impl From<HeaderCheck> for CheckedHeader {
    fn from(check: HeaderCheck) -> Self {
        let (state, reason) = match &check.state {
            HeaderState::Good => ("good", None),
            HeaderState::Differs => ("differs", Some("it describes another volume".to_owned())),
            HeaderState::DoesNotOpen => {
                ("does-not-open", Some("it is damaged, or has another secret".to_owned()))
            }
            HeaderState::Unreadable(e) => ("unreadable", Some(e.to_string())),
            HeaderState::CutOff => ("cut-off", Some("the file or device ends before it".to_owned())),
            HeaderState::Absent => ("absent", Some("this volume keeps no copy there".to_owned())),
        };
        Self { place: check.place, state, reason }
    }
}

impl CheckedHeader {
    /// Nothing is wrong with it.
    pub fn is_good(&self) -> bool {
        matches!(self.state, "good" | "absent")
    }
}

/// Looks at every copy of a header. A BitLocker volume needs no secret for that; one that was named also finds out whether
/// the metadata is authentic.
///
/// # Errors
/// The volume can't be read, or no copy of a header opens.
pub fn check(volume: &LockedVolume<'_>) -> Result<Checked, Error> {
    let look = || match family(volume)? {
        Family::BitLocker => of_bitlocker(volume),
        Family::VeraCrypt => of_veracrypt(volume),
    };
    log_file::step("header check", &volume.path, look, |checked| {
        if checked.good { "in order".to_owned() } else { "not in order".to_owned() }
    })
}

fn of_veracrypt(volume: &LockedVolume<'_>) -> Result<Checked, Error> {
    must_be_noise(&volume.path, &volume.arguments)?;
    let confining = volume.confining()?;
    let secret = volume.asking(&confining).veracrypt_key()?;
    let store = volume.to_look()?;
    let drive = volume.system_drive()?;
    confining.enter_before(&secret)?;
    let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref(), &volume.progress);
    let headers = veracrypt::check(&store, &request).map_err(|e| volume.said(e))?;
    let headers: Vec<_> = headers.into_iter().map(CheckedHeader::from).collect();
    let good = headers.iter().all(CheckedHeader::is_good);
    Ok(Checked { good, warnings: Vec::new(), details: CheckedDetails::VeraCrypt { headers } })
}

fn of_bitlocker(volume: &LockedVolume<'_>) -> Result<Checked, Error> {
    let (confining, store) = (volume.confining()?, volume.to_look()?);
    // Where the first sector is damaged, that is what is to be told.
    let searched = Searched::new(&store, volume.progress);
    let named = volume.sources.names_bitlocker() || volume.sources.password.is_given();
    let (metadata, warnings, authentic) = if named {
        let secrets = volume.asking(&confining).bitlocker_key()?;
        confining.enter_before(&*secrets)?;
        let request = UnlockRequest { search: true, ..UnlockRequest::new(&secrets) };
        let opened = bitlocker::unlock(&searched, &request).map_err(Error::from);
        let unlocked = searched.unless_stopped(opened).map_err(|e| volume.said(e))?;
        let opened = unlocked.opened;
        let authentic = opened.metadata.block().is_authentic(&opened.master);
        (opened.metadata, unlocked.warnings, Some(authentic))
    } else {
        confining.enter()?;
        let found = bitlocker::find(&searched).map_err(Error::from);
        let locked = searched.unless_stopped(found).map_err(|e| volume.said(e))?;
        (locked.metadata, locked.warnings, None)
    };
    let first_sector = metadata.first_sector_is_good(&store);
    let copies = metadata.copies.iter().zip(metadata.states());
    let metadata_copies: Vec<_> =
        copies.map(|(copy, state)| CopyInfo { offset: copy.offset, state }).collect();
    let good = first_sector && metadata_copies.iter().all(|copy| copy.state == CopyState::Good);
    let (lost, lost_in_part) = (metadata.lost_boot, metadata.lost_in_part);
    let details = CheckedDetails::BitLocker { first_sector, metadata_copies, authentic, lost, lost_in_part };
    // All else is in the table.
    let warnings = cut_off(&warnings).into_iter().collect();
    Ok(Checked { good, warnings, details })
}

/// Whether it says that no copy of a VeraCrypt volume's header opens, and that all of the volume is there.
pub fn none_opens(error: &Error) -> bool {
    let error = match error {
        Error::At { error, .. } => error,
        other => other,
    };
    matches!(
        error,
        Error::Header(ChangeError::Open(VolumeError::DamagedHeader { place: HeaderLocation::Primary | HeaderLocation::Hidden, fault }))
            if !matches!(fault, HeaderFault::BeyondEnd { .. })
    )
}
