//! A new volume as it is wanted.

use super::protectors::ProtectorOptions;
use crate::secrets::PasswordSource;
use crate::unlock::Family;
use keyway_fs::mkfs::FileSystem;
use keyway_volume::HashName;
use std::path::PathBuf;

/// A volume that is wanted. As it is made: a VeraCrypt volume with its usual cipher, without a file system.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CreateRequest {
    /// A file that does not exist yet, or a block device; with `hidden_bytes` also an existing volume.
    pub path: PathBuf,
    /// The file's length, headers included. A device is taken whole.
    pub bytes: Option<u64>,
    /// A hidden volume of so many bytes, inside the one that is there or that is made.
    pub hidden_bytes: Option<u64>,
    /// A file that is there is replaced; where a hidden volume goes into a volume that is there, files of that one are lost.
    pub replace: bool,
    /// The format.
    pub format: Family,
    /// The cipher by its name, which each format has its own of.
    pub cipher: Option<String>,
    /// The key derivation's hash, where the format has a choice.
    pub hash: Option<HashName>,
    /// The key derivation's hash of the outer volume that is there; all are tried where it is left out.
    pub outer_hash: Option<HashName>,
    /// The file system to make inside.
    pub filesystem: Option<FileSystem>,
    /// The file system's name.
    pub label: Option<String>,
    /// The volume isn't filled with random bytes first.
    pub quick: bool,
    /// Where its secret comes from.
    pub secret: PasswordSource,
    /// Where the hidden volume's secret comes from.
    pub hidden_secret: PasswordSource,
    /// Programs that know no BitLocker see a small file system with a note in it.
    pub to_go: bool,
    /// What shall open a BitLocker volume besides its password.
    pub protectors: ProtectorOptions,
}

impl CreateRequest {
    /// A VeraCrypt volume with its usual cipher, without a file system.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            bytes: None,
            hidden_bytes: None,
            replace: false,
            format: Family::VeraCrypt,
            cipher: None,
            hash: None,
            outer_hash: None,
            filesystem: None,
            label: None,
            quick: false,
            secret: PasswordSource::new(),
            hidden_secret: PasswordSource::new(),
            to_go: false,
            protectors: ProtectorOptions::default(),
        }
    }
}
