//! A protector by its name: its identifier, so much of its beginning as tells it from the others, or what kind it is.

use crate::error::{Error, Misuse};
use keyway_volume::bitlocker::{ChangeError, Guid, NotAGuid, Protection};
use std::path::Path;
use std::str::FromStr;

/// Less than this is no name.
const LEAST: usize = 4;

/// A protector's identifier, the beginning of one, or the name of a kind of which a volume has but one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectorName(Named);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    Beginning(String),
    Kind(Protection),
}

impl From<Guid> for ProtectorName {
    fn from(id: Guid) -> Self {
        Self(Named::Beginning(id.to_string()))
    }
}

impl FromStr for ProtectorName {
    type Err = NotAGuid;

    fn from_str(text: &str) -> Result<Self, NotAGuid> {
        if let Some(kind) = Protection::KNOWN.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text))
        {
            return Ok(Self(Named::Kind(kind)));
        }
        // As messages shorten them.
        let bare = text.trim_start_matches('{').trim_end_matches(['}', '…']).to_lowercase();
        let is_dash = |at| matches!(at, 8 | 13 | 18 | 23);
        let fits = bare.bytes().enumerate().all(|(at, byte)| match is_dash(at) {
            true => byte == b'-',
            false => byte.is_ascii_hexdigit(),
        });
        match fits && (LEAST..36).contains(&bare.len()) {
            true => Ok(Self(Named::Beginning(bare))),
            false => text.parse::<Guid>().map(Self::from),
        }
    }
}

impl ProtectorName {
    /// The one of a volume's protectors that it names.
    ///
    /// # Errors
    /// It names none, or several.
    pub(super) fn among(
        &self,
        path: &Path,
        all: impl Iterator<Item = (Guid, Protection)>,
    ) -> Result<Guid, Error> {
        let fits = |(id, kind): &(Guid, Protection)| match &self.0 {
            Named::Beginning(beginning) => id.to_string().starts_with(beginning),
            Named::Kind(named) => kind == named,
        };
        let found: Vec<Guid> = all.filter(fits).map(|(id, _)| id).collect();
        let path = path.to_owned();
        let several = || found.iter().map(Guid::to_string).collect::<Vec<_>>().join(", ");
        Err(match (found.as_slice(), self.0.clone()) {
            ([one], _) => return Ok(*one),
            ([], Named::Kind(kind)) => Misuse::NoneOfKind { path, kind }.into(),
            (_, Named::Kind(kind)) => Misuse::SeveralOfKind { path, kind, all: several() }.into(),
            ([], Named::Beginning(named)) => match named.parse() {
                Ok(whole) => Error::from(ChangeError::NoSuchProtector(whole)).at(&path),
                Err(_) => Misuse::NoSuchBeginning { path, named }.into(),
            },
            (_, Named::Beginning(named)) => Misuse::SeveralBeginSo { path, named, all: several() }.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 3] = [
        "8f595209-f5b9-49a0-85d4-cb8f80258c27",
        "8f595209-f5b9-49a0-85d4-cb8f80258c28",
        "8f59ffff-f5b9-49a0-85d4-cb8f80258c27",
    ];

    const KINDS: [Protection; 3] =
        [Protection::RecoveryPassword, Protection::RecoveryPassword, Protection::Password];

    fn found(name: &str) -> Result<String, String> {
        let all = IDS.map(|id| id.parse::<Guid>().expect("one"));
        let all = all.into_iter().zip(KINDS);
        let name: ProtectorName = name.parse().map_err(|e: NotAGuid| e.to_string())?;
        let found = name.among(Path::new("v"), all);
        found.map(|id| id.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_beginning_does_where_only_one_has_it() {
        for name in ["8f59f", "8F59FFFF", "{8f59ffff-f5", "8f59ffff…", IDS[2]] {
            assert_eq!(found(name).as_deref(), Ok(IDS[2]), "{name}");
        }
        let several = found("8f595209").expect_err("two of them");
        assert!(
            several.contains(IDS[0]) && several.contains(IDS[1]) && !several.contains(IDS[2]),
            "{several}"
        );
        assert!(found("abcd").expect_err("none").contains("begins with abcd"));
        assert!(found("00000000-0000-0000-0000-000000000000").expect_err("none").contains("00000000"));
        for none in ["", "8f5", "nosuch", "8f595209f5", "8f595209--"] {
            assert!(found(none).expect_err("no name").contains("is not a GUID"), "{none}");
        }
    }

    #[test]
    fn a_kind_does_where_there_is_one_of_it() {
        assert_eq!(found("password").as_deref(), Ok(IDS[2]));
        assert_eq!(found("Password").as_deref(), Ok(IDS[2]));
        let several = found("recovery-password").expect_err("two of them");
        assert!(several.contains(IDS[0]) && several.contains(IDS[1]), "{several}");
        assert!(found("tpm").expect_err("none").contains("no protector of the kind tpm"));
    }
}
