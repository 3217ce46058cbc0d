//! Who is asked for a secret, and for which.

use crate::error::Error;
use crate::shown::name_of;
use keyway_error::{Advice, Explain};
use keyway_secret::SecretBytes;
use keyway_sed::Authority;
use keyway_volume::bitlocker::check_password;
#[cfg(feature = "tpm")]
use keyway_volume::bitlocker::tpm::Pin;
use keyway_volume::{HashName, Weakness};
use std::fmt;
use std::path::{Path, PathBuf};

/// Somebody who can be asked for a secret.
///
/// A [`SecretBytes`] answers everything with itself; `()` answers nothing.
pub trait Secrets {
    /// The answer, or `None` where nobody can be asked: then what was named must do.
    ///
    /// # Errors
    /// Whatever went wrong while asking: [`Error::answer`].
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error>;

    /// Whether anybody can be asked: what could not be had is refused before anything else is done.
    fn can_answer(&self) -> bool {
        true
    }
}

/// What is asked for, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question<'a> {
    /// What is wanted.
    pub wanted: Wanted,
    /// What it opens.
    pub subject: &'a Subject,
    /// An empty one will do: there are keyfiles beside it.
    pub may_be_empty: bool,
    /// What is derived of a new password, where that is known.
    pub(crate) derived: Option<Derived>,
}

/// What a VeraCrypt volume's key will be derived of beside a new password, and how: what that counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Derived {
    /// The key derivation's hash.
    pub(crate) hash: HashName,
    /// The PIM.
    pub(crate) pim: Option<u32>,
    /// There are keyfiles.
    pub(crate) keyfiles: bool,
}

impl<'a> Question<'a> {
    /// One that something has to answer.
    pub(crate) const fn new(wanted: Wanted, subject: &'a Subject) -> Self {
        Self { wanted, subject, may_be_empty: false, derived: None }
    }

    /// The question itself, as it stands before a colon.
    pub fn words(&self) -> String {
        let of = self.subject;
        let asked = match self.wanted {
            Wanted::Password => format!("Password of {of}"),
            Wanted::NewPassword | Wanted::NewBitLockerPassword => format!("New password of {of}"),
            Wanted::RecoveryPassword => format!("Recovery password of {of}"),
            Wanted::Pin => format!("PIN of {of}"),
            Wanted::NewPin => format!("New PIN of {of}"),
            Wanted::Psid => "PSID on the drive's label".to_owned(),
        };
        if self.may_be_empty { asked + " (Enter for none)" } else { asked }
    }

    /// What a secret is called that is to be set; nothing of one that is in force.
    pub const fn new_one(&self) -> Option<&'static str> {
        match self.wanted {
            Wanted::NewPassword | Wanted::NewBitLockerPassword => Some("password"),
            Wanted::NewPin => Some("PIN"),
            _ => None,
        }
    }

    /// What makes a new password easy to guess that can be taken, which is better said before it is typed again.
    pub fn weakness(&self, new: &[u8]) -> Option<Weakness> {
        match (self.wanted, self.derived) {
            _ if self.refuses(new).is_some() => None,
            (Wanted::NewPassword, Some(Derived { hash, pim, keyfiles })) => {
                Weakness::beside(new, keyfiles, pim, hash)
            }
            (Wanted::NewBitLockerPassword, _) => Weakness::of_password(new),
            _ => None,
        }
    }

    /// Why a secret can't be taken, which is better said before it is typed again, or tried.
    pub fn refuses(&self, new: &[u8]) -> Option<String> {
        match self.wanted {
            _ if new.is_empty() && !self.may_be_empty => Some("nothing was typed".to_owned()),
            Wanted::NewBitLockerPassword => check_password(new).err().map(|why| {
                let lengths = why.advice().into_iter().find_map(|step| match step {
                    Advice::PasswordLengths { least, most } => Some((least, most)),
                    _ => None,
                });
                match lengths {
                    Some((least, most)) => format!("{why}, and BitLocker takes {least} to {most}"),
                    None => why.to_string(),
                }
            }),
            #[cfg(feature = "tpm")]
            Wanted::NewPin => Pin::new_to_set(new).err().map(|why| why.to_string()),
            _ => None,
        }
    }
}

/// A kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wanted {
    /// A password that is in force.
    Password,
    /// A password to be set: whoever asks a person asks twice.
    NewPassword,
    /// The same of a BitLocker volume, which does not take any.
    NewBitLockerPassword,
    /// A BitLocker volume's recovery password.
    RecoveryPassword,
    /// The PIN of a TPM's protector.
    Pin,
    /// A PIN to be set: whoever asks a person asks twice.
    NewPin,
    /// The secret on a drive's label (PSID).
    Psid,
}

