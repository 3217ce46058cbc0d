//! What opens a BitLocker volume besides a password: recovery passwords, startup keys, a TPM.

use super::password::{open_secret, standard_input};
use super::question::{Question, Secrets, Subject, Wanted};
use super::{PasswordSource, Sources, one_standard_input};
use crate::error::{Error, Misuse};
use keyway_secret::SecretBytes;
use keyway_volume::bitlocker::{
    BitLockerError, LARGEST_STARTUP_KEY, Locked, Protection, RecoveryPassword, Secret, StartupKey,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// Longest file that is looked through for a recovery password, in bytes. What Windows saves has
/// about 1,500.
const RECOVERY_FILE_LIMIT: usize = 64 << 10;

impl Sources {
    /// The secrets of a BitLocker volume whose metadata is looked at in a way of one's own.
    ///
    /// # Errors
    /// As [`Sources::key`].
    pub fn bitlocker_key_of<E: From<Error>>(
        &self,
        path: &Path,
        secrets: &dyn Secrets,
        look: impl FnOnce() -> Result<Locked, E>,
    ) -> Result<Vec<Secret>, E> {
        let mut named = self.named_secrets(path, secrets)?;
        let is_all = self.startup_key.is_none() && self.tpm.is_none() && !named.is_empty();
        let is_recovery = |secret: &Secret| matches!(secret, Secret::Password(text) if holds_48_digits(text));
        if is_all && !named.iter().any(is_recovery) {
            return Ok(named);
        }
        let seen = look()?;
        if seen.info.key_protectors.iter().any(|one| one.kind == Protection::RecoveryPassword) {
            for secret in named.iter_mut().filter(|secret| is_recovery(secret)) {
                if let Secret::Password(text) = secret {
                    *secret = Secret::RecoveryPassword(recovery_in(text)?);
                }
            }
        }
        if is_all {
            return Ok(named);
        }
        named.extend(self.matching_secrets(path, &seen, secrets)?);
        Ok(named)
    }

    /// Whether the recovery password can be one, where it was named.
    pub(super) fn check_recovery_password(&self) -> Result<(), Error> {
        let Some(given) = self.recovery_password.as_deref().filter(|given| *given != "-") else {
            return Ok(());
        };
        // A pipe gives what it has once.
        let path = Path::new(given);
        if path.exists() && !path.is_file() { Ok(()) } else { recovery_password(given).map(drop) }
    }

    /// The password and the recovery password, where they were named.
    fn named_secrets(&self, path: &Path, asked: &dyn Secrets) -> Result<Vec<Secret>, Error> {
        if !self.password.keyfiles.is_empty() || self.password.pim.is_some() {
            return Err(Misuse::NoKeyfiles.into());
        }
        if self.recovery_from_stdin() && self.password.uses_stdin() {
            return Err(Misuse::RecoveryAndPassword.into());
        }
        let pin = self.tpm.as_ref().and_then(|tpm| tpm.pin.clone());
        one_standard_input([&self.password, &PasswordSource { password: pin, ..PasswordSource::new() }])?;
        let mut secrets = Vec::new();
        if let Some(from) = &self.password.password {
            let password = from.read()?;
            self.password.not_empty(from, &password)?;
            secrets.push(Secret::Password(password));
        }
        if let Some(given) = &self.recovery_password {
            secrets.push(Secret::RecoveryPassword(recovery_password(given)?));
        }
        if self.asks_recovery_password {
            let subject = Subject::Volume(path.to_owned());
            let typed = asked.answer(&Question::new(Wanted::RecoveryPassword, &subject))?;
            let typed = typed.ok_or(Misuse::NoRecoveryPassword)?;
            secrets.push(Secret::RecoveryPassword(recovery_in(&typed)?));
        }
        Ok(secrets)
    }

    /// What else was named, and fits what the volume has; what is asked for where nothing was.
    fn matching_secrets(
        &self,
        path: &Path,
        seen: &Locked,
        secrets: &dyn Secrets,
    ) -> Result<Vec<Secret>, Error> {
        let protectors = &seen.info.key_protectors;
        let ours = |key: &StartupKey| protectors.iter().any(|p| p.id == key.id);
        let keys = self.startup_key.as_deref().map(|path| startup_keys(path, ours)).transpose()?;
        let subject = Subject::Volume(path.to_owned());
        if let Some(tpm) = &self.tpm {
            let keys = keys.as_deref().unwrap_or_default();
            return Ok(vec![tpm.master_key(&subject, seen, keys, secrets)?]);
        }
        if let Some(keys) = keys {
            return Ok(keys.into_iter().map(Secret::StartupKey).collect());
        }
        let has = |kind| protectors.iter().any(|p| p.kind == kind);
        if has(Protection::ClearKey) {
            return Ok(Vec::new());
        }
        let ask = |wanted| secrets.answer(&Question::new(wanted, &subject));
        if has(Protection::Password)
            && let Some(password) = ask(Wanted::Password)?
        {
            // The 48 digits are what people have on paper, whatever they are asked for.
            return Ok(vec![match has(Protection::RecoveryPassword) && holds_48_digits(&password) {
                true => Secret::RecoveryPassword(recovery_in(&password)?),
                false => Secret::Password(password),
            }]);
        }
        if has(Protection::RecoveryPassword)
            && let Some(typed) = ask(Wanted::RecoveryPassword)?
        {
            return Ok(vec![Secret::RecoveryPassword(recovery_in(&typed)?)]);
        }
        let kinds = protectors.iter().map(|p| p.kind).collect();
        Err(Error::from(BitLockerError::NoSecret(kinds)).at(path))
    }
}

/// The recovery password that was typed, or that is in the file that was named.
fn recovery_password(given: &OsStr) -> Result<RecoveryPassword, Error> {
    let text = given.to_str().unwrap_or_default();
    let path = Path::new(given);
    let file = if text == "-" {
        standard_input().map_err(|e| Error::system("open", path, e))?
    } else if !path.is_file() && text.chars().filter(char::is_ascii_digit).count() > text.len() / 2 {
        return recovery_in(text.as_bytes());
    } else {
        open_secret(path)?
    };
    let none = || Error::NoRecoveryPasswordIn(path.to_owned());
    let bytes = SecretBytes::read_from(file, RECOVERY_FILE_LIMIT).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => none(),
        _ => Error::system("read", path, e),
    })?;
    if bytes.is_empty() {
        let place = if text == "-" { "standard input".into() } else { path.to_owned() };
        return Err(Misuse::EmptyPassword(place).into());
    }
    // One that is mistyped is one, and its group is told.
    let is_one = |text: &[u8]| text.iter().filter(|byte| byte.is_ascii_digit()).count() > text.len() / 2;
    let said = ascii(&bytes);
    if text != "-" && shaped(&said).is_none() && !is_one(&said) { Err(none()) } else { recovery_in(&bytes) }
}

