//! Why a volume is attached as it is, as data.

use serde::{Deserialize, Serialize};

/// Something that a way to attach needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Need {
    /// The kernel's device-mapper, for this user.
    DmCrypt,
    /// The kernel's ublk driver, for this user.
    Ublk,
    /// A block device that stays when its server is killed.
    OutlivesServer,
    /// FUSE file systems.
    Fuse,
    /// The helper on the system bus, for who is not root.
    Mountd,
    /// Loop devices, for this user.
    LoopDevice,
    /// No hidden volume is protected.
    NothingProtected,
    /// Nothing is mounted.
    NothingMounted,
    /// Something is mounted.
    Mounted,
}

/// Why a volume is attached as it is, where nobody asked for that way. A front has the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// It is the best candidate that is to be had.
    Best {
        /// Its name.
        way: String,
    },
    /// A better one lacks something.
    Lacks {
        /// Its name.
        way: String,
        /// What it lacks.
        need: Need,
        /// Why that is not to be had.
        why: String,
    },
    /// The volume's block device waits for a server since the last one was killed.
    Waits,
    /// The kernel does not take the volume.
    Refused {
        /// Why not.
        why: String,
    },
}
