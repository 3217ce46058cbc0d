//! A volume that was made: what is told of it, and what it is opened with.

use crate::protectors::digits;
use crate::spelled::bitlocker_options;
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_volume::HashName;
use keyway_volume::bitlocker::{Guid, Method, RecoveryPassword};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A volume that was made.
#[derive(Serialize)]
#[non_exhaustive]
pub struct Created {
    /// The file or device.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The format.
    pub format: Family,
    /// The cipher's name.
    pub cipher: String,
    /// The cipher's mode: "xts" or "cbc-eboiv".
    pub mode: &'static str,
    /// The key derivation's hash.
    pub hash: HashName,
    /// Its sector size in bytes.
    pub sector_bytes: u32,
    /// Its size in bytes.
    pub data_bytes: u64,
    /// The file system inside: its word.
    pub filesystem: Option<&'static str>,
    /// What only one format has.
    #[serde(flatten)]
    pub details: CreatedDetails,
    /// What its owner should know.
    pub warnings: Vec<String>,
    /// What of it was not told before the volume was made.
    #[serde(skip)]
    pub told_last: Vec<String>,
}

/// What only one format has.
#[derive(Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CreatedDetails {
    /// A VeraCrypt volume.
    VeraCrypt {
        /// The PIM.
        pim: Option<u32>,
        /// Where the data area begins in the file or on the device, in bytes.
        data_offset: u64,
        /// It is a hidden volume.
        hidden: bool,
    },
    /// A BitLocker volume.
    BitLocker {
        /// How the data is encrypted.
        #[serde(skip)]
        method: Method,
        /// Bytes from the start on that a file system may use.
        usable_bytes: u64,
        /// The volume's identifier.
        volume_id: Guid,
        /// Programs that know no BitLocker see a small file system with a note in it.
        to_go: bool,
        /// Its recovery password, where it is in no file. It is shown to its owner.
        #[serde(serialize_with = "digits")]
        recovery_password: Option<RecoveryPassword>,
        /// The recovery password's identifier.
        recovery_password_id: Option<Guid>,
        /// The file that it is in.
        #[serde(with = "path_text")]
        recovery_file: Option<PathBuf>,
        /// The startup key's file.
        #[serde(with = "path_text")]
        startup_key: Option<PathBuf>,
        /// A password opens it.
        #[serde(skip)]
        password: bool,
    },
}

impl Created {
    /// What is typed to open it, where it has no password.
    pub fn needed_key(&self) -> String {
        let CreatedDetails::BitLocker { password, startup_key, .. } = &self.details else {
            return String::new();
        };
        bitlocker_options(*password, startup_key.as_deref())
    }

    /// Its recovery password reached nobody: a new file that nothing else opens goes again. What is left, as facts for a
    /// sentence: whether it is `removed`, and whether something else `opens` it.
    pub fn untold(&self) -> Value {
        let CreatedDetails::BitLocker { startup_key, password, .. } = &self.details else {
            return Value::Null;
        };
        let opens = *password || startup_key.is_some();
        let removed = !opens && self.path.is_file() && std::fs::remove_file(&self.path).is_ok();
        json!({"path": path_text::value(&self.path), "opens": opens, "removed": removed})
    }
}
