//! What is compared: no encryption, a format with a cipher, a drive that encrypts by itself.

use crate::error::LabError;
use keyway_error::enum_table;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One side of a comparison, in the words of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// The drive without any of our code between, driven as well as it can be: `bare`.
    Bare,
    /// No encryption, by the same way as the others.
    Plain,
    /// A VeraCrypt volume with this cipher or cascade, outermost first: `veracrypt:aes`.
    VeraCrypt(String),
    /// A BitLocker volume with this cipher: `bitlocker:aes-xts-128`.
    BitLocker(String),
    /// A drive that encrypts by itself, unlocked: `hardware:/dev/nvme0n1`.
    Hardware(Option<PathBuf>),
    /// Any other path, measured as it is: a mounted file system's folder, a file, a device.
    At(PathBuf),
}

enum_table! {
    /// How requests reach a volume.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum PathKind {
        /// The engine is called in this process.
        #[default]
        InProcess("in-process"),
        /// The file of our FUSE mount.
        Fuse("fuse"),
        /// A loop device on that file.
        FuseLoop("fuse-loop"),
        /// A block device of the kernel's ublk driver.
        Ublk("ublk"),
        /// Our NBD server, through a client in this process.
        Nbd("nbd"),
    }
    /// The word on the command line and in reports.
    pub name: &'static str,
}

impl Target {
    /// Whether it is made on the drive that is measured.
    pub(crate) fn is_made_here(&self) -> bool {
        self.path().is_none()
    }

    /// The path that is measured as it is.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Hardware(Some(path)) | Self::At(path) => Some(path),
            _ => None,
        }
    }
}

/// Whether a target's words name no encryption.
pub(crate) fn is_unencrypted(words: &str) -> bool {
    matches!(words.parse(), Ok(Target::Bare | Target::Plain))
}

/// Whether a target's words name a drive that encrypts by itself.
pub(crate) fn is_hardware(words: &str) -> bool {
    matches!(words.parse(), Ok(Target::Hardware(_)))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare => f.write_str("bare"),
            Self::Plain => f.write_str("plain"),
            Self::VeraCrypt(cipher) => write!(f, "veracrypt:{cipher}"),
            Self::BitLocker(cipher) => write!(f, "bitlocker:{cipher}"),
            Self::Hardware(None) => f.write_str("hardware"),
            Self::Hardware(Some(path)) => write!(f, "hardware:{}", path.display()),
            Self::At(path) => write!(f, "{}", path.display()),
        }
    }
}

impl FromStr for Target {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let wrong = |why: &str| LabError::Target(text.to_owned(), why.to_owned());
        match text.split_once(':') {
            _ if text.contains('/') && !text.starts_with("hardware:") => Ok(Self::At(text.into())),
            None if text == "bare" => Ok(Self::Bare),
            None if text == "plain" => Ok(Self::Plain),
            None if text == "hardware" => Ok(Self::Hardware(None)),
            // A folder beside us needs no `./`.
            None if !text.is_empty() && Path::new(text).exists() => Ok(Self::At(text.into())),
            None => Err(wrong("the format is missing")),
            Some((_, "")) => Err(wrong("nothing follows the colon")),
            Some(("veracrypt", cipher)) => Ok(Self::VeraCrypt(cipher.to_owned())),
            Some(("bitlocker", cipher)) => Ok(Self::BitLocker(cipher.to_owned())),
            Some(("hardware", path)) => Ok(Self::Hardware(Some(path.into()))),
            Some(_) => Err(wrong("the format is not known")),
        }
    }
}

impl TryFrom<String> for Target {
    type Error = LabError;

    fn try_from(text: String) -> Result<Self, LabError> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_error::{Advice, Explain};

    #[test]
    fn words_come_back_as_they_were() {
        for text in [
            "bare",
            "plain",
            "veracrypt:aes-twofish-serpent",
            "bitlocker:aes-xts-128",
            "hardware",
            "hardware:/dev/sdx",
            "/mnt/x",
        ] {
            assert_eq!(text.parse::<Target>().expect("a target").to_string(), text);
        }
    }

    #[test]
    fn what_lies_here_is_a_target_without_a_slash() {
        // Tests run in the crate's folder.
        assert_eq!("workloads".parse::<Target>().expect("a target"), Target::At("workloads".into()));
        assert!("workload".parse::<Target>().is_err());
    }

    #[test]
    fn what_is_no_target() {
        for text in ["", "veracrypt", "veracrypt:", "luks:aes", "plan"] {
            let told = text.parse::<Target>().expect_err("no target");
            assert!(told.to_string().contains("is not a target"), "{told}");
            assert_eq!(told.advice(), [Advice::WriteTarget]);
        }
    }
}
