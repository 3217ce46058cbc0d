//! What a person gives to open a volume of either family: VeraCrypt's one secret, or BitLocker's
//! keys, of which it has several kinds.

use crate::failure::{Exit, Failure};
use crate::narrow::{FormatArg, NarrowArgs};
use crate::secrets_in::{SecretArgs, SecretSource, one_stdin};
use crate::tpm_in::TpmArgs;
use crate::volume::{self, Which};
use crate::{prompt, verbs};
use keyway_engine::Access;
use keyway_secret::SecretBytes;
use keyway_store::Caching;
use keyway_volume::Secrets;
use keyway_volume::bitlocker::{
    BitLockerError, LARGEST_STARTUP_KEY, Protection, RecoveryPassword, Secret, Seen, StartupKey,
};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Longest file that is looked through for a recovery password, in bytes. What Windows saves has
/// about 1,500.
const RECOVERY_FILE_LIMIT: usize = 64 << 10;

/// Formats that are opened by the same code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// VeraCrypt and TrueCrypt.
    VeraCrypt,
    /// BitLocker.
    BitLocker,
}

/// What opens a volume.
pub(crate) enum Given {
    /// A VeraCrypt or TrueCrypt volume's secret.
    VeraCrypt(Secrets),
    /// A BitLocker volume's secrets; none for one whose protection is suspended.
    BitLocker(Vec<Secret>),
}

/// The same, borrowed.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    /// A VeraCrypt or TrueCrypt volume's.
    VeraCrypt(&'a Secrets),
    /// A BitLocker volume's.
    BitLocker(&'a [Secret]),
}

impl<'a> From<&'a Secrets> for Key<'a> {
    fn from(secrets: &'a Secrets) -> Self {
        Self::VeraCrypt(secrets)
    }
}

impl<'a> From<&'a Given> for Key<'a> {
    fn from(given: &'a Given) -> Self {
        match given {
            Given::VeraCrypt(secrets) => Self::VeraCrypt(secrets),
            Given::BitLocker(secrets) => Self::BitLocker(secrets),
        }
    }
}

/// The options of secrets that only BitLocker volumes have.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "BitLocker")]
pub(crate) struct KeyArgs {
    /// The recovery password: its 48 digits, or a file that holds it; `-` is standard input
    #[arg(long, value_name = "TEXT-OR-FILE")]
    recovery_password: Option<OsString>,
    /// The startup key's file, or a folder in which the volume's one is looked for
    #[arg(long, value_name = "FILE.BEK")]
    startup_key: Option<PathBuf>,
    #[command(flatten)]
    tpm: TpmArgs,
}

/// A volume, what opens it, and what it is looked for as: what nearly every verb takes.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct VolumeArgs {
    /// The volume's file or block device
    pub(crate) volume: PathBuf,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    narrow: NarrowArgs,
}

impl VolumeArgs {
    /// Which volume is meant.
    pub(crate) fn which(&self) -> Which {
        Which::new(&self.volume, &self.narrow)
    }

    /// Where its password and keyfiles come from.
    pub(crate) fn source(&self) -> SecretSource {
        self.secret.source()
    }

    /// Whether anything that opens it was named.
    pub(crate) fn names_a_secret(&self) -> bool {
        self.source().is_given() || self.keys.is_given()
    }

    /// Reads what opens it; asks on the terminal where nothing was named and it is needed.
    pub(crate) fn given(&self) -> Result<Given, Failure> {
        Given::read(&self.which(), &self.source(), &self.keys)
    }

    /// The same of a volume that is known to be a BitLocker one.
    pub(crate) fn bitlocker_secrets(&self) -> Result<Vec<Secret>, Failure> {
        bitlocker_secrets(&self.which(), &self.source(), &self.keys)
    }

    /// The same of a volume that is known to be a VeraCrypt or TrueCrypt one.
    pub(crate) fn veracrypt_secrets(&self) -> Result<Secrets, Failure> {
        veracrypt_secrets(&self.which(), &self.source(), &self.keys)
    }
}

impl KeyArgs {
    /// Whether any was named.
    pub(crate) fn is_given(&self) -> bool {
        self.recovery_password.is_some() || self.startup_key.is_some() || self.tpm.is_given()
    }

    fn uses_stdin(&self) -> bool {
        self.recovery_password.as_deref() == Some(OsStr::new("-"))
    }
}

impl Given {
    /// Reads what opens the volume; asks on the terminal where nothing was named and it is needed.
    pub(crate) fn read(which: &Which, source: &SecretSource, keys: &KeyArgs) -> Result<Self, Failure> {
        match volume::family(which)? {
            Family::VeraCrypt => Ok(Self::VeraCrypt(veracrypt_secrets(which, source, keys)?)),
            Family::BitLocker => Ok(Self::BitLocker(bitlocker_secrets(which, source, keys)?)),
        }
    }
}

