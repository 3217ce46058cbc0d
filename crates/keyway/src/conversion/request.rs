//! What shall become of a file system or volume, and how.

use crate::create::{ProtectorOptions, method, veracrypt_cipher};
use crate::error::{Error, Misuse, about};
use crate::sandbox::Sandbox;
use crate::secrets::{PasswordSource, SecretFrom, Sources, Subject, one_standard_input};
use crate::session::ServingProgram;
use crate::shown::for_shell;
use crate::spelled::options;
use crate::under_way::{ConversionRefusal, absolute, beside, resume_with};
use crate::unlock::{Family, UnlockArguments};
use keyway_attach::path_text;
use keyway_attach::session::Attachment;
use keyway_cipher::{Algorithm, Chain};
use keyway_convert::FreeSpace;
use keyway_volume::HashName;
use keyway_volume::bitlocker::Method;
use keyway_volume::veracrypt::{check_cipher, check_hash};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a file's name may have in bytes: `NAME_MAX` (`linux/limits.h`).
const LONGEST_NAME: usize = 255;

/// What shall become of a file system or volume, and how. [`plan`](super::plan) looks whether it can.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConversionRequest {
    /// The file or device.
    pub path: PathBuf,
    /// What shall become of it.
    pub goal: Goal,
    /// What a volume on it is looked for as, where it is to be decrypted.
    pub arguments: UnlockArguments,
    /// What opens the volume; of a file system that is to be encrypted, what shall open it. What is missing is asked for.
    pub sources: Sources,
    /// What shall open a re-encrypted volume, where that is something else.
    pub new: PasswordSource,
    /// The journal is in this new file; left out, it is where it does best.
    pub journal: Option<PathBuf>,
    /// The journal keeps everything whole, for a drive that may damage more than 64 KiB in a row when its power fails.
    pub full_journal: bool,
    /// Sectors that can't be read become zeros, and are listed in this file; left out, the first one ends the run.
    pub skip_unreadable: Option<PathBuf>,
    /// Bytes a second at most.
    pub limit: Option<u64>,
    /// The volume is used meanwhile, and how it is reached.
    pub online: Option<Online>,
    /// The program that serves a volume while the tool of the file system in it makes that smaller.
    pub serving: Option<ServingProgram>,
    /// What this process gives up before anything is converted, or as soon as the volume can be used meanwhile; nothing if there
    /// is none. The program that serves is the warden then, which removes what is left at the end.
    pub sandbox: Option<Sandbox>,
}

/// What shall become of a file system or volume.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Goal {
    /// The file system becomes an encrypted volume; VeraCrypt's unless something else is said.
    Encrypt(NewVolume),
    /// The volume gets new keys, another cipher or another format.
    Reencrypt(NewVolume),
    /// The volume becomes the file system that is in it.
    Decrypt,
    /// What was paused or interrupted goes on.
    Resume,
}

/// How a volume is reached while it is converted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Online {
    /// The way to the user: one that passes through this process.
    pub attachment: Attachment,
    /// Where the file system inside is mounted.
    #[serde(with = "path_text")]
    pub mountpoint: Option<PathBuf>,
}

impl Online {
    /// Reached in this way, and mounted on that folder.
    pub fn new(attachment: Attachment, mountpoint: Option<PathBuf>) -> Self {
        Self { attachment, mountpoint }
    }
}

/// What the new volume is like. As it is made: as the format's own programs have it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewVolume {
    /// The format; left out, a volume keeps its own.
    pub format: Option<Family>,
    /// The cipher, by its name in that format; left out, a volume that keeps its format keeps its own.
    pub cipher: Option<String>,
    /// VeraCrypt's key derivation; left out, a volume that keeps its format keeps its own.
    pub hash: Option<HashName>,
    /// A file gets larger instead of the file system in it smaller.
    pub grow: bool,
    /// Only what the file system uses is encrypted.
    pub used_space_only: bool,
    /// What becomes of the rest then.
    pub free_space: FreeSpace,
    /// What opens a new BitLocker volume.
    pub protectors: ProtectorOptions,
    /// BitLocker's To Go layout, which none has that is made in place.
    pub to_go: bool,
}

