//! Names on a medium as names in a folder.

/// Longest name that is told, in bytes: 255 letters of UTF-16 (NTFS, exFAT, FAT) in UTF-8.
const LONGEST: usize = 765;

/// A name as one that a file can have: a slash and a zero byte stand as `%2F` and `%00`, and so does the dot of what would
/// mean another folder. `None` for what is no name at all.
pub(super) fn presentable(name: &[u8]) -> Option<Vec<u8>> {
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    if matches!(name, b"." | b"..") {
        return Some("%2E".repeat(name.len()).into_bytes());
    }
    if !name.iter().any(|byte| matches!(byte, 0 | b'/')) {
        return Some(name.to_vec());
    }
    let escaped = name.iter().flat_map(|byte| match byte {
        0 => b"%00".to_vec(),
        b'/' => b"%2F".to_vec(),
        other => vec![*other],
    });
    Some(escaped.collect::<Vec<_>>()).filter(|name| name.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_elsewhere() {
        let shown =
            |name: &str| presentable(name.as_bytes()).map(|name| String::from_utf8_lossy(&name).into_owned());
        for good in ["a", "...", "-rf", "a b", "ü", ".hidden", &"漢".repeat(255)] {
            assert_eq!(shown(good).as_deref(), Some(good));
        }
        assert_eq!(shown("../etc").as_deref(), Some("..%2Fetc"));
        assert_eq!((shown(".").as_deref(), shown("..").as_deref()), (Some("%2E"), Some("%2E%2E")));
        assert_eq!(shown("a\0b").as_deref(), Some("a%00b"));
        assert_eq!((shown(""), shown(&"x".repeat(766)), shown(&"/".repeat(300))), (None, None, None));
    }
}
