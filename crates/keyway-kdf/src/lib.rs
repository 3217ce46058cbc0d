//! A secret becomes a key: PBKDF2 and Argon2id.
