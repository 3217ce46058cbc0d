//! Which copies of a volume's header are in order.

use super::change::{other_copy, same_seal};
use super::change_error::ChangeError;
use super::create_header::get;
use super::header_location::HeaderLocation;
use super::unlock::{UnlockRequest, unlock};
use crate::info::Warning;
use keyway_store::{Store, StoreError};

/// One copy of a header, and what came of opening it.
#[derive(Debug)]
pub struct HeaderCheck {
    /// Where it lies.
    pub place: HeaderLocation,
    /// What came of it.
    pub state: HeaderState,
}

/// What came of opening one copy of a header.
#[derive(Debug)]
pub enum HeaderState {
    /// It opens and says the same as the copy that opened first.
    Good,
    /// It opens, but says something else: other sizes or other master keys.
    Differs,
    /// It does not open with this secret and the key derivation of the other copy: it is damaged,
    /// or has another secret.
    DoesNotOpen,
    /// It can't be read.
    Unreadable(StoreError),
    /// The file or device ends before it, and was longer when the volume was made.
    CutOff,
    /// The volume has no such copy.
    Absent,
}

/// Opens the volume and looks at both copies of the header that its secret opens, the main one
/// first. A hidden volume's headers are found with the hidden volume's secret.
///
/// # Errors
/// No copy opens.
pub fn check(store: &dyn Store, request: &UnlockRequest<'_>) -> Result<Vec<HeaderCheck>, ChangeError> {
    let unlocked = unlock(store, request)?;
    let opened = unlocked.opened();
    let mut checks = vec![HeaderCheck { place: opened.place, state: HeaderState::Good }];
    match (other_copy(opened, store.size())?, opened.place.backup()) {
        (Some(place), _) => {
            let password = request.secrets.header_password(opened.header.format)?;
            let offset = place.offset(store.size()).unwrap_or(0);
            let state = match get(store, offset) {
                Err(e) => HeaderState::Unreadable(e),
                Ok(sealed) => match same_seal(opened, &password).open(&sealed)? {
                    None => HeaderState::DoesNotOpen,
                    Some(other) if other.serialise().same_as(&opened.header.serialise()) => HeaderState::Good,
                    Some(_) => HeaderState::Differs,
                },
            };
            checks.push(HeaderCheck { place, state });
        }
        (None, Some(place)) => {
            let cut = unlocked.warnings.contains(&Warning::NoBackupHeaders);
            let state = if cut { HeaderState::CutOff } else { HeaderState::Absent };
            checks.push(HeaderCheck { place, state });
        }
        (None, None) => {}
    }
    checks.sort_by_key(|check| check.place.is_backup());
    Ok(checks)
}