impl Default for NewVolume {
    fn default() -> Self {
        Self {
            format: None,
            cipher: None,
            hash: None,
            grow: false,
            used_space_only: false,
            free_space: FreeSpace::Leave,
            protectors: ProtectorOptions::default(),
            to_go: false,
        }
    }
}

impl ConversionRequest {
    /// That this shall become of the file system or volume on a file or device.
    pub fn new(path: impl Into<PathBuf>, goal: Goal) -> Self {
        Self {
            path: path.into(),
            goal,
            arguments: UnlockArguments::new(),
            sources: Sources::new(),
            new: PasswordSource::new(),
            journal: None,
            full_journal: false,
            skip_unreadable: None,
            limit: None,
            online: None,
            serving: None,
            sandbox: None,
        }
    }

    /// The volume's name in a question.
    pub(super) fn subject(&self) -> Subject {
        Subject::Volume(self.path.clone())
    }

    /// Its short name.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Puts the file or device to an error of a crate below.
    pub(super) fn said<E: Into<Error>>(&self, error: E) -> Error {
        about(&self.path)(error)
    }

    /// The journal's file that was named.
    pub(super) fn named_journal(&self) -> Result<Option<PathBuf>, Error> {
        self.journal.as_deref().map(absolute).transpose()
    }

    /// Where the journal goes where there is little room for it: to the file that was named; for a volume's file beside it,
    /// because that is faster, where no name is too long for that; for a device onto it.
    pub(super) fn journal(&self) -> Result<Option<PathBuf>, Error> {
        let beside = beside(&self.path);
        let fits = beside.file_name().is_some_and(|name| name.len() <= LONGEST_NAME);
        match &self.journal {
            None if self.path.is_file() && fits => absolute(&beside).map(Some),
            _ => self.named_journal(),
        }
    }

    /// As [`ProtectorOptions::told_once`], of the BitLocker volume that shall become of it.
    pub fn told_once(&self) -> Option<bool> {
        match &self.goal {
            Goal::Encrypt(new) | Goal::Reencrypt(new) if new.format == Some(Family::BitLocker) => {
                new.protectors.told_once()
            }
            _ => None,
        }
    }

    /// The same of a file that has another name by now; its journal, if that was beside it, is where it was.
    pub(super) fn at(&self, path: &Path) -> Self {
        let mut moved = self.clone();
        if path != self.path {
            let beside = || absolute(&beside(&self.path)).ok().filter(|journal| journal.exists());
            moved.journal = moved.journal.or_else(beside);
            path.clone_into(&mut moved.path);
        }
        moved
    }

    /// What goes on with it, as it is typed, with the journal and all that opens the volume but what is asked for.
    pub fn resume_with(&self, changes_format: bool) -> String {
        let password = match &self.new.password {
            // Of two formats both passwords are asked for. Otherwise nobody knows that there is another.
            Some(from) if !changes_format => match from {
                SecretFrom::File(path) => format!(" --new-password-file {}", for_shell(path)),
                _ => " --new-password-file -".to_owned(),
            },
            _ => String::new(),
        };
        let begin = resume_with(&self.path, self.journal.as_deref());
        begin + &options(&self.sources.password, "") + &password + &options(&self.new, "new-")
    }

    /// What opens the new volume: its own secret, or the old one's.
    pub fn new_or_own(&self) -> &PasswordSource {
        if self.new.is_given() { &self.new } else { &self.sources.password }
    }
}

/// Two secrets, or one that is read for each of the two volumes.
pub(super) fn read_twice(first: &PasswordSource, second: &PasswordSource) -> Result<(), Error> {
    match first.uses_stdin() && second.uses_stdin() {
        true => Err(ConversionRefusal::OneStandardInput.into()),
        false => one_standard_input([first, second]),
    }
}

impl NewVolume {
    /// Whether anything was said that only BitLocker volumes have.
    pub(super) fn is_bitlockers(&self) -> bool {
        self.to_go || !self.protectors.is_default()
    }

