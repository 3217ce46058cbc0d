//! Which of a command's secrets is meant.

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
    /// A drive's.
    Drive,
    /// What replaces a drive's.
    NewOfDrive,
}

impl SecretRole {
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
