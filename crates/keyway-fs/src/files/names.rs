//! Paths inside a volume, and which names on a medium may become names here.

use super::error::FilesError;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Longest name that Linux takes, in bytes (`NAME_MAX`).
const NAME_MAX: usize = 255;

/// Cuts a path inside a volume into names: `/a/b`, `a/b` and `//a/./b/` are the same. `..` is refused.
pub fn parse(path: &OsStr) -> Result<Vec<OsString>, FilesError> {
    let mut names = Vec::new();
    for name in path.as_bytes().split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => return Err(FilesError::NotAPath(path.to_owned())),
            name => names.push(OsString::from_vec(name.to_vec())),
        }
    }
    Ok(names)
}

/// Whether a name from a medium may become a name in a folder here: one name, not a path, and none
/// that means another folder.
pub(crate) fn is_safe(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    !matches!(bytes, b"" | b"." | b"..")
        && bytes.len() <= NAME_MAX
        && !bytes.iter().any(|byte| matches!(byte, 0 | b'/'))
}

/// A name as file systems of Windows compare it.
pub(crate) fn folded(name: &OsStr) -> String {
    name.to_string_lossy().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_into_names() {
        let of = |text: &str| parse(OsStr::new(text)).ok();
        let names = |list: &[&str]| Some(list.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("/a/b c/"), names(&["a", "b c"]));
        assert_eq!(of("a//./b"), names(&["a", "b"]));
        assert_eq!(of("/"), names(&[]));
        assert_eq!(of("a/../b"), None);
    }

    #[test]
    fn names_that_lead_elsewhere_are_not_safe() {
        for bad in ["", ".", "..", "a/b", "/etc", "a\0b", "../x"] {
            assert!(!is_safe(OsStr::new(bad)), "{bad:?}");
        }
        assert!(!is_safe(OsStr::new(&"x".repeat(256))));
        for good in ["a", "...", "-rf", "a b", "ü", ".hidden"] {
            assert!(is_safe(OsStr::new(good)), "{good:?}");
        }
    }
}
