//! Which copies of a header are in order.

use crate::error::Error;
use crate::locked::LockedVolume;
use crate::searching::Searched;
use crate::unlock::Family;
use keyway_volume::bitlocker::{self, CopyState, Metadata, UnlockRequest};
use keyway_volume::veracrypt::{self, HeaderCheck, HeaderState};

/// What came of looking at every copy.
#[non_exhaustive]
pub enum Checked {
    /// The headers of a VeraCrypt or TrueCrypt volume.
    VeraCrypt(Vec<HeaderCheck>),
    /// The metadata of a BitLocker volume.
    BitLocker(Box<BitLockerChecked>),
}

/// The metadata of a BitLocker volume, copy by copy.
#[non_exhaustive]
pub struct BitLockerChecked {
    /// All of it.
    pub metadata: Metadata,
    /// The first sector says what it must.
    pub first_sector: bool,
    /// The state of each copy.
    pub states: Vec<CopyState>,
    /// The copy that counts was last written by somebody who had the volume's key; `None` where no secret was named.
    pub authentic: Option<bool>,
}

impl Checked {
    /// Whether everything is in order.
    pub fn is_good(&self) -> bool {
        match self {
            Self::VeraCrypt(headers) => {
                headers.iter().all(|header| matches!(header.state, HeaderState::Good | HeaderState::Absent))
            }
            Self::BitLocker(checked) => {
                checked.first_sector && checked.states.iter().all(|state| *state == CopyState::Good)
            }
        }
    }
}

/// Looks at every copy of a header. A BitLocker volume needs no secret for that; one that was named also finds out whether
/// the metadata is authentic.
///
/// # Errors
/// The volume can't be read, or no copy of a header opens.
pub fn check(volume: &LockedVolume<'_>) -> Result<Checked, Error> {
    match super::family(volume)? {
        Family::BitLocker => of_bitlocker(volume).map(Box::new).map(Checked::BitLocker),
        Family::VeraCrypt => of_veracrypt(volume).map(Checked::VeraCrypt),
    }
}

fn of_veracrypt(volume: &LockedVolume<'_>) -> Result<Vec<HeaderCheck>, Error> {
    let secret = volume.veracrypt_key()?;
    let store = volume.to_look()?;
    let drive = volume.system_drive()?;
    let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref());
    veracrypt::check(&store, &request).map_err(|e| volume.said(e))
}

fn of_bitlocker(volume: &LockedVolume<'_>) -> Result<BitLockerChecked, Error> {
    let store = volume.to_look()?;
    // Where the first sector is damaged, that is what is to be told.
    let searched = Searched::new(&store, volume.progress);
    let named = volume.sources.names_bitlocker() || volume.sources.password.is_given();
    let (metadata, authentic) = if named {
        let secrets = volume.bitlocker_key()?;
        let request = UnlockRequest { search: true, ..UnlockRequest::new(&secrets) };
        let opened = bitlocker::unlock(&searched, &request).map_err(Error::from);
        let opened = searched.unless_stopped(opened).map_err(|e| volume.said(e))?.opened;
        let authentic = opened.metadata.block().is_authentic(&opened.master);
        (opened.metadata, Some(authentic))
    } else {
        let found = bitlocker::find(&searched).map_err(Error::from);
        (searched.unless_stopped(found).map_err(|e| volume.said(e))?.metadata, None)
    };
    let first_sector = metadata.first_sector_is_good(&store);
    let states = metadata.states().to_vec();
    Ok(BitLockerChecked { metadata, first_sector, states, authentic })
}
