//! Makes the sector cipher of a data key.

use super::codes::Method;
use super::seal::SecretKey;
use keyway_cipher::{Chain, CipherError, LayerKey, Mode, SectorCipher, Spec};

impl Method {
    /// How the cipher covers a sector.
    pub const fn mode(self) -> Mode {
        match self {
            Self::Cbc128Elephant | Self::Cbc256Elephant => Mode::BitLockerElephant,
            Self::Cbc128 | Self::Cbc256 => Mode::BitLockerCbc,
            Self::Xts128 | Self::Xts256 => Mode::Xts,
        }
    }
}

/// The cipher of a volume; `None` when the key has another length than its method's.
pub(crate) fn cipher(
    method: Method,
    key: &SecretKey,
    sector_bytes: u32,
) -> Option<Result<SectorCipher, CipherError>> {
    let spec =
        Spec { chain: Chain::single(method.algorithm()), mode: method.mode(), unit_bytes: sector_bytes };
    let cipher = SectorCipher::new(&spec, &[layer_key(method, key)?]);
    keyway_secret::wipe_stack();
    Some(cipher)
}

/// Where the keys of a method lie in a volume's data key; `None` when it has another length.
pub(super) fn layer_key(method: Method, key: &SecretKey) -> Option<LayerKey<'_>> {
    if key.bytes.len() != method.stored_key_bytes() {
        return None;
    }
    let key_bytes = method.algorithm().key_bytes();
    // With the diffuser both keys have 32 bytes of room, with XTS they lie end to end.
    let second = match method {
        Method::Cbc128Elephant | Method::Cbc256Elephant => 32,
        _ => key_bytes,
    };
    let tweak_key = if method.has_tweak_key() { key.bytes.get(second..second + key_bytes)? } else { &[] };
    Some(LayerKey { key: key.bytes.get(..key_bytes)?, tweak_key })
}