/// Whether a text is digits, as many as a recovery password has, and what may stand between them.
fn has_48_digits(text: &[u8]) -> bool {
    let separates = |byte: &u8| matches!(byte, b' ' | b'-' | b'.' | b'_' | b'\t' | b'\r' | b'\n');
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits == 48 && text.iter().all(|byte| byte.is_ascii_digit() || separates(byte))
}

/// The same, or one that holds them with what Windows saves around them.
fn holds_48_digits(bytes: &[u8]) -> bool {
    let text = ascii(bytes);
    has_48_digits(&text) || shaped(&text).is_some()
}

/// The recovery password in a text. What Windows saves tells around it what it is for, in UTF-16.
///
/// # Errors
/// It has none, or one that somebody mistyped.
pub fn recovery_in(bytes: &[u8]) -> Result<RecoveryPassword, Error> {
    let text = ascii(bytes);
    let text = std::str::from_utf8(shaped(&text).unwrap_or(&text)).unwrap_or_default();
    RecoveryPassword::parse(text).map_err(|fault| BitLockerError::from(fault).into())
}

/// A text in which only ASCII counts: dropping zeros and marks makes one of all encodings.
fn ascii(bytes: &[u8]) -> SecretBytes {
    let mut text = SecretBytes::zeroed(bytes.len());
    let mut len = 0;
    for byte in bytes.iter().filter(|byte| **byte != 0) {
        if let Some(slot) = text.get_mut(len) {
            *slot = if byte.is_ascii() { *byte } else { b' ' };
        }
        len += 1;
    }
    text.truncate(len);
    text
}

/// The first eight groups of six digits with dashes between them.
fn shaped(text: &[u8]) -> Option<&[u8]> {
    const LEN: usize = 8 * 7 - 1;
    let is_one = |window: &&[u8]| {
        window.iter().enumerate().all(|(i, b)| if i % 7 == 6 { *b == b'-' } else { b.is_ascii_digit() })
    };
    text.windows(LEN).find(is_one)
}

