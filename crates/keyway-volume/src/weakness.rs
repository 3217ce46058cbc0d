//! New passwords that are easily guessed: told wherever one is set, and never refused.

use crate::{HashName, Secrets};
use std::fmt;

/// VeraCrypt takes fewer iterations than usual only with so many bytes of password (its documentation, "PIM").
const LONG_PASSWORD: usize = 20;

/// The PIM that stands for VeraCrypt's usual number of iterations.
const DEFAULT_PIM: u32 = 485;

/// Less than this is found by trying, whatever each try costs: eight letters and digits have 48 bits.
const SHORT_PASSWORD: usize = 12;

/// What makes a password easy to guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weakness {
    /// It is short.
    Short,
    /// It is not long, and has few iterations.
    SmallPim,
}

impl Weakness {
    /// Of a VeraCrypt volume's secret. A keyfile can't be guessed.
    pub fn of_secrets(secrets: &Secrets, hash: HashName) -> Option<Self> {
        Self::beside(&secrets.password, !secrets.keyfiles.is_empty(), secrets.pim, hash)
    }

    /// The same of a password, beside keyfiles or none, and a PIM.
    pub fn beside(password: &[u8], keyfiles: bool, pim: Option<u32>, hash: HashName) -> Option<Self> {
        let pim = pim.filter(|pim| *pim > 0).unwrap_or(DEFAULT_PIM);
        let few = pim < DEFAULT_PIM && hash != HashName::Argon2id;
        let guessed = !password.is_empty() || !keyfiles;
        if few && guessed && password.len() < LONG_PASSWORD {
            return Some(Self::SmallPim);
        }
        if keyfiles { None } else { Self::of_password(password) }
    }

    /// Of a password alone, with as many iterations as its format has.
    pub fn of_password(password: &[u8]) -> Option<Self> {
        (password.len() < SHORT_PASSWORD).then_some(Self::Short)
    }
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "a password of less than 12 bytes can be found by trying; take a longer one",
            Self::SmallPim => {
                "a password of less than 20 bytes with a PIM below 485 is easier to guess; take a longer one"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_secret::SecretBytes;

    #[test]
    fn length_iterations_and_keyfiles_count() {
        let of = |bytes: usize, pim, keyfile: bool, hash| {
            let keyfiles = if keyfile { vec!["key".into()] } else { Vec::new() };
            Weakness::of_secrets(&Secrets { password: SecretBytes::zeroed(bytes), keyfiles, pim }, hash)
        };
        let sha = HashName::Sha512;
        assert_eq!((of(11, None, false, sha), of(12, None, false, sha)), (Some(Weakness::Short), None));
        assert_eq!(
            (of(19, Some(1), false, sha), of(20, Some(1), false, sha)),
            (Some(Weakness::SmallPim), None)
        );
        assert_eq!((of(19, Some(0), false, sha), of(19, Some(485), false, sha)), (None, None));
        assert_eq!(of(19, Some(1), false, HashName::Argon2id), None);
        assert_eq!(of(0, Some(1), true, sha), None);
        assert_eq!((of(0, None, true, sha), of(5, Some(1), true, sha)), (None, Some(Weakness::SmallPim)));
    }
}
