//! The secrets of both sides of an authentication.

use super::secret::AuthSecret;

/// What is needed to let hosts prove themselves.
pub struct Credentials {
    /// What a host must know.
    pub host: AuthSecret,
    /// What this side proves to know, to a host that asks for it.
    pub controller: Option<AuthSecret>,
}

impl std::fmt::Debug for Credentials {
    /// That there are some, and nothing of them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}
