//! What a TPM says when it refuses (Part 2, clause 6.6).

use std::fmt;

/// A response code other than success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResponseCode(pub u32);

/// Bit 7: the error has a number of 6 bits, and names a handle, a parameter or a session.
const FORMAT_ONE: u32 = 0x080;

impl ResponseCode {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const AUTH_FAIL: Self = Self(0x08E);
    pub(crate) const BAD_AUTH: Self = Self(0x0A2);
    pub(crate) const HANDLE: Self = Self(0x08B);
    pub(crate) const INTEGRITY: Self = Self(0x09F);
    pub(crate) const POLICY_FAIL: Self = Self(0x09D);
    pub(crate) const SIZE: Self = Self(0x095);
    pub(crate) const INSUFFICIENT: Self = Self(0x09A);
    pub(crate) const VALUE: Self = Self(0x084);
    pub(crate) const INITIALIZE: Self = Self(0x100);
    pub(crate) const PCR_CHANGED: Self = Self(0x128);
    pub(crate) const YIELDED: Self = Self(0x908);
    pub(crate) const TESTING: Self = Self(0x90A);
    pub(crate) const NV_RATE: Self = Self(0x920);
    pub(crate) const LOCKOUT: Self = Self(0x921);
    pub(crate) const RETRY: Self = Self(0x922);
    pub(crate) const NV_UNAVAILABLE: Self = Self(0x923);

    /// The code without the handle, parameter or session that it blames.
    pub(crate) fn kind(self) -> Self {
        if self.0 & FORMAT_ONE != 0 { Self(self.0 & 0x3F | FORMAT_ONE) } else { self }
    }

    /// The same command may succeed a little later.
    pub(crate) fn is_passing(self) -> bool {
        matches!(self, Self::YIELDED | Self::TESTING | Self::NV_RATE | Self::RETRY | Self::NV_UNAVAILABLE)
    }

    fn words(self) -> Option<&'static str> {
        Some(match self.kind() {
            Self::AUTH_FAIL | Self::BAD_AUTH => "the authorization is wrong",
            Self::HANDLE => "there is no such object in it",
            Self::INTEGRITY => "the object is damaged or another TPM's",
            Self::POLICY_FAIL => "the object's policy is not satisfied",
            Self::SIZE | Self::INSUFFICIENT => "a structure has the wrong size",
            Self::VALUE => "a value is out of range",
            Self::INITIALIZE => "it has not been started by the firmware (TPM2_Startup)",
            Self::PCR_CHANGED => "the measurements changed meanwhile",
            Self::LOCKOUT => "it is locked after too many wrong authorizations",
            kind if kind.is_passing() => "it is busy; try again later",
            _ => return None,
        })
    }
}

impl fmt::Display for ResponseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => write!(f, "{words} (TPM_RC 0x{:03x})", self.0),
            None => write!(f, "TPM_RC 0x{:03x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blamed_session_or_parameter_is_taken_away() {
        assert_eq!(ResponseCode(0x98E).kind(), ResponseCode::AUTH_FAIL);
        assert_eq!(ResponseCode(0x1DF).kind(), ResponseCode::INTEGRITY);
        assert_eq!(ResponseCode(0x1C4).kind(), ResponseCode::VALUE);
        assert_eq!(ResponseCode(0x18B).kind(), ResponseCode::HANDLE);
        assert_eq!(ResponseCode(0x921).kind(), ResponseCode::LOCKOUT);
    }

    #[test]
    fn codes_are_told_in_words_where_there_are_any() {
        assert_eq!(ResponseCode(0x18B).to_string(), "there is no such object in it (TPM_RC 0x18b)");
        assert_eq!(ResponseCode(0x143).to_string(), "TPM_RC 0x143");
    }
}