/// Reads what opens a VeraCrypt or TrueCrypt volume; asks on the terminal where nothing was named.
pub(crate) fn veracrypt_secrets(
    which: &Which,
    source: &SecretSource,
    keys: &KeyArgs,
) -> Result<Secrets, Failure> {
    if keys.is_given() {
        return Err(Failure::usage(
            format!(
                "{} is not a BitLocker volume, and only these have recovery passwords, startup keys and TPMs",
                which.path.display()
            ),
            "give its password or keyfiles",
        ));
    }
    source.read(&verbs::name_of(&which.path))
}

/// Reads what opens a BitLocker volume; asks on the terminal where nothing was named and it is needed.
pub(crate) fn bitlocker_secrets(
    which: &Which,
    source: &SecretSource,
    keys: &KeyArgs,
) -> Result<Vec<Secret>, Failure> {
    bitlocker_secrets_of(which, source, keys, || {
        let store = volume::store(&which.path, Access::ReadOnly, Caching::Buffered)?;
        // Also where a conversion's marker stands in the place of the first sector.
        match keyway_convert::bitlocker::look(&store) {
            Err(_) if which.format == Some(FormatArg::Bitlocker) => {
                which.look_at_bitlocker(&store).map_err(|e| volume::about(&which.path, e))
            }
            seen => seen.map_err(|e| volume::about(&which.path, e)),
        }
    })
}

/// The same of a volume whose metadata is found in another way.
pub(crate) fn bitlocker_secrets_of(
    which: &Which,
    source: &SecretSource,
    keys: &KeyArgs,
    look: impl FnOnce() -> Result<Seen, Failure>,
) -> Result<Vec<Secret>, Failure> {
    if !source.keyfiles.is_empty() || source.pim.is_some() {
        return Err(Failure::usage(
            "a BitLocker volume has no keyfiles and no PIM",
            "give its password, recovery password (--recovery-password) or startup key (--startup-key)",
        ));
    }
    if keys.uses_stdin() && source.uses_stdin() {
        return Err(Failure::usage(
            "password and recovery password can't both come from standard input",
            "one of them is enough",
        ));
    }
    one_stdin([source, &keys.tpm.pin_source()])?;
    let about = |e: BitLockerError| volume::about(&which.path, e);
    let mut secrets = Vec::new();
    if source.has_password() {
        secrets.push(Secret::Password(source.read(&verbs::name_of(&which.path))?.password));
    }
    if let Some(given) = &keys.recovery_password {
        secrets.push(Secret::RecoveryPassword(recovery_password(given)?));
    }
    if keys.startup_key.is_none() && !keys.tpm.is_given() && !secrets.is_empty() {
        return Ok(secrets);
    }
    let seen = look()?;
    let protectors = &seen.info.key_protectors;
    let ours = |key: &StartupKey| protectors.iter().any(|p| p.id == key.id);
    let startup_keys = keys.startup_key.as_deref().map(|path| startup_keys(path, ours)).transpose()?;
    if keys.tpm.is_given() {
        let startup_keys = startup_keys.as_deref().unwrap_or_default();
        secrets.push(keys.tpm.master_key(&verbs::name_of(&which.path), &seen, startup_keys)?);
        return Ok(secrets);
    }
    if let Some(keys) = startup_keys {
        secrets.extend(keys.into_iter().map(Secret::StartupKey));
        return Ok(secrets);
    }
    let has = |kind| protectors.iter().any(|p| p.kind == kind);
    if has(Protection::ClearKey) {
        return Ok(secrets);
    }
    let name = verbs::name_of(&which.path);
    let terminal = io::stdin().is_terminal();
    if terminal && has(Protection::Password) {
        secrets.push(Secret::Password(prompt::password(&format!("Password of {name}: "))?));
    } else if terminal && has(Protection::RecoveryPassword) {
        let typed = prompt::password(&format!("Recovery password of {name}: "))?;
        secrets.push(Secret::RecoveryPassword(recovery_in(&typed)?));
    } else {
        return Err(about(BitLockerError::NoSecret(protectors.iter().map(|p| p.kind).collect())));
    }
    Ok(secrets)
}

