//! What only VeraCrypt and TrueCrypt volumes have: one secret, a choice of ciphers and hashes, a header and a copy of it, and
//! what may be wrong with all of that.

pub use keyway_cipher::{Algorithm, Chain, CipherError};
pub use keyway_volume::veracrypt::{
    ChangeError, CreateError, Derivation, HashName, HeaderChoice, HeaderLocation, Note, ResizeError,
};
pub use keyway_volume::{Inspection, Secrets as Secret, VolumeError, VolumeInfo};
