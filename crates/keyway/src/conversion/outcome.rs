//! What came of a conversion.

use super::request::{ConversionRequest, Goal};
use crate::create::{KeyFiles, key_rows, protector_id};
use crate::protectors::SecretProtector;
use crate::spelled::{bitlocker_options, options};
use keyway_attach::path_text;
use keyway_convert::{ConversionKind, FreeSpace};
use keyway_store::size::words;
use keyway_volume::HashName;
use keyway_volume::bitlocker::{Block, Guid, NewProtectors, Protection, RecoveryPassword};
use keyway_volume::veracrypt::check_hash;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

/// What came of a conversion.
#[derive(Serialize)]
#[non_exhaustive]
pub struct ConversionOutcome {
    /// The file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// How it ended.
    pub state: ConversionState,
    /// What was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion: Option<ConversionKind>,
    /// The volume's format now; of one that is a file system now, the one that it had.
    pub format: &'static str,
    /// The format that it gets or has got, where that is another than it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_format: Option<&'static str>,
    /// What was done by this run.
    #[serde(flatten)]
    pub work: Option<Work>,
    /// A paused volume that opens: how much of it is encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentage_encrypted: Option<f64>,
    /// What is new about the volume.
    #[serde(flatten)]
    pub made: Made,
    /// What could not be read, where that was allowed.
    #[serde(flatten)]
    pub lost: Option<Lost>,
    /// The volume was in use meanwhile, and whoever used it was told.
    #[serde(skip)]
    pub was_in_use: bool,
}

impl ConversionOutcome {
    /// What is typed beside a password to open the volume that came of this request.
    pub fn needs(&self, of: &ConversionRequest) -> String {
        if self.format == "veracrypt" {
            // Of the old secret stays what has no other in its place.
            let (own, mut opens) = (&of.sources.password, of.new_or_own().clone());
            if self.new_format.is_none() {
                opens.pim = opens.pim.or(own.pim);
                if opens.keyfiles.is_empty() {
                    opens.keyfiles.clone_from(&own.keyfiles);
                }
            }
            return options(&opens, "");
        }
        self.opens_bitlocker(of)
    }

    /// What goes on with it where it was paused, as it is typed, with all that opens it but what is asked for.
    pub fn resume_with(&self, of: &ConversionRequest) -> String {
        let bitlocker = [Some(self.format), self.new_format].contains(&Some("bitlocker"));
        let opens = if bitlocker { self.opens_bitlocker(of) } else { String::new() };
        of.at(&self.volume).resume_with(self.new_format.is_some()) + &opens
    }

    fn opens_bitlocker(&self, of: &ConversionRequest) -> String {
        let named = &of.sources;
        match (&self.made.keys, &of.goal) {
            (Some(keys), Goal::Encrypt(new) | Goal::Reencrypt(new)) => {
                bitlocker_options(new.protectors.password, keys.startup_key.as_deref())
            }
            // It opens by what it was opened with.
            _ if named.tpm.is_some() => " --tpm".to_owned(),
            _ => bitlocker_options(!named.names_bitlocker(), named.startup_key.as_deref()),
        }
    }
}

/// How a conversion ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ConversionState {
    /// It is through.
    Done,
    /// It was stopped, and goes on later.
    Paused,
}

/// What was done by a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Work {
    /// Bytes of work in all.
    pub total_bytes: u64,
    /// Bytes of it that this run did: others may have done some before.
    pub converted_bytes: u64,
    /// Bytes of it that are done, where not all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_bytes: Option<u64>,
    /// How long it took.
    pub seconds: f64,
    /// How fast it was.
    pub bytes_per_second: u64,
}

impl Work {
    /// How much this run did, in words, and of how much where that is more.
    pub fn converted(&self) -> String {
        let (now, all) = (words(self.converted_bytes), words(self.total_bytes));
        match self.converted_bytes < self.total_bytes {
            true => format!("{now} in this run, of {all} in all"),
            false => all,
        }
    }
}

/// What could not be read and became zeros, in this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lost {
    /// How many bytes.
    pub unreadable_bytes: u64,
    /// The file that lists where they are.
    #[serde(with = "path_text")]
    pub unreadable_list: PathBuf,
}