/// The recovery password that was typed, or that is in the file that was named.
fn recovery_password(given: &OsStr) -> Result<RecoveryPassword, Failure> {
    let text = given.to_str().unwrap_or_default();
    let path = Path::new(given);
    let file = if text == "-" {
        // Not `std::io::stdin`: its buffer would keep a copy.
        use std::os::fd::AsFd;
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else if !path.is_file() && text.chars().filter(char::is_ascii_digit).count() > text.len() / 2 {
        return recovery_in(text.as_bytes());
    } else {
        File::open(path)
    };
    let file = file.map_err(|e| Failure::io("open", path, &e))?;
    let bytes =
        SecretBytes::read_from(file, RECOVERY_FILE_LIMIT).map_err(|e| Failure::io("read", path, &e))?;
    recovery_in(&bytes)
}

/// The recovery password in a text. What Windows saves tells around it what it is for, in UTF-16.
fn recovery_in(bytes: &[u8]) -> Result<RecoveryPassword, Failure> {
    // Only ASCII counts, so that dropping zeros and marks makes one text of all encodings.
    let mut text = SecretBytes::zeroed(bytes.len());
    let mut len = 0;
    for byte in bytes.iter().filter(|byte| **byte != 0) {
        if let Some(slot) = text.get_mut(len) {
            *slot = if byte.is_ascii() { *byte } else { b' ' };
        }
        len += 1;
    }
    text.truncate(len);
    const LEN: usize = 8 * 7 - 1;
    let shaped = |w: &[u8]| {
        w.iter().enumerate().all(|(i, b)| if i % 7 == 6 { *b == b'-' } else { b.is_ascii_digit() })
    };
    let found = text.windows(LEN).find(|window| shaped(window)).unwrap_or(&text);
    let text = std::str::from_utf8(found).unwrap_or_default();
    RecoveryPassword::parse(text).map_err(|fault| BitLockerError::from(fault).into())
}

/// The startup key in a file, or those in a folder that are the volume's; where none is, all, so
/// that the error can name one.
fn startup_keys(path: &Path, ours: impl Fn(&StartupKey) -> bool) -> Result<Vec<StartupKey>, Failure> {
    if !path.is_dir() {
        return Ok(vec![startup_key(path)?]);
    }
    let failed = |e: io::Error| Failure::io("read", path, &e);
    let mut keys = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|e| e.eq_ignore_ascii_case("bek")) && file.is_file() {
            keys.push(startup_key(&file)?);
        }
    }
    if keys.is_empty() {
        return Err(Failure::new(
            Exit::WrongSecret,
            format!("there is no .BEK file in {}", path.display()),
            "name the startup key's file; Windows hides it on the drive it was saved to",
        )
        .kind("startup-key"));
    }
    if keys.iter().any(&ours) {
        keys.retain(ours);
    }
    Ok(keys)
}

fn startup_key(path: &Path) -> Result<StartupKey, Failure> {
    let file = File::open(path).map_err(|e| Failure::io("open", path, &e))?;
    let mut bytes = SecretBytes::zeroed(LARGEST_STARTUP_KEY + 1);
    let mut filled = 0;
    // Longer files are refused by their length, not by an error of reading.
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match io::Read::read(&mut &file, room) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Failure::io("read", path, &e)),
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

    fn read(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        recovery_in(bytes).map(|password| password.to_text().to_vec())
    }

    #[test]
    fn a_recovery_password_is_found_in_what_windows_saves() {
        let saved = format!(
            "BitLocker Drive Encryption recovery key \r\n\r\nIdentifier:\r\n\r\n\
             \tE7E48BAE-FF13-4F14-8222-971D469FAE0D\r\n\r\nRecovery Key:\r\n\r\n\t{TEXT}\r\n\r\nIf it…"
        );
        assert_eq!(read(saved.as_bytes()).as_deref(), Ok(TEXT.as_bytes()));
        let utf16: Vec<u8> =
            "\u{feff}".encode_utf16().chain(saved.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&utf16).as_deref(), Ok(TEXT.as_bytes()));
        assert_eq!(read(format!("{}\n", TEXT.replace('-', " ")).as_bytes()).as_deref(), Ok(TEXT.as_bytes()));
    }

    #[test]
    fn a_typo_names_its_group_and_is_a_wrong_secret() {
        let failure = read(TEXT.replace("422125", "422126").as_bytes()).expect_err("mistyped");
        assert_eq!(failure.exit, Exit::WrongSecret);
        assert!(failure.message.contains("group 3"), "{}", failure.message);
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
        assert_eq!(failure.exit, Exit::WrongSecret);
        std::fs::write(empty.path().join("x.bek"), [7; 5000]).expect("write");
        let failure = startup_keys(empty.path(), |_| true).err().expect("refused");
        assert!(failure.message.contains("no startup key"), "{}", failure.message);
    }
}