/// The startup key in a file, or those in a folder that are the volume's; where none is, all, so
/// that the error can name one.
fn startup_keys(path: &Path, ours: impl Fn(&StartupKey) -> bool) -> Result<Vec<StartupKey>, Error> {
    if !path.is_dir() {
        return Ok(vec![startup_key(path)?]);
    }
    let failed = |e: io::Error| Error::system("read", path, e);
    let mut keys = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|e| e.eq_ignore_ascii_case("bek")) && file.is_file() {
            keys.push(startup_key(&file)?);
        }
    }
    if keys.is_empty() {
        return Err(Error::NoStartupKey(path.to_owned()));
    }
    if keys.iter().any(&ours) {
        keys.retain(ours);
    }
    Ok(keys)
}

fn startup_key(path: &Path) -> Result<StartupKey, Error> {
    let file = open_secret(path)?;
    let mut bytes = SecretBytes::zeroed(LARGEST_STARTUP_KEY + 1);
    let mut filled = 0;
    // Longer files are refused by their length, not by an error of reading.
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match io::Read::read(&mut &file, room) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::system("read", path, e)),
        }
    }
    bytes.truncate(filled);
    StartupKey::parse(&bytes)
        .map_err(|fault| BitLockerError::NotAStartupKey { path: path.to_owned(), fault }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "471207-278498-422125-177177-561902-537405-468006-693451";

    fn read(bytes: &[u8]) -> Result<Vec<u8>, Error> {
        recovery_in(bytes).map(|password| password.to_text().to_vec())
    }

    #[test]
    fn a_recovery_password_is_found_in_what_windows_saves() {
        let saved = format!(
            "BitLocker Drive Encryption recovery key \r\n\r\nIdentifier:\r\n\r\n\
             \tE7E48BAE-FF13-4F14-8222-971D469FAE0D\r\n\r\nRecovery Key:\r\n\r\n\t{TEXT}\r\n\r\nIf it…"
        );
        assert_eq!(read(saved.as_bytes()).ok().as_deref(), Some(TEXT.as_bytes()));
        let utf16: Vec<u8> =
            "\u{feff}".encode_utf16().chain(saved.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&utf16).ok().as_deref(), Some(TEXT.as_bytes()));
        assert_eq!(
            read(format!("{}\n", TEXT.replace('-', " ")).as_bytes()).ok().as_deref(),
            Some(TEXT.as_bytes())
        );
    }

    #[test]
    fn a_typo_names_its_group_and_is_a_wrong_secret() {
        let failure = read(TEXT.replace("422125", "422126").as_bytes()).expect_err("mistyped");
        assert!(matches!(failure, Error::BitLocker(BitLockerError::MistypedRecoveryPassword(_))));
        assert!(failure.to_string().contains("group 3"), "{failure}");
    }

    #[test]
    fn an_empty_file_is_wrong_usage_as_a_passwords_is() {
        let file = tempfile::NamedTempFile::new().expect("room");
        let told = recovery_password(file.path().as_os_str()).err().expect("nothing in it");
        assert!(matches!(told, Error::Misuse(Misuse::EmptyPassword(_))), "{told:?}");
    }

    #[test]
    fn a_recovery_password_is_told_from_a_password() {
        let plain = TEXT.replace('-', "");
        assert!(has_48_digits(TEXT.as_bytes()) && has_48_digits(plain.as_bytes()));
        assert!(has_48_digits(TEXT.replace('-', " ").as_bytes()));
        // Mistyped it is one, too: then its group is told.
        assert!(has_48_digits(TEXT.replace("422125", "422126").as_bytes()));
        assert!(!has_48_digits(&plain.as_bytes()[1..]));
        assert!(!has_48_digits(format!("{plain}a").as_bytes()) && !has_48_digits(b""));
    }

    #[test]
    fn a_folder_gives_the_key_of_the_volume() {
        let folder = tempfile::tempdir().expect("temp");
        let keys = [(); 3].map(|()| StartupKey::random().expect("random"));
        for key in &keys {
            std::fs::write(folder.path().join(key.file_name()), &key.to_bytes()[..]).expect("write");
        }
        std::fs::write(folder.path().join("notes.txt"), b"no key").expect("write");
        let found = startup_keys(folder.path(), |key| key.id == keys[1].id).expect("one of them");
        assert_eq!(found.iter().map(|key| key.id).collect::<Vec<_>>(), [keys[1].id]);
        let found = startup_keys(folder.path(), |_| false).expect("none of them");
        assert_eq!(found.len(), 3);
        let empty = tempfile::tempdir().expect("temp");
        let failure = startup_keys(empty.path(), |_| true).err().expect("refused");
        assert!(matches!(failure, Error::NoStartupKey(_)));
        std::fs::write(empty.path().join("x.bek"), [7; 5000]).expect("write");
        let failure = startup_keys(empty.path(), |_| true).err().expect("refused");
        assert!(failure.to_string().contains("no startup key"), "{failure}");
    }
}
