//! What mount(8) asks for: `SOURCE FOLDER [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE]`.

use crate::options::{self, Options};
use std::ffi::OsString;

/// A volume to be opened and mounted.
#[derive(Debug)]
pub(crate) struct Request {
    /// The volume.
    pub(crate) source: OsString,
    /// Where its file system shall be; mount(8) always says it.
    pub(crate) folder: Option<OsString>,
    /// Options of `keyway open`.
    pub(crate) arguments: Vec<OsString>,
    /// A password is needed that no option names.
    pub(crate) asks: bool,
    /// What came of it is told.
    pub(crate) is_verbose: bool,
    /// mount(8) asked, whose options have other names.
    pub(crate) is_of_mount: bool,
    /// What may be the reason where it fails, and what helps.
    pub(crate) lack: Option<String>,
}

impl Request {
    /// Reads the words after the program's name.
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let (mut paths, mut list) = (Vec::new(), Vec::new());
        let (mut is_verbose, mut is_dry, mut is_sloppy) = (false, false, false);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let letters = word.to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
            if letters.is_empty() {
                paths.push(word);
                continue;
            }
            for (at, letter) in letters.char_indices() {
                let mut value = || match letters.get(at + 1..) {
                    Some(rest) if !rest.is_empty() => Ok(OsString::from(rest)),
                    _ => words.next().ok_or(format!("-{letter} needs a value")),
                };
                match letter {
                    'v' => is_verbose = true,
                    'f' => is_dry = true,
                    's' => is_sloppy = true,
                    // There is no /etc/mtab.
                    'n' => {}
                    'o' => list.push(value()?),
                    't' => drop(value()?),
                    'N' => return Err("-N: a volume is opened in this mount namespace only".into()),
                    _ => return Err(format!("there is no option -{letter}; {USAGE}")),
                }
                if matches!(letter, 'o' | 't') {
                    break;
                }
            }
        }
        let [source, folder] = <[OsString; 2]>::try_from(paths).map_err(|_| USAGE)?;
        let Options { mut arguments, asks } = options::translate(&list, is_sloppy)?;
        if is_dry {
            arguments.push("--dry-run".into());
        }
        let (folder, asks) = (Some(folder), asks && !is_dry);
        Ok(Self { source, folder, arguments, asks, is_verbose, is_of_mount: true, lack: None })
    }
}

const USAGE: &str = "usage: mount.keyway SOURCE FOLDER [-sfnv] [-o OPTIONS]; mount -t keyway calls it";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Request, String> {
        Request::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn the_words_of_mount_are_understood_wherever_they_stand() {
        let request =
            parse(&["/dev/sdb1", "/data", "-v", "-o", "ro,keyfile=/k", "-t", "keyway"]).expect("right");
        assert_eq!(
            (request.source.as_os_str(), request.folder.as_deref()),
            ("/dev/sdb1".as_ref(), Some("/data".as_ref()))
        );
        assert_eq!(request.arguments, ["--read-only", "--keyfile=/k"]);
        assert!(request.is_verbose && !request.asks);
        let request = parse(&["-nfoload=1,ro", "a", "b"]).expect_err("no such option");
        assert!(request.contains("load"), "{request}");
        let request = parse(&["-sfoload=1,ro", "a", "b"]).expect("sloppy");
        assert_eq!(request.arguments, ["--read-only", "--dry-run"]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (words, why) in [
            (&["a"][..], "usage"),
            (&["a", "b", "c"], "usage"),
            (&["a", "b", "-o"], "-o needs a value"),
            (&["a", "b", "-x"], "-x"),
            (&["a", "b", "-N", "/proc/1/ns/mnt"], "namespace"),
        ] {
            let said = parse(words).expect_err("wrong");
            assert!(said.contains(why), "{said}");
        }
    }
}