/// What is new about a volume.
#[derive(Default, Serialize)]
#[non_exhaustive]
pub struct Made {
    /// Its cipher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher: Option<String>,
    /// A VeraCrypt volume's key derivation, where there was a volume before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<HashName>,
    /// The cipher of the volume that there was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher_before: Option<String>,
    /// And its key derivation, of one that was a VeraCrypt volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_before: Option<HashName>,
    /// Of an encryption: what of the file system's space.
    #[serde(flatten)]
    pub space: Option<EncryptedSpace>,
    /// Of a new BitLocker volume: its keys.
    #[serde(flatten)]
    pub keys: Option<NewKeys>,
    /// What tells its recovery password, as it is typed, where that is in no file: the run that made it may have been killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_password_with: Option<String>,
    /// Of a new VeraCrypt volume, what kind of secret opens it: told while it is in use.
    #[serde(skip)]
    pub secret: Option<SecretProtector>,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The recovery password goes into no log.
        f.debug_struct("Made").field("cipher", &self.cipher).finish_non_exhaustive()
    }
}

impl Made {
    /// Whether a recovery password is to be shown.
    pub(super) fn shows_recovery(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.recovery_password.is_some())
    }

    /// What is told of it, for people: what a volume has now and had before, and what its keeper must keep. Its recovery
    /// password is among it, where it is in no file.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if let (Some(cipher), Some(before)) = (&self.cipher, &self.cipher_before) {
            rows.push(("  cipher", now_and_before(cipher, before, "")));
        }
        if let Some(hash) = self.hash {
            let why =
                |before| if check_hash(before).is_err() { ", which is for old volumes only" } else { "" };
            let both = |before: HashName| now_and_before(hash.name(), before.name(), why(before));
            rows.push(("  key derivation", self.hash_before.map_or_else(|| hash.to_string(), both)));
        }
        if let Some(keys) = &self.keys {
            let text = keys.recovery_text();
            rows.extend(key_rows(
                text.as_deref(),
                keys.recovery_file.as_deref(),
                keys.startup_key.as_deref(),
            ));
        } else if let Some(command) = &self.recovery_password_with {
            rows.push(("  recovery password", format!("`{command}` tells it")));
        }
        rows
    }
}

fn now_and_before(now: &str, before: &str, why: &str) -> String {
    if now == before { format!("{now}, as before") } else { format!("{now}; it was {before}{why}") }
}

/// What of a file system's space was encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EncryptedSpace {
    /// Only what is used.
    pub used_space_only: bool,
    /// What became of the rest then.
    pub free_space: Option<FreeSpace>,
}

impl From<Option<FreeSpace>> for EncryptedSpace {
    fn from(free_space: Option<FreeSpace>) -> Self {
        Self { used_space_only: free_space.is_some(), free_space }
    }
}

/// The keys of a new BitLocker volume.
#[derive(Serialize)]
#[non_exhaustive]
pub struct NewKeys {
    /// The recovery password's identifier, if there is one.
    pub recovery_password_id: Option<Guid>,
    /// The recovery password, where it is in no file: it is to be shown. Serialised it is its text.
    #[serde(serialize_with = "shown")]
    pub recovery_password: Option<RecoveryPassword>,
    /// The file that it is in.
    #[serde(with = "path_text")]
    pub recovery_file: Option<PathBuf>,
    /// The startup key's file.
    #[serde(with = "path_text")]
    pub startup_key: Option<PathBuf>,
}

impl NewKeys {
    pub(super) fn of(
        protectors: NewProtectors,
        block: &Block,
        files: KeyFiles,
        recovery_file: Option<PathBuf>,
    ) -> Self {
        Self {
            recovery_password_id: protector_id(block, Protection::RecoveryPassword),
            recovery_password: protectors.recovery.filter(|_| recovery_file.is_none()),
            recovery_file,
            startup_key: files.keep(),
        }
    }

    /// The recovery password as it is written down: the one place where it leaves locked memory.
    pub fn recovery_text(&self) -> Option<String> {
        self.recovery_password.as_ref().map(text)
    }
}

fn text(password: &RecoveryPassword) -> String {
    String::from_utf8_lossy(&password.to_text()).into_owned()
}

fn shown<S: Serializer>(password: &Option<RecoveryPassword>, to: S) -> Result<S::Ok, S::Error> {
    password.as_ref().map(text).serialize(to)
}
