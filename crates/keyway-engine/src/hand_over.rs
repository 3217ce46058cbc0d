//! A volume for somebody else to decrypt: its layout and, once, its keys.
//!
//! A [`Device`](crate::Device) keeps its keys to itself. Where the system's own kernel shall do the work
//! there is no way around giving it the keys, and this type is that way: a format makes one only when it
//! was asked for, it is consumed by whoever loads the kernel's table, and it can't be copied.

use crate::{Access, Layout};
use keyway_cipher::LayerKey;
use keyway_secret::SecretBytes;

/// The keys of one layer of a cipher; lengths as `keyway_cipher::LayerKey` has them.
pub struct LayerSecrets {
    /// The block cipher's key.
    pub key: SecretBytes,
    /// What the mode needs besides.
    pub tweak_key: SecretBytes,
}

impl LayerSecrets {
    /// Copies of a layer's keys, in locked memory.
    pub fn copy_of(layer: &LayerKey<'_>) -> Self {
        Self { key: SecretBytes::copy_of(layer.key), tweak_key: SecretBytes::copy_of(layer.tweak_key) }
    }
}

/// A layout with the keys of its cipher.
pub struct HandOver {
    /// Where the sectors are. All its encrypted segments have one cipher.
    pub layout: Layout,
    /// The cipher's layers' keys, outermost first.
    pub keys: Vec<LayerSecrets>,
    /// Whether writes are allowed.
    pub access: Access,
    /// Whether discards reach the medium.
    pub discards: bool,
}