/// What a secret opens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The volume at this path.
    Volume(PathBuf),
    /// The hidden volume in the one at this path.
    Hidden(PathBuf),
    /// The outer volume at this path, around a hidden one.
    Outer(PathBuf),
    /// A header's backup file: the secret that was in force when it was made.
    Backup(PathBuf),
    /// Somebody whom the drive at this path knows.
    Drive(PathBuf, Authority),
    /// Something with a name of its own.
    Named(String),
}

impl Subject {
    /// The volume's file or device, where it is a volume's.
    pub(super) fn volume(&self) -> Option<&Path> {
        match self {
            Self::Volume(path) | Self::Hidden(path) | Self::Outer(path) => Some(path),
            Self::Backup(_) | Self::Drive(..) | Self::Named(_) => None,
        }
    }
}

/// As it stands in a question.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volume(path) => f.write_str(&name_of(path)),
            Self::Hidden(path) => write!(f, "the hidden volume in {}", name_of(path)),
            Self::Outer(path) => write!(f, "the outer volume {}", name_of(path)),
            Self::Backup(path) => write!(f, "{} at the time of the backup", name_of(path)),
            Self::Drive(path, Authority::Sid) => write!(f, "the owner of {}", name_of(path)),
            Self::Drive(path, who) => write!(f, "{who} on {}", name_of(path)),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl Secrets for () {
    fn answer(&self, _: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        Ok(None)
    }

    fn can_answer(&self) -> bool {
        false
    }
}

impl Secrets for SecretBytes {
    fn answer(&self, _: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        Ok(Some(Self::copy_of(self)))
    }
}

impl<S: Secrets + ?Sized> Secrets for &S {
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        (**self).answer(question)
    }

    fn can_answer(&self) -> bool {
        (**self).can_answer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_easily_guessed_is_known_before_it_is_typed_again() {
        let subject = Subject::Named("it".to_owned());
        let derived = |hash, pim, keyfiles| Some(Derived { hash, pim, keyfiles });
        let weak = |wanted, derived, new: &[u8]| {
            Question { derived, ..Question::new(wanted, &subject) }.weakness(new)
        };
        let (new, sha) = (Wanted::NewPassword, HashName::Sha512);
        assert_eq!(weak(new, derived(sha, None, false), b"short"), Some(Weakness::Short));
        assert_eq!(weak(new, derived(sha, None, true), b"short"), None);
        assert_eq!(weak(new, derived(sha, Some(1), false), b"twelve bytes"), Some(Weakness::SmallPim));
        assert_eq!(weak(new, derived(HashName::Argon2id, Some(1), false), b"twelve bytes"), None);
        assert_eq!(weak(new, None, b"short"), None, "what a drive takes is another matter");
        assert_eq!(weak(Wanted::NewBitLockerPassword, None, b"12345678"), Some(Weakness::Short));
        assert_eq!(weak(Wanted::NewBitLockerPassword, None, b"1234567"), None, "it is not taken");
        assert_eq!(weak(Wanted::Password, derived(sha, None, false), b"short"), None);
    }

    #[test]
    fn what_can_not_be_taken_is_refused_with_what_can() {
        let subject = Subject::Named("it".to_owned());
        let refused = |wanted, new: &[u8]| Question::new(wanted, &subject).refuses(new);
        let told = refused(Wanted::NewBitLockerPassword, b"short");
        assert_eq!(told.as_deref(), Some("the password has 5 characters, and BitLocker takes 8 to 256"));
        assert_eq!(refused(Wanted::NewBitLockerPassword, b"long enough"), None);
        assert_eq!(refused(Wanted::NewPassword, b"short"), None);
        for wanted in
            [Wanted::NewPassword, Wanted::Password, Wanted::RecoveryPassword, Wanted::Pin, Wanted::Psid]
        {
            assert_eq!(refused(wanted, b"").as_deref(), Some("nothing was typed"), "{wanted:?}");
        }
        // Keyfiles alone may open it, and whoever is asked has to know that.
        let asked = |may_be_empty| Question { may_be_empty, ..Question::new(Wanted::Password, &subject) };
        assert_eq!(
            (asked(true).refuses(b""), asked(true).words()),
            (None, "Password of it (Enter for none)".into())
        );
        assert_eq!(asked(false).words(), "Password of it");
        if cfg!(feature = "tpm") {
            let told = refused(Wanted::NewPin, b"123");
            assert!(told.is_some_and(|told| told.ends_with("and this one has 3")));
            assert_eq!(refused(Wanted::NewPin, b"123456"), None);
        }
    }
}
