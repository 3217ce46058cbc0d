//! Authorities by the names that people use.

use crate::Uid;
use crate::host::single_user::user_of;
use crate::uid::authority;
use std::fmt;
use std::str::FromStr;

/// Somebody whom a drive knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Authority {
    /// The drive's owner.
    Sid,
    /// Whoever reads the secret on the drive's label. It takes everything back, and is not proved for anything else.
    Psid,
    /// An administrator of locking, counted from 1.
    Admin(u16),
    /// A user, counted from 1.
    User(u16),
}

impl Authority {
    /// The user to whom a range belongs that is a user's alone.
    pub const fn of_range(range: u16) -> Self {
        Self::User(user_of(range))
    }

    /// The drive's name for it.
    pub const fn uid(self) -> Uid {
        match self {
            Self::Sid => authority::SID,
            Self::Psid => authority::PSID,
            Self::Admin(n) => authority::admin(n),
            Self::User(n) => authority::user(n),
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sid => f.write_str("sid"),
            Self::Psid => f.write_str("psid"),
            Self::Admin(n) => write!(f, "admin{n}"),
            Self::User(n) => write!(f, "user{n}"),
        }
    }
}

/// A word that names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write owner (or sid), admin1, admin2 … or user1, user2 …")]
pub struct NoAuthority;

impl FromStr for Authority {
    type Err = NoAuthority;

    /// The owner, an administrator or a user: the label's secret has a way of its own.
    fn from_str(text: &str) -> Result<Self, NoAuthority> {
        let number = |prefix: &str| text.strip_prefix(prefix)?.parse().ok().filter(|n| (1..=255).contains(n));
        match text {
            // What the specification calls it, and what people do.
            "sid" | "owner" => Ok(Self::Sid),
            _ => {
                number("admin").map(Self::Admin).or_else(|| number("user").map(Self::User)).ok_or(NoAuthority)
            }
        }
    }
}

/// An authority's name in words.
pub fn name_of(who: Uid) -> String {
    let row = who.row_number();
    match row >> 16 {
        _ if who == authority::SID => "the owner (SID)".to_owned(),
        _ if who == authority::PSID => "the label's PSID".to_owned(),
        _ if who == authority::ADMINS => "the administrators".to_owned(),
        _ if who == authority::USERS => "all users".to_owned(),
        _ if who == authority::ANYBODY => "anybody".to_owned(),
        1 => format!("administrator {}", row & 0xFFFF),
        3 => format!("user {}", row & 0xFFFF),
        _ if (0x201..0x300).contains(&row) => format!("administrator {} of the Admin SP", row & 0xFF),
        _ => format!("authority {who}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_named_as_they_are_read() {
        for who in [Authority::Sid, Authority::Admin(1), Authority::User(9)] {
            assert_eq!(who.to_string().parse(), Ok(who));
        }
        assert_eq!("owner".parse(), Ok(Authority::Sid));
        for wrong in ["", "psid", "user", "user0", "admin256", "root", "user-1"] {
            assert!(wrong.parse::<Authority>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn authorities_have_names() {
        assert_eq!(name_of(authority::admin(1)), "administrator 1");
        assert_eq!(name_of(authority::user(9)), "user 9");
        assert_eq!(name_of(authority::USERS), "all users");
        assert_eq!(name_of(authority::admin_sp_admin(1)), "administrator 1 of the Admin SP");
    }
}
