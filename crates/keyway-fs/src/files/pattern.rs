//! Patterns for paths in a volume: `*.jpg`, `/photos/**`, `/letters/20[12]?/*.pdf`.

use super::entry::{Contents, Entry, EntryKind, Problem};
use super::error::FilesError;
use super::names::folded;
use super::volume::Files;
use glob::Pattern as Glob;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// A pattern: names that are taken as they are, and behind them parts with wildcards.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: OsString,
    fixed: Vec<OsString>,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    /// `**`: any number of folders, none as well; at the end, everything.
    Any,
    /// One name: as it is written, and as file systems of Windows compare it.
    Name { exact: Glob, folded: Glob },
}

/// How far one is in a pattern, in some folder: which of its parts the next name may match.
#[derive(Debug, Clone)]
pub struct At(BTreeSet<usize>);

/// What a pattern takes of a folder.
#[derive(Debug)]
pub struct Matched {
    /// What it takes whole.
    pub entries: Vec<Entry>,
    /// Folders in which more may be that it takes, with how far one is in each.
    pub further: Vec<(Entry, At)>,
    /// What of the folder can't be told.
    pub problems: Vec<Problem>,
}

impl Pattern {
    /// Whether a path has wildcards at all.
    pub fn is_one(path: &[OsString]) -> bool {
        path.iter().any(|name| has_wildcard(name))
    }

    /// Reads one from a path, as [`parse`](super::parse) cuts it.
    ///
    /// # Errors
    /// A bracket in it is not closed, `**` is only a part of a name, or it isn't text.
    pub fn new(path: &[OsString]) -> Result<Self, FilesError> {
        let fixed: Vec<OsString> = path.iter().take_while(|name| !has_wildcard(name)).cloned().collect();
        let mut parts = Vec::new();
        for name in path.iter().skip(fixed.len()) {
            match (name.as_bytes(), parts.last()) {
                (b"**", Some(Part::Any)) => {}
                (b"**", _) => parts.push(Part::Any),
                _ => parts.push(one_name(name)?),
            }
        }
        let text = path.join(OsStr::new("/"));
        Ok(Self { text, fixed, parts })
    }

    /// The folder in front of the first wildcard.
    pub fn folder(&self) -> &[OsString] {
        &self.fixed
    }

    /// As it was written.
    pub fn text(&self) -> OsString {
        self.text.clone()
    }

    /// Where it begins, in that folder.
    pub fn begin(&self) -> At {
        self.reached([0])
    }

    /// What a name leads to: whether it is matched, and how far one is in a folder of that name.
    pub(super) fn step(&self, at: &At, name: &OsStr, ignores_case: bool) -> (bool, At) {
        let mut ends = false;
        let mut next = Vec::new();
        for &part in &at.0 {
            let last = part + 1 == self.parts.len();
            let leads = match self.parts.get(part) {
                None => continue,
                Some(Part::Any) if last => Some(part),
                Some(Part::Any) => {
                    next.push(part);
                    continue;
                }
                Some(Part::Name { folded: pattern, .. }) if ignores_case => {
                    pattern.matches(&folded(name)).then_some(part + 1)
                }
                Some(Part::Name { exact, .. }) => exact.matches(&name.to_string_lossy()).then_some(part + 1),
            };
            if let Some(to) = leads {
                ends |= last;
                next.push(to);
            }
        }
        (ends, self.reached(next))
    }

    /// These, and what follows a `**` that stands for no folder.
    fn reached(&self, parts: impl IntoIterator<Item = usize>) -> At {
        let mut all = BTreeSet::new();
        for part in parts {
            all.insert(part);
            if matches!(self.parts.get(part), Some(Part::Any)) && part + 1 < self.parts.len() {
                all.insert(part + 1);
            }
        }
        At(all)
    }
}

impl Files {
    /// What a pattern takes of a folder in which one is that far in it. An error is one of the whole folder.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn matching(&mut self, folder: &Entry, pattern: &Pattern, at: &At) -> Result<Matched, FilesError> {
        let ignores_case = self.fs.ignores_case();
        let Contents { entries, problems } = self.entries(folder)?;
        let mut matched = Matched { entries: Vec::new(), further: Vec::new(), problems };
        for entry in entries {
            let (ends, next) = pattern.step(at, &entry.name, ignores_case);
            if ends {
                matched.entries.push(entry);
            } else if entry.kind == EntryKind::Folder && next.0.iter().any(|part| *part < pattern.parts.len())
            {
                matched.further.push((entry, next));
            }
        }
        Ok(matched)
    }
}

fn has_wildcard(name: &OsStr) -> bool {
    name.as_bytes().iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

fn one_name(name: &OsStr) -> Result<Part, FilesError> {
    let bad = || FilesError::NotAPattern(name.to_owned());
    let text = name.to_str().ok_or_else(bad)?;
    let read = |text: &str| Glob::new(text).map_err(|_| bad());
    Ok(Part::Name { exact: read(text)?, folded: read(&folded(name))? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::parse;

    /// Whether a pattern takes a path, or a folder that it is in.
    fn takes(pattern: &str, path: &str, ignores_case: bool) -> bool {
        let cut = |text: &str| parse(OsStr::new(text)).expect("a path");
        let pattern = Pattern::new(&cut(pattern)).expect("a pattern");
        let path = cut(path);
        let Some(rest) = path.strip_prefix(pattern.folder()) else { return false };
        let mut at = pattern.begin();
        for name in rest {
            let (ends, next) = pattern.step(&at, name, ignores_case);
            if ends {
                return true;
            }
            at = next;
        }
        false
    }

    #[test]
    fn patterns_take_what_a_shell_would() {
        for (pattern, path, taken) in [
            ("*.jpg", "/a.jpg", true),
            ("*.jpg", "/a.jpeg", false),
            ("*.jpg", "/photos/a.jpg", false),
            ("/photos/*.jpg", "/photos/a.jpg", true),
            ("/photos/**", "/photos/a.jpg", true),
            ("/photos/**", "/photos/2024/a.jpg", true),
            ("/photos/**", "/photos", false),
            ("/photos/**", "/letters/a.jpg", false),
            ("/photos/**/*.jpg", "/photos/a.jpg", true),
            ("/photos/**/*.jpg", "/photos/2024/may/a.jpg", true),
            ("/photos/**/*.jpg", "/photos/2024/may/a.txt", false),
            ("**/may/*", "/photos/2024/may/a.txt", true),
            ("**/**/may/**/b", "/may/may/b", true),
            ("/20[12]?/*", "/2015/x", true),
            ("/20[!12]?/*", "/2015/x", false),
            ("?", "/ü", true),
            ("*", "/.hidden", true),
            ("a[*]b?", "/a*bc", true),
            ("a[*]b?", "/axbc", false),
            ("[äö]?", "/öü", true),
        ] {
            assert_eq!(takes(pattern, path, false), taken, "{pattern} {path}");
        }
    }

    #[test]
    fn case_counts_where_it_counts_in_the_file_system() {
        assert!(takes("*.jpg", "/A.JPG", true) && !takes("*.jpg", "/A.JPG", false));
        assert!(takes("Ü*", "/übung", true) && !takes("Ü*", "/übung", false));
    }

    #[test]
    fn names_need_not_be_text() {
        let pattern = Pattern::new(&[OsString::from("b*.hc")]).expect("a pattern");
        assert!(pattern.step(&pattern.begin(), OsStr::from_bytes(b"b\xff.hc"), false).0);
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in ["[a", "a**"] {
            assert!(matches!(Pattern::new(&[OsString::from(bad)]), Err(FilesError::NotAPattern(_))), "{bad}");
        }
    }
}
