//! Files that systemd hands to a service (systemd.exec(5), `LoadCredential=`), in the place of an option's path: `credential:NAME`, and
//! `encrypted-credential:NAME` for one that systemd-creds(1) has encrypted.

use super::option_name;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A credential that an option names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Credential<'a> {
    /// Its name, which is a file's without a folder.
    pub(super) name: &'a str,
    /// It lies there encrypted, and systemd decrypts it.
    pub(super) is_encrypted: bool,
}

/// The credential in an option's value, or a name that can't be one's.
pub(super) fn named(value: &str) -> Option<Result<Credential<'_>, &str>> {
    let (name, is_encrypted) = match value.strip_prefix("encrypted-credential:") {
        Some(name) => (name, true),
        None => (value.strip_prefix("credential:")?, false),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name =
        (1..=128).contains(&name.len()) && !name.starts_with(['.', '-']) && name.chars().all(is_plain);
    Some(if is_name { Ok(Credential { name, is_encrypted }) } else { Err(name) })
}

/// Where systemd has put those of this process.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// An option with the path of the credential that it names. Where no service runs, and somebody can be asked for what it holds, it
/// is left out.
pub(super) fn in_place(option: String, folder: Option<&Path>) -> Option<OsString> {
    let long = option_name(&option);
    let Some(Ok(credential)) = option.split_once('=').and_then(|(_, value)| named(value)) else {
        return Some(option.into());
    };
    match folder {
        Some(folder) => {
            let mut word = OsString::from(format!("{long}="));
            word.push(folder.join(credential.name));
            Some(word)
        }
        None if long.ends_with("password-file") || long == "--pin-file" => None,
        None => Some(option.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_a_file_of_the_services_folder_and_nothing_else() {
        let placed = |option: &str, folder: Option<&str>| {
            in_place(option.to_owned(), folder.map(Path::new))
                .map(|word| word.into_string().unwrap_or_default())
        };
        let there = Some("/run/credentials/keyway@data.service");
        for name in ["credential:key", "encrypted-credential:key"] {
            let word = placed(&format!("--keyfile={name}"), there);
            assert_eq!(word.as_deref(), Some("--keyfile=/run/credentials/keyway@data.service/key"));
        }
        for other in
            ["--keyfile=/etc/key", "--read-only", "--keyfile=credential:../key", "--keyfile=credential:"]
        {
            assert_eq!(placed(other, there).as_deref(), Some(other));
        }
        assert_eq!(placed("--password-file=credential:pw", None), None, "it is asked for");
        assert_eq!(placed("--keyfile=credential:key", None).as_deref(), Some("--keyfile=credential:key"));
        for wrong in ["", ".", "..", ".x", "-x", "a/b", "a:b", "a b", "a%n", "a\nb", "ä", &"x".repeat(129)] {
            assert_eq!(named(&format!("credential:{wrong}")), Some(Err(wrong)));
        }
    }
}
