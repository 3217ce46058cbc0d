//! Who speaks to a drive, and with what secret.

use crate::failure::Failure;
use crate::prompt;
use crate::secrets_in::SecretSource;
use keyway_secret::SecretBytes;
use keyway_sed::password::{PIN_MAX, PasswordHash, SERIAL_BYTES};
use keyway_sed::{Uid, uid};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Longest file that a PSID is looked for in, in bytes.
const PSID_FILE_LIMIT: usize = 256;

/// An authority, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// The drive's owner.
    Sid,
    /// An administrator of locking.
    Admin(u16),
    /// A user.
    User(u16),
}

impl Who {
    /// The drive's name for it.
    pub(super) const fn uid(self) -> Uid {
        match self {
            Self::Sid => uid::authority::SID,
            Self::Admin(n) => uid::authority::admin(n),
            Self::User(n) => uid::authority::user(n),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sid => f.write_str("sid"),
            Self::Admin(n) => write!(f, "admin{n}"),
            Self::User(n) => write!(f, "user{n}"),
        }
    }
}

impl FromStr for Who {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |prefix: &str| text.strip_prefix(prefix)?.parse().ok().filter(|n| (1..=255).contains(n));
        if text == "sid" {
            return Ok(Self::Sid);
        }
        number("admin")
            .map(Self::Admin)
            .or_else(|| number("user").map(Self::User))
            .ok_or_else(|| "write sid, admin1, admin2 … or user1, user2 …".to_owned())
    }
}

/// The options of the secret that a drive is told.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Secret")]
pub(super) struct SecretArgs {
    /// Read the password from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Read the password from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with = "password_file")]
    password_fd: Option<u32>,
    #[command(flatten)]
    pub(super) hash: HashArgs,
}

/// The convention by which passwords are hashed.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Secret")]
pub(super) struct HashArgs {
    /// How the password becomes what the drive is told: `sedutil` (PBKDF2-SHA1, as sedutil),
    /// `sedutil-sha512` (its fork) or `plain` (not hashed, as the kernel and cryptsetup)
    #[arg(long, value_name = "HOW", default_value_t)]
    pub(super) hash: PasswordHash,
}

/// The options of a secret to be set.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "New secret")]
pub(super) struct NewSecretArgs {
    /// Read the new password from FILE; `-` is standard input. One trailing newline is dropped
    #[arg(long, value_name = "FILE")]
    new_password_file: Option<PathBuf>,
    /// Read the new password from the open descriptor N
    #[arg(long, value_name = "N", conflicts_with = "new_password_file")]
    new_password_fd: Option<u32>,
}

/// A password in a file, or behind a descriptor.
pub(super) fn source(file: &Option<PathBuf>, fd: Option<u32>) -> SecretSource {
    SecretSource { password_file: file.clone(), password_fd: fd, keyfiles: Vec::new(), pim: None }
}

impl SecretArgs {
    /// Where the password comes from.
    pub(super) fn source(&self) -> SecretSource {
        source(&self.password_file, self.password_fd)
    }

    /// What the drive with that serial number is told for the password of something that exists.
    pub(super) fn pin(&self, what: &str, serial: &[u8; SERIAL_BYTES]) -> Result<SecretBytes, Failure> {
        derive(&self.source().read(what)?.password, self.hash.hash, serial)
    }
}

impl NewSecretArgs {
    /// Where the new password comes from.
    pub(super) fn source(&self) -> SecretSource {
        source(&self.new_password_file, self.new_password_fd)
    }

    /// What the drive is told for a password to be set.
    pub(super) fn pin(
        &self,
        what: &str,
        hash: PasswordHash,
        serial: &[u8; SERIAL_BYTES],
    ) -> Result<SecretBytes, Failure> {
        derive(&self.source().read_new(what)?.password, hash, serial)
    }
}

/// What the drive is told for a password.
pub(super) fn derive(
    password: &[u8],
    hash: PasswordHash,
    serial: &[u8; SERIAL_BYTES],
) -> Result<SecretBytes, Failure> {
    hash.derive(password, serial).map_err(|e| Failure::usage(e.to_string(), e.next()))
}

/// The PSID: its characters, or a file that holds them; asked for where it was not given.
pub(super) fn psid(given: Option<&OsString>) -> Result<SecretBytes, Failure> {
    let text = match given {
        None if io::stdin().is_terminal() => prompt::password("PSID on the drive's label: ")?,
        None => return Err(Failure::usage("no PSID was given", "use --psid TEXT-OR-FILE")),
        Some(given) => {
            let file = if given == OsStr::new("-") {
                Some(PathBuf::from("/proc/self/fd/0"))
            } else {
                Some(PathBuf::from(given)).filter(|path| path.is_file())
            };
            match file {
                Some(path) => read(&path)?,
                None => SecretBytes::copy_of(given.as_bytes()),
            }
        }
    };
    // People write it in groups.
    let mut bare = SecretBytes::zeroed(text.len());
    let mut len = 0;
    for byte in text.iter().filter(|b| !b.is_ascii_whitespace() && **b != b'-') {
        if let Some(place) = bare.get_mut(len) {
            *place = *byte;
            len += 1;
        }
    }
    bare.truncate(len);
    if (1..=PIN_MAX).contains(&len) {
        Ok(bare)
    } else {
        Err(Failure::usage(
            format!("a PSID has {PIN_MAX} characters, this one has {len}"),
            "read it from the drive's label again; --psid takes it, or a file that holds nothing else",
        ))
    }
}

fn read(path: &Path) -> Result<SecretBytes, Failure> {
    let file = File::open(path).map_err(|e| Failure::io("open", path, &e))?;
    SecretBytes::read_from(file, PSID_FILE_LIMIT).map_err(|e| Failure::io("read", path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;

    #[test]
    fn authorities_are_named_as_they_are_read() {
        for who in [Who::Sid, Who::Admin(1), Who::User(9)] {
            assert_eq!(who.to_string().parse(), Ok(who));
        }
        for wrong in ["", "user", "user0", "admin256", "root", "user-1"] {
            assert!(wrong.parse::<Who>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_psid_is_read_in_groups_and_has_a_length() {
        let psid = |text: &str| psid(Some(&OsString::from(text))).map(|bytes| bytes.to_vec());
        assert_eq!(psid("ABCD EFGH-1234").expect("short"), b"ABCDEFGH1234");
        assert_eq!(psid(&"x".repeat(33)).expect_err("long").exit, Exit::Usage);
        assert_eq!(psid(" ").expect_err("empty").exit, Exit::Usage);
    }
}