    /// Refuses what no BitLocker volume has that is made in place.
    pub(super) fn must_suit_bitlocker(&self) -> Result<(), Error> {
        match (self.hash, self.to_go) {
            (Some(_), _) => Err(Misuse::NoChoiceOfHash.into()),
            (None, true) => Err(ConversionRefusal::NoToGo.into()),
            (None, false) => Ok(()),
        }
    }

    /// The cipher of a VeraCrypt volume, whose hash new ones may have.
    pub(super) fn veracrypt_cipher(&self) -> Result<Chain, Error> {
        check_hash(self.hash())?;
        let Some(name) = &self.cipher else { return Ok(Chain::single(Algorithm::Aes256)) };
        let cipher = veracrypt_cipher(name)?;
        check_cipher(cipher)?;
        Ok(cipher)
    }

    /// What a VeraCrypt or TrueCrypt volume with that cipher and key derivation gets: what was named, else what it has. What is
    /// for opening old volumes only gives way to what a new one gets.
    pub(super) fn in_place_of(&self, cipher: Chain, hash: HashName) -> Result<(Chain, HashName), Error> {
        let cipher = match self.cipher.is_none() && check_cipher(cipher).is_ok() {
            true => cipher,
            false => self.veracrypt_cipher()?,
        };
        let hash = Some(hash).filter(|hash| self.hash.is_none() && check_hash(*hash).is_ok());
        Ok((cipher, hash.unwrap_or_else(|| self.hash())))
    }

    /// The method of a BitLocker volume.
    pub(super) fn method(&self) -> Result<Method, Error> {
        method(self.cipher.as_deref())
    }

    /// The same of one that has that method now, and keeps it unless another was named, or it is for opening old volumes only.
    pub(super) fn method_in_place_of(&self, old: Option<Method>) -> Result<Method, Error> {
        match old.filter(|old| self.cipher.is_none() && old.is_offered()) {
            Some(old) => Ok(old),
            None => self.method(),
        }
    }

    /// The hash of a VeraCrypt volume.
    pub(super) fn hash(&self) -> HashName {
        self.hash.unwrap_or(HashName::Sha512)
    }

    /// What a volume that is in use while it is encrypted can't have.
    pub(super) fn check_free_space(&self, request: &ConversionRequest) -> Result<(), Error> {
        match request.online.is_some() && self.free_space != FreeSpace::Leave {
            true => Err(ConversionRefusal::FreeSpaceInUse.into()),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_stays_where_new_volumes_may_have_it() {
        let serpent = Chain::single(Algorithm::Serpent);
        let got = |cipher: Option<&str>, hash, from: (Chain, HashName)| {
            let new = NewVolume { cipher: cipher.map(str::to_owned), hash, ..NewVolume::default() };
            new.in_place_of(from.0, from.1).expect("offered")
        };
        let old = (serpent, HashName::Argon2id);
        assert_eq!(got(None, None, old), old);
        assert_eq!(got(None, Some(HashName::Sha256), old), (serpent, HashName::Sha256));
        let twofish = Chain::single(Algorithm::Twofish);
        assert_eq!(got(Some("twofish"), None, old), (twofish, HashName::Argon2id));
        // TrueCrypt's and old VeraCrypt's.
        assert_eq!(got(None, None, (serpent, HashName::Whirlpool)), (serpent, HashName::Whirlpool));
        for hash in [HashName::Ripemd160, HashName::Sha1] {
            assert_eq!(got(None, None, (serpent, hash)), (serpent, HashName::Sha512));
        }
        let blowfish = Chain::single(Algorithm::Blowfish);
        let aes = Chain::single(Algorithm::Aes256);
        assert_eq!(got(None, None, (blowfish, HashName::Sha1)), (aes, HashName::Sha512));
        let method = |old| NewVolume::default().method_in_place_of(old).expect("offered");
        assert_eq!(method(Some(Method::Cbc256)), Method::Cbc256);
        assert_eq!(method(Some(Method::Cbc256Elephant)), Method::Xts128);
        assert_eq!(method(None), Method::Xts128);
    }
}
