//! mount's options, one by one: what `keyway open` makes of each, what is the file system's, what is for others.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Options of `keyway open`.
#[derive(Debug)]
pub(crate) struct Options {
    /// As they are written.
    pub(crate) arguments: Vec<OsString>,
    /// None of them says what opens the volume.
    pub(crate) asks: bool,
}

/// What an option is.
#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    /// For mount(8), systemd or nobody.
    Nothing,
    /// An option of `keyway open` that takes no value.
    Flag(&'static str),
    /// One that takes a value.
    Value(&'static str),
    /// The same, and it opens the volume.
    Key(&'static str),
    /// The TPM, where a value names which.
    Tpm,
    /// Discards, which both the volume and the file system have to be told of.
    Discard,
    /// The file system's, or the mount's.
    Mount,
    /// A password is asked for beside what is named.
    Ask,
    /// It would give rights to what lies in the volume.
    Refused,
}

use Meaning::{Ask, Discard, Flag, Key, Mount, Nothing, Refused, Tpm, Value};

const MEANINGS: [(&str, Meaning); 68] = [
    ("defaults", Nothing),
    ("rw", Nothing),
    ("auto", Nothing),
    ("noauto", Nothing),
    ("nofail", Nothing),
    ("fail", Nothing),
    ("user", Nothing),
    ("users", Nothing),
    ("nouser", Nothing),
    ("owner", Nothing),
    ("group", Nothing),
    ("_netdev", Nothing),
    ("async", Nothing),
    ("nosuid", Nothing),
    ("nodev", Nothing),
    ("exec", Nothing),
    ("comment", Nothing),
    ("ro", Flag("--read-only")),
    ("keyfile", Key("--keyfile")),
    ("password-file", Key("--password-file")),
    ("recovery-password-file", Key("--recovery-password")),
    ("startup-key", Key("--startup-key")),
    ("tpm", Tpm),
    ("pin-file", Value("--pin-file")),
    ("pim", Value("--pim")),
    ("hash", Value("--hash")),
    ("format", Value("--format")),
    ("header", Value("--header")),
    ("system", Flag("--system")),
    ("system-header", Value("--system-header")),
    ("protect-hidden", Flag("--protect-hidden")),
    ("protect-password-file", Value("--protect-password-file")),
    ("protect-keyfile", Value("--protect-keyfile")),
    ("protect-pim", Value("--protect-pim")),
    ("attach", Value("--attach")),
    ("require-sandbox", Flag("--require-sandbox")),
    ("ask-password", Ask),
    ("discard", Discard),
    ("suid", Refused),
    ("dev", Refused),
    ("noexec", Mount),
    ("sync", Mount),
    ("dirsync", Mount),
    ("noatime", Mount),
    ("nodiratime", Mount),
    ("relatime", Mount),
    ("strictatime", Mount),
    ("lazytime", Mount),
    ("uid", Mount),
    ("gid", Mount),
    ("umask", Mount),
    ("dmask", Mount),
    ("fmask", Mount),
    ("iocharset", Mount),
    ("codepage", Mount),
    ("utf8", Mount),
    ("shortname", Mount),
    ("errors", Mount),
    ("data", Mount),
    ("commit", Mount),
    ("acl", Mount),
    ("noacl", Mount),
    ("user_xattr", Mount),
    ("compress", Mount),
    ("compress-force", Mount),
    ("subvol", Mount),
    ("windows_names", Mount),
    ("nls", Mount),
];

/// Puts lists of options into those of `keyway open`; with `sloppy`, what nobody knows is left out.
pub(crate) fn translate(lists: &[OsString], sloppy: bool) -> Result<Options, String> {
    let (mut arguments, mut mounting) = (Vec::new(), Vec::new());
    let (mut has_key, mut wants_password) = (false, false);
    for option in lists.iter().flat_map(|list| split(list.as_bytes())) {
        let (name, value) = match option.iter().position(|byte| *byte == b'=') {
            Some(at) => (option.get(..at).unwrap_or_default(), option.get(at + 1..)),
            None => (&option[..], None),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        if name.is_empty() || name.starts_with("x-") || name.starts_with("X-") {
            continue;
        }
        let Some((_, meaning)) = MEANINGS.iter().find(|(known, _)| *known == name) else {
            if sloppy {
                continue;
            }
            return Err(format!("there is no option {name}; `man mount.keyway` has all of them"));
        };
        let with = |long: &str, value: Option<&[u8]>| match value {
            Some(value) if !value.is_empty() => {
                let mut argument = OsString::from(format!("{long}="));
                argument.push(OsStr::from_bytes(value));
                Ok(argument)
            }
            _ => Err(format!("{name} needs a value: {name}=…")),
        };
        match *meaning {
            Nothing => {}
            Ask => wants_password = true,
            Refused => return Err(format!("{name}: what lies in a volume gets no rights on this machine")),
            Flag(long) if value.is_none() => arguments.push(long.into()),
            Flag(_) => return Err(format!("{name} takes no value")),
            Value(long) => arguments.push(with(long, value)?),
            Key(long) => {
                has_key = true;
                // Everybody can read a table of mounts and a list of processes.
                if value.is_some_and(|value| !value.starts_with(b"/")) {
                    return Err(format!("{name} is a file's whole path, from / on"));
                }
                arguments.push(with(long, value)?);
            }
            Tpm => {
                has_key = true;
                arguments.push(match value {
                    Some(_) => with("--tpm", value)?,
                    None => "--tpm".into(),
                });
            }
            Discard => {
                arguments.push("--allow-discards".into());
                mounting.push(option.clone());
            }
            Mount => mounting.push(option.clone()),
        }
    }
    if !mounting.is_empty() {
        let mut argument = b"--mount-options=".to_vec();
        argument.extend(mounting.join(&b','));
        arguments.push(OsString::from_vec(argument));
    }
    Ok(Options { arguments, asks: wants_password || !has_key })
}

/// What the program says, with the names that its options have in fstab(5): `password-file=FILE` for `--password-file FILE`. What
/// stands in a command stays as it is.
pub(crate) fn in_fstab(said: &str) -> String {
    let (mut told, mut in_command) = (String::new(), false);
    for (at, part) in said.split('`').enumerate() {
        told.push_str(if at > 0 { "`" } else { "" });
        for word in part.split_inclusive(' ') {
            in_command |= word.trim_start_matches('(').starts_with("keyway ");
            let end = word.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(word.len());
            let known = word.get(..end).filter(|_| at % 2 == 0 && !in_command).and_then(named);
            match known.zip(word.get(end..)) {
                // Its value follows.
                Some(((name, true), " ")) => told.extend([name, "="]),
                Some(((name, _), rest)) => told.extend([name, rest]),
                None => told.push_str(word),
            }
            in_command &= !word.trim_end().ends_with([';', ',', '.', ':', ')']);
        }
    }
    told
}

/// The option that becomes that of `keyway open`, and whether it takes a value.
fn named(long: &str) -> Option<(&'static str, bool)> {
    MEANINGS.iter().find_map(|(name, meaning)| match meaning {
        Value(known) | Key(known) if *known == long => Some((*name, true)),
        Flag(known) if *known == long => Some((*name, false)),
        Tpm if long == "--tpm" => Some((*name, false)),
        _ => None,
    })
}

/// The options of a list; commas within double quotes belong to a value (mount(8)).
fn split(list: &[u8]) -> Vec<Vec<u8>> {
    let (mut all, mut option, mut is_quoted) = (Vec::new(), Vec::new(), false);
    for byte in list {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => all.push(std::mem::take(&mut option)),
            other => option.push(*other),
        }
    }
    all.push(option);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(list: &str) -> Result<Options, String> {
        translate(&[list.into()], false)
    }

    #[test]
    fn a_line_of_fstab_becomes_options_of_open() {
        let options = translated(
            "rw,noauto,nofail,x-systemd.automount,keyfile=/k1,keyfile=/k2,pim=7,hash=sha512,protect-pim=3",
        );
        let options = options.expect("known");
        assert_eq!(
            options.arguments,
            ["--keyfile=/k1", "--keyfile=/k2", "--pim=7", "--hash=sha512", "--protect-pim=3"]
        );
        assert!(!options.asks);
        assert!(translated("ro,pim=7").expect("known").asks, "no option says what opens it");
        assert!(translated("keyfile=/k,ask-password").expect("known").asks);
        assert!(!translated("tpm,pin-file=/p").expect("known").asks);
    }

    #[test]
    fn what_is_the_file_systems_goes_there_together() {
        let options = translated("uid=1000,ro,umask=077,noatime,keyfile=/k,discard").expect("known");
        assert_eq!(
            options.arguments,
            [
                "--read-only",
                "--keyfile=/k",
                "--allow-discards",
                "--mount-options=uid=1000,umask=077,noatime,discard"
            ]
        );
    }

    #[test]
    fn a_quoted_comma_belongs_to_the_path() {
        let options = translated("keyfile=\"/a,b\",ro").expect("known");
        assert_eq!(options.arguments, ["--keyfile=/a,b", "--read-only"]);
    }

    #[test]
    fn what_the_program_says_names_options_as_fstab_has_them() {
        for (said, told) in [
            ("use --password-file FILE or --keyfile PATH", "use password-file=FILE or keyfile=PATH"),
            ("check the path given as --keyfile; try", "check the path given as keyfile; try"),
            ("with --recovery-password DIGITS-OR-FILE\n", "with recovery-password-file=DIGITS-OR-FILE\n"),
            ("leave --read-only out", "leave ro out"),
            ("`keyway open V --keyfile K` opens it", "`keyway open V --keyfile K` opens it"),
            (
                "it goes like this: keyway open --pim 1 V; --pim",
                "it goes like this: keyway open --pim 1 V; pim",
            ),
            ("--password-fd N, --log", "--password-fd N, --log"),
        ] {
            assert_eq!(in_fstab(said), told);
        }
    }

    #[test]
    fn what_can_not_be_meant_is_named() {
        for (list, why) in [
            ("ro,keyfle=/k", "keyfle"),
            ("keyfile", "keyfile needs a value"),
            ("pim=", "pim needs a value"),
            ("ro=1", "ro takes no value"),
            ("suid", "no rights"),
            ("password-file=-", "whole path"),
            ("recovery-password-file=111111-222222", "whole path"),
        ] {
            let said = translated(list).expect_err("wrong");
            assert!(said.contains(why), "{list}: {said}");
        }
    }

    #[test]
    fn every_name_is_there_once() {
        for (at, (name, _)) in MEANINGS.iter().enumerate() {
            assert!(MEANINGS[..at].iter().all(|(before, _)| before != name), "{name}");
        }
    }
}
