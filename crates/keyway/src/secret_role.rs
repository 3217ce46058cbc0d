//! Which of a command's secrets is meant.

use crate::secrets::Wanted;

/// Which of a command's secrets it is: what is missing is told apart by that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretRole {
    /// What opens the volume, or will open a new one.
    #[default]
    Own,
    /// What replaces it.
    New,
    /// A hidden volume's, beside the outer one's.
    Hidden,
    /// That of a hidden volume which must not be damaged.
    Protected,
    /// A drive's, or a BitLocker volume's: a password alone.
    Drive,
    /// What replaces such a one.
    NewOfDrive,
}

impl SecretRole {
    /// The same where that is wanted: a BitLocker volume has no keyfiles in a password's place, as a drive has none.
    pub(crate) const fn of(self, wanted: Wanted) -> Self {
        match (self, wanted) {
            (Self::Own, Wanted::NewBitLockerPassword) => Self::Drive,
            (Self::New, Wanted::NewBitLockerPassword) => Self::NewOfDrive,
            (own, _) => own,
        }
    }

    /// It is not there.
    pub(crate) const fn missing(self) -> &'static str {
        match self {
            Self::Own | Self::Drive => "no password",
            Self::New | Self::NewOfDrive => "no new password",
            Self::Hidden => "no password of the hidden volume",
            Self::Protected => "no password of the hidden volume that is to be protected",
        }
    }
}
