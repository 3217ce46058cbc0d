//! The kinds of failure, each with its word for scripts.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($name:ident = $word:literal: $meaning:literal,)*) => {
        /// Which kind of failure it is. Scripts know it by [`Kind::word`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $meaning] #[serde(rename = $word)] $name,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word for scripts. It never changes.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// A sentence that says what it means.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $meaning,)*
                }
            }
        }
    };
}

kinds! {
    Failed = "failed": "It failed, and no more is known.",
    Usage = "usage": "What was asked for makes no sense.",
    WrongSecret = "wrong-secret": "No secret that was given opens it.",
    NotAVolume = "not-a-volume": "It is not a volume we know, or a damaged one.",
    NotPermitted = "not-permitted": "This user may not do it, or this machine lacks what it needs.",
    Busy = "busy": "Somebody uses it.",
    AlreadyOpen = "already-open": "The volume is open already.",
    Ambiguous = "ambiguous": "Nobody can tell which of two things it is.",
    Converting = "converting": "It is half converted; nothing but `resume` may touch it.",
    Damaged = "damaged": "The volume or its metadata is damaged.",
    DamagedFilesystem = "damaged-filesystem": "The file system inside is damaged.",
    Declined = "declined": "The user did not say yes.",
    Deleted = "deleted": "The volume's file was deleted while it was open.",
    EncryptedSystem = "encrypted-system": "It is of a system that VeraCrypt encrypted as a whole.",
    Exists = "exists": "What should be made is there already.",
    Faulty = "faulty": "The drive or the connection to it does not keep to its standard.",
    Filesystem = "filesystem": "The file system can't be made, or does not allow it.",
    HalfSetUp = "half-set-up": "The drive is set up in part only.",
    HasAFilesystem = "has-a-file-system": "There is a file system where the header belongs.",
    HiddenVolume = "hidden-volume": "The write would have hit the protected hidden volume.",
    InUse = "in-use": "The device is mounted or in use.",
    Interrupted = "interrupted": "The user stopped it.",
    Io = "io": "The system or the medium failed.",
    IsHidden = "is-hidden": "The secret given is the hidden volume's.",
    Keyfile = "keyfile": "A keyfile can't be read or used.",
    LastProtector = "last-protector": "It would take the last way to open the volume.",
    LockedOut = "locked-out": "The drive takes no more tries.",
    LostWrites = "lost-writes": "Earlier writes were lost; nothing more is written.",
    MeasurementsChanged = "measurements-changed": "The machine started in another way than when the TPM sealed the secret.",
    Metadata = "metadata": "Bytes that belong to the volume's metadata can't be written.",
    Missing = "missing": "A device, a program or a part of the kernel is missing.",
    MissingProgram = "missing-program": "A program of the file system's is missing.",
    MistypedRecoveryPassword = "mistyped-recovery-password": "The recovery password was mistyped.",
    Mount = "mount": "What is in the volume could not be mounted.",
    NoAnswer = "no-answer": "The process that serves the volume does not answer.",
    NoFilesystem = "no-filesystem": "There is no file system that we know in the volume.",
    NoJournal = "no-journal": "The conversion's journal is not there, or is not the right one.",
    NoMemory = "no-memory": "The machine has not enough memory.",
    NoRoom = "no-room": "There is no room for headers and journal.",
    NoSecret = "no-secret": "No secret was given, or one of several.",
    NoSpace = "no-space": "The medium is full.",
    NoSuchProtector = "no-such-protector": "The volume has no such protector.",
    NoSuchWorkload = "no-such-workload": "There is no such workload.",
    NoTpm = "no-tpm": "There is no TPM.",
    NotABackup = "not-a-backup": "The file is no backup of a header.",
    NotADocument = "not-a-document": "The file holds no results of `keyway lab`.",
    NotADrive = "not-a-drive": "It is not a drive that encrypts by itself.",
    NotAllCopied = "not-all-copied": "Some of it could not be copied.",
    NotAllListed = "not-all-listed": "Some of it could not be listed.",
    NotAllowed = "not-allowed": "The secret is right, and its owner may not do that.",
    NotBegun = "not-begun": "The conversion had not begun; nothing was changed.",
    NotFound = "not-found": "It is not there.",
    NotHidden = "not-hidden": "The secret given is not a hidden volume's.",
    NotNow = "not-now": "The drive is not in a state for it.",
    NotOpen = "not-open": "The volume is not open.",
    NotSetUp = "not-set-up": "The drive is not set up.",
    NotSuitable = "not-suitable": "It is a folder, a link, a device or the like where something else is needed.",
    NotSuspended = "not-suspended": "The volume's protection is not suspended.",
    OtherExtent = "other-extent": "The backup's header encrypts another part of the medium.",
    OtherKey = "other-key": "The backup has another key than the volume.",
    OtherMasterKeys = "other-master-keys": "The backup has other master keys than the volume.",
    OtherStartupKey = "other-startup-key": "The startup key is another one.",
    OtherTpm = "other-tpm": "Another TPM sealed the secret.",
    OtherVolume = "other-volume": "The backup is of another volume.",
    PartlyWritten = "partly-written": "Some of the copies were written, and some could not be.",
    Paused = "paused": "The conversion is paused.",
    Pin = "pin": "The PIN can't be used.",
    ReadOnly = "read-only": "It can only be read.",
    SetUpAlready = "set-up-already": "The drive is set up already.",
    SidBlocked = "sid-blocked": "Firmware has blocked the drive's owner until the next power cycle.",
    StartupKey = "startup-key": "The file is no startup key.",
    Tampered = "tampered": "The metadata was changed by somebody who did not have the key.",
    TooShort = "too-short": "The file ends too early.",
    TooSmall = "too-small": "It is too small for the test.",
    Tpm = "tpm": "The TPM failed.",
    TpmLocked = "tpm-locked": "The TPM takes no more tries for now.",
    Unclean = "unclean": "The file system was not unmounted.",
    Unsupported = "unsupported": "It is not offered here.",
    Verify = "verify": "What was read back is not what was written.",
    Workload = "workload": "A workload's file makes no sense.",
    WouldDestroy = "would-destroy": "It would overwrite data.",
    WrongPin = "wrong-pin": "The PIN is wrong.",
    WrongProtectionSecret = "wrong-protection-secret": "The hidden volume that should be protected does not open.",
    WrongRecoveryPassword = "wrong-recovery-password": "The recovery password is wrong.",
    WrongStartupKey = "wrong-startup-key": "The startup key does not open it.",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_stands_for_one_kind() {
        for (i, kind) in Kind::ALL.iter().enumerate() {
            assert!(Kind::ALL.iter().skip(i + 1).all(|other| other.word() != kind.word()), "{kind:?}");
            assert!(kind.meaning().ends_with('.') && !kind.meaning().starts_with(' '));
        }
    }
}
