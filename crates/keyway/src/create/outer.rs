//! What is said of the outer volume that does not open, around which a hidden one is to be made.

use crate::error::Error;
use keyway_volume::VolumeError;
use keyway_volume::veracrypt::CreateError;

impl Error {
    /// The same, where the outer volume is what did not open: what narrowed its search has a name of its own there, since
    /// `hash` is the new volume's.
    pub(crate) fn of_outer(self) -> Self {
        match self {
            Self::VeraCrypt(error) => Self::VeraCrypt(outer_options(error)),
            Self::Create(CreateError::Volume(error)) => {
                Self::Create(CreateError::Volume(outer_options(error)))
            }
            Self::At { path, error } => Self::At { path, error: Box::new(error.of_outer()) },
            other => other,
        }
    }
}

fn outer_options(mut error: VolumeError) -> VolumeError {
    if let VolumeError::WrongSecret { narrowed, .. } = &mut error {
        narrowed.iter_mut().filter(|what| **what == "hash").for_each(|what| *what = "outer-hash");
    }
    error
}

#[cfg(test)]
mod tests {
    use crate::create::{NewPlace, VeraCryptOptions};
    use crate::{SecretBytes, VeraCryptSecret};
    use keyway_error::{Explain, Kind};
    use keyway_volume::HashName;

    fn secret(password: &[u8]) -> VeraCryptSecret {
        VeraCryptSecret { password: SecretBytes::copy_of(password), keyfiles: Vec::new(), pim: Some(1) }
    }

    #[test]
    fn a_wrong_hash_of_the_outer_volume_is_named_by_its_own_option() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("v.hc");
        let place = NewPlace::file(&path, 2 << 20, false).expect("room");
        let (outer, hidden) =
            (secret(b"more than twenty letters, outside"), secret(b"more than twenty letters, inside"));
        let mut options = VeraCryptOptions { quick: true, ..VeraCryptOptions::default() };
        options.create(&place, &outer, &()).expect("made");
        options.outer_hash = Some(HashName::Sha256);
        let error =
            options.create_hidden(&path, 512 << 10, Some(&outer), &hidden, &()).expect_err("it has SHA-512");
        let meaning = error.explain();
        assert_eq!(meaning.kind, Kind::WrongSecret);
        let advice = serde_json::to_value(&meaning.advice).expect("JSON");
        let named = advice.as_array().into_iter().flatten().filter_map(|one| one.get("what")?.as_str());
        assert_eq!(named.collect::<Vec<_>>(), ["outer-hash"]);
    }
}
