//! The kinds of failure, each with its word for scripts.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($(#[doc = $meaning:literal] $name:ident = $word:literal,)*) => {
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
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $meaning.trim_start(),)*
                }
            }
        }
    };
}

kinds! {
    /// It failed, and no more is known.
    Failed = "failed",
    /// What was asked for makes no sense.
    Usage = "usage",
    /// No secret that was given opens it.
    WrongSecret = "wrong-secret",
    /// It is not a volume we know, or a damaged one.
    NotAVolume = "not-a-volume",
    /// This user may not do it, or this machine lacks what it needs.
    NotPermitted = "not-permitted",
    /// Somebody uses it.
    Busy = "busy",
    /// The volume is open already.
    AlreadyOpen = "already-open",
    /// Nobody can tell which of two things it is.
    Ambiguous = "ambiguous",
    /// It is half converted; nothing but `resume` may touch it.
    Converting = "converting",
    /// The volume or its metadata is damaged.
    Damaged = "damaged",
    /// The file system inside is damaged.
    DamagedFilesystem = "damaged-filesystem",
    /// The user did not say yes.
    Declined = "declined",
    /// The volume's file was deleted while it was open.
    Deleted = "deleted",
    /// It is of a system that VeraCrypt encrypted as a whole.
    EncryptedSystem = "encrypted-system",
    /// What should be made is there already.
    Exists = "exists",
    /// The drive or the connection to it does not keep to its standard.
    Faulty = "faulty",
    /// The file system can't be made, or does not allow it.
    Filesystem = "filesystem",
    /// The drive is set up in part only.
    HalfSetUp = "half-set-up",
    /// There is a file system where the header belongs.
    HasAFilesystem = "has-a-file-system",
    /// The write would have hit the protected hidden volume.
    HiddenVolume = "hidden-volume",
    /// The device is mounted or in use.
    InUse = "in-use",
    /// The user stopped it.
    Interrupted = "interrupted",
    /// The system or the medium failed.
    Io = "io",
    /// The secret given is the hidden volume's.
    IsHidden = "is-hidden",
    /// A keyfile can't be read or used.
    Keyfile = "keyfile",
    /// It would take the last way to open the volume.
    LastProtector = "last-protector",
    /// The drive takes no more tries.
    LockedOut = "locked-out",
    /// Earlier writes were lost; nothing more is written.
    LostWrites = "lost-writes",
    /// The machine started in another way than when the TPM sealed the secret.
    MeasurementsChanged = "measurements-changed",
    /// Bytes that belong to the volume's metadata can't be written.
    Metadata = "metadata",
    /// A device, a program or a part of the kernel is missing.
    Missing = "missing",
    /// A program of the file system's is missing.
    MissingProgram = "missing-program",
    /// The recovery password was mistyped.
    MistypedRecoveryPassword = "mistyped-recovery-password",
    /// What is in the volume could not be mounted.
    Mount = "mount",
    /// The process that serves the volume does not answer.
    NoAnswer = "no-answer",
    /// There is no file system that we know in the volume.
    NoFilesystem = "no-filesystem",
    /// The conversion's journal is not there, or is not the right one.
    NoJournal = "no-journal",
    /// The machine has not enough memory.
    NoMemory = "no-memory",
    /// There is no room for headers and journal.
    NoRoom = "no-room",
    /// No secret was given, or one of several.
    NoSecret = "no-secret",
    /// The medium is full.
    NoSpace = "no-space",
    /// The volume has no such protector.
    NoSuchProtector = "no-such-protector",
    /// There is no such workload.
    NoSuchWorkload = "no-such-workload",
    /// There is no TPM.
    NoTpm = "no-tpm",
    /// The file is no backup of a header.
    NotABackup = "not-a-backup",
    /// The file holds no results of `keyway lab`.
    NotADocument = "not-a-document",
    /// It is not a drive that encrypts by itself.
    NotADrive = "not-a-drive",
    /// Some of it could not be copied.
    NotAllCopied = "not-all-copied",
    /// Some of it could not be listed.
    NotAllListed = "not-all-listed",
    /// The secret is right, and its owner may not do that.
    NotAllowed = "not-allowed",
    /// The conversion had not begun; nothing was changed.
    NotBegun = "not-begun",
    /// It is not there.
    NotFound = "not-found",
    /// The secret given is not a hidden volume's.
    NotHidden = "not-hidden",
    /// The drive is not in a state for it.
    NotNow = "not-now",
    /// The volume is not open.
    NotOpen = "not-open",
    /// The drive is not set up.
    NotSetUp = "not-set-up",
    /// It is a folder, a link, a device or the like where something else is needed.
    NotSuitable = "not-suitable",
    /// The volume's protection is not suspended.
    NotSuspended = "not-suspended",
    /// The backup's header encrypts another part of the medium.
    OtherExtent = "other-extent",
    /// The backup has another key than the volume.
    OtherKey = "other-key",
    /// The backup has other master keys than the volume.
    OtherMasterKeys = "other-master-keys",
    /// The startup key is another one.
    OtherStartupKey = "other-startup-key",
    /// Another TPM sealed the secret.
    OtherTpm = "other-tpm",
    /// The backup is of another volume.
    OtherVolume = "other-volume",
    /// Some of the copies were written, and some could not be.
    PartlyWritten = "partly-written",
    /// The conversion is paused.
    Paused = "paused",
    /// The PIN can't be used.
    Pin = "pin",
    /// It can only be read.
    ReadOnly = "read-only",
    /// The drive is set up already.
    SetUpAlready = "set-up-already",
    /// Firmware has blocked the drive's owner until the next power cycle.
    SidBlocked = "sid-blocked",
    /// The file is no startup key.
    StartupKey = "startup-key",
    /// The metadata was changed by somebody who did not have the key.
    Tampered = "tampered",
    /// The file ends too early.
    TooShort = "too-short",
    /// It is too small for the test.
    TooSmall = "too-small",
    /// The TPM failed.
    Tpm = "tpm",
    /// The TPM takes no more tries for now.
    TpmLocked = "tpm-locked",
    /// The file system was not unmounted.
    Unclean = "unclean",
    /// It is not offered here.
    Unsupported = "unsupported",
    /// What was read back is not what was written.
    Verify = "verify",
    /// A workload's file makes no sense.
    Workload = "workload",
    /// It would overwrite data.
    WouldDestroy = "would-destroy",
    /// The PIN is wrong.
    WrongPin = "wrong-pin",
    /// The hidden volume that should be protected does not open.
    WrongProtectionSecret = "wrong-protection-secret",
    /// The recovery password is wrong.
    WrongRecoveryPassword = "wrong-recovery-password",
    /// The startup key does not open it.
    WrongStartupKey = "wrong-startup-key",
}

impl Kind {
    /// The kind that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_stands_for_one_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_word(kind.word()), Some(*kind));
            assert!(kind.meaning().ends_with('.') && !kind.meaning().starts_with(' '));
        }
        assert_eq!(Kind::from_word("no such word"), None);
    }
}
