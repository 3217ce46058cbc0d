//! The next steps that help.

use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

macro_rules! advice {
    ($(#[doc = $meaning:literal] $name:ident $({ $($(#[$attr:meta])* $field:ident: $type:ty),* })? = $word:literal,)*) => {
        /// A step that helps, or what to know before taking one. A front has the sentence for it; scripts know it by
        /// [`Advice::word`].
        ///
        /// Serialised it is an object: its word as `kind`, and its parameters by their names. Sizes are in bytes. A path that
        /// isn't UTF-8 is written as well as text can.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum Advice {
            $(#[doc = $meaning] #[serde(rename = $word)] $name $({ $(
                #[doc = concat!("The ", stringify!($field), ".")] $(#[$attr])* $field: $type,
            )* })?,)*
        }

        impl Advice {
            /// The word of each, the names of its parameters, and a sentence that says what it means.
            pub const ALL: &[(&str, &[&str], &str)] =
                &[$(($word, &[$($(stringify!($field)),*)?], $meaning),)*];

            /// The word for scripts. It never changes.
            pub const fn word(&self) -> &'static str {
                match self {
                    $(Self::$name $({ $($field: _),* })? => $word,)*
                }
            }
        }
    };
}

/// JSON is text, and a path need not be.
pub(crate) fn lossy<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

pub(crate) fn lossy_or_none<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(to)
}

advice! {
    /// Check the path.
    CheckPath = "check-path",
    /// Do it as a user who may.
    BecomeRoot = "become-root",
    /// It can only be read here: open it for reading, or make it writable.
    OpenReadOnly = "open-read-only",
    /// Close what uses it.
    CloseUsers = "close-users",
    /// Choose another name, or move the old thing away.
    ChooseAnotherName = "choose-another-name",
    /// Free some space, or ask for less.
    FreeSpace = "free-space",
    /// The file ends too early: check that it was copied completely.
    CheckCopiedFile = "check-copied-file",
    /// Free some memory, or add swap space.
    FreeMemory = "free-memory",
    /// It is a folder: name a file.
    NameFileNotFolder = "name-file-not-folder",
    /// Name a regular file or a block device.
    NameFileOrDevice = "name-file-or-device",
    /// The system's log holds the drive's own report.
    ReadSystemLog = "read-system-log",
    /// Somebody changes its size: wait, and try it again.
    WaitForItsSize = "wait-for-its-size",
    /// Ask for less than the volume has.
    AskForLess = "ask-for-less",
    /// Open it for writing.
    OpenWritable = "open-writable",
    /// Close it; what was written before is safe.
    CloseIt = "close-it",
    /// Open it again, and check the file system inside.
    OpenAgainAndCheck = "open-again-and-check",
    /// The rest was written; the file system inside should leave these bytes alone.
    LeaveMetadataAlone = "leave-metadata-alone",
    /// Check that the file was copied completely.
    CheckCopy = "check-copy",
    /// The file system on it is mounted here: unmount it.
    UnmountIt { #[serde(serialize_with = "lossy")] path: PathBuf } = "unmount-it",
    /// Have the system not swap to it.
    SwapOff { #[serde(serialize_with = "lossy")] path: PathBuf } = "swap-off",
    /// Take the block device down that is made of it.
    TakeDown { device: String } = "take-down",
    /// Detach the loop device.
    DetachLoop { device: String } = "detach-loop",
    /// A process of Keyway's has it: close the volume, or wait until it ends.
    CloseVolume { #[serde(serialize_with = "lossy")] path: PathBuf, pid: u32 } = "close-volume",
    /// Wait until the process ends, or end it.
    WaitForProcess { pid: u32 } = "wait-for-process",
    /// Close what uses it, whoever that is.
    CloseUsersOf { #[serde(serialize_with = "lossy")] path: PathBuf } = "close-users-of",
    /// It may be damaged.
    MayBeDamaged = "may-be-damaged",
    /// Switch the TPM on in the firmware, or name another.
    EnableTpm = "enable-tpm",
    /// Do it as a user who may use the TPM.
    JoinTss = "join-tss",
    /// Use the device that can be shared.
    UseResourceManager = "use-resource-manager",
    /// It may be a TPM 1.2.
    NeedTpm2 = "need-tpm2",
    /// Somebody may listen on the way.
    SomebodyBetween = "somebody-between",
    /// Start the system that it was sealed under.
    StartSealedSystem = "start-sealed-system",
    /// So often may it be wrong before the TPM locks itself.
    TriesLeft { tries: u32 } = "tries-left",
    /// The TPM forgets a wrong try in this time (seconds).
    ForgetsOneEvery { seconds: u64 } = "forgets-one-every",
    /// Use a recovery password.
    UseRecoveryPassword = "use-recovery-password",
    /// The same, and add the TPM anew.
    UseRecoveryAndAddTpm = "use-recovery-and-add-tpm",
    /// Switch the SHA-256 bank on.
    EnableSha256Bank = "enable-sha256-bank",
    /// Open it another way than by TPM.
    LeaveOutTpm = "leave-out-tpm",
    /// Give the PIN.
    GivePin = "give-pin",
    /// Give the startup key.
    GiveStartupKey = "give-startup-key",
    /// It needs the startup key with this name or one of these identifiers.
    NeedsStartupKey { name: String } = "needs-startup-key",
    /// Choose another name, or move the thing away.
    MoveAway = "move-away",
    /// Install this package.
    InstallPackage { package: String } = "install-package",
    /// Attach it as a device.
    OpenAsDevice = "open-as-device",
    /// Mount it.
    Mount = "mount",
    /// Mount it instead.
    MountInstead = "mount-instead",
    /// Mount the volume instead.
    MountVolume = "mount-volume",
    /// Check it.
    CheckFat = "check-fat",
    /// Check it with its own tools.
    CheckFileSystem = "check-file-system",
    /// Check it with its own tools.
    CheckWithTools = "check-with-tools",
    /// See what there is.
    ListFolder = "list-folder",
    /// Name a folder.
    NameFolder = "name-folder",
    /// Name a file, or a folder to be made here.
    NameFileOrNewFolder = "name-file-or-new-folder",
    /// Name what the link points to.
    NameTarget = "name-target",
    /// Only files and folders can be copied.
    OnlyFilesAndFolders = "only-files-and-folders",
    /// How a path inside a volume is written.
    WriteAsPath = "write-as-path",
    /// Put it under another name.
    PutUnderOtherName = "put-under-other-name",
    /// Choose another name, or have it overwritten.
    OtherNameOrForce = "other-name-or-force",
    /// Remove something first.
    RemoveSomething = "remove-something",
    /// Repair it before it is converted.
    RepairBeforeConversion = "repair-before-conversion",
    /// The system's log has the drive's report; nothing was changed.
    ReadSystemLogUnchanged = "read-system-log-unchanged",
    /// Make room in it.
    MakeRoom = "make-room",
    /// Close the volume.
    CloseNamed { volume: String } = "close-named",
    /// Close what uses it.
    CloseAndRetry = "close-and-retry",
    /// Try it as root.
    TryAsRoot = "try-as-root",
    /// Load the kernel's FUSE, or attach it another way.
    LoadFuse = "load-fuse",
    /// Let users open FUSE's device, or attach it another way.
    AllowFuse = "allow-fuse",
    /// Install FUSE's helper, or attach it another way.
    InstallFuse = "install-fuse",
    /// Load the kernel's loop devices, or do without.
    LoadLoop = "load-loop",
    /// Name a folder of this user's alone.
    SetRuntimeFolder = "set-runtime-folder",
    /// Not built in: attach it another way.
    AttachOtherwiseBuilt = "attach-otherwise-built",
    /// Something must make device nodes.
    RunUdev = "run-udev",
    /// Open it without mounting and look.
    LookInside = "look-inside",
    /// See what is open.
    ListOpen = "list-open",
    /// Remove the folder, or name another.
    RemoveOrRuntimeFolder = "remove-or-runtime-folder",
    /// The process is stopped: let it go on; then it does what it was asked for.
    LetGoOn { pid: u32 } = "let-go-on",
    /// It waits for the medium.
    WaitForMedium = "wait-for-medium",
    /// It is busy: wait, or look.
    WaitOrLook = "wait-or-look",
    /// Copy what is needed while it is open.
    CopyNow = "copy-now",
    /// Try again.
    TryStatus = "try-status",
    /// Check what was written last.
    CheckLastWrites = "check-last-writes",
    /// The other ways to attach work without it.
    AskDoctor = "ask-doctor",
    /// Attach it another way.
    AttachOtherwise = "attach-otherwise",
    /// The kernel's log may tell why.
    ReadKernelLog = "read-kernel-log",
    /// A udev rule must hand the device over.
    AddUdevRule = "add-udev-rule",
    /// Serve it again, or give it up.
    ServeAgain { volume: String } = "serve-again",
    /// Protect the hidden volume again, or give it up.
    ProtectOrClose = "protect-or-close",
    /// A loopback address, or TLS.
    LoopbackOrTls = "loopback-or-tls",
    /// A loopback address, or secrets.
    LoopbackOrSecret = "loopback-or-secret",
    /// What a folder of certificates holds.
    NameCertificates = "name-certificates",
    /// Close the other server, or choose another path.
    CloseOrOtherPath = "close-or-other-path",
    /// Choose another path.
    OtherPath = "other-path",
    /// How such a name is written.
    WriteNqn = "write-nqn",
    /// See which kernels this machine has.
    ListKernels = "list-kernels",
    /// See which ciphers there are.
    ListCiphers = "list-ciphers",
    /// Check password, keyfiles and PIM, and the path.
    CheckSecrets = "check-secrets",
    /// Argon2id was not tried for want of memory.
    NoMemoryForArgon2id = "no-memory-for-argon2id",
    /// Argon2id was not tried because of its cost; it can be asked for.
    TryArgon2id = "try-argon2id",
    /// Check the hidden volume's secret, or read only.
    CheckHiddenSecret = "check-hidden-secret",
    /// Give a password or a keyfile.
    GivePasswordOrKeyfile = "give-password-or-keyfile",
    /// The file should hold the password and nothing else.
    CheckPasswordFile = "check-password-file",
    /// The largest PIM there is.
    LargestPim { most: u32 } = "largest-pim",
    /// Name the file or device that holds the volume.
    NameVolume = "name-volume",
    /// The same, or look for what is left of a BitLocker volume.
    NameVolumeOrSearch = "name-volume-or-search",
    /// Copy it again in full; what is left can be read from a copy made as long as the volume was (bytes).
    CopyAgain { bytes: u64 } = "copy-again",
    /// From a backup file; the header in front makes one.
    RestoreFromFileOrMakeOne = "restore-from-file-or-make-one",
    /// From the volume's own backup, or a file.
    RestoreFromBackup = "restore-from-backup",
    /// From a backup file.
    RestoreFromFile = "restore-from-file",
    /// Restore the header.
    RestoreHeader = "restore-header",
    /// A newer release may know it.
    VersionsToFive = "versions-to-five",
    /// Open the drive or its whole image.
    OpenWholeDrive = "open-whole-drive",
    /// The partition that begins there (bytes) is not part of it.
    OtherPartition { offset: u64 } = "other-partition",
    /// Check the keyfile's path.
    CheckKeyfilePath = "check-keyfile-path",
    /// The first sector is written anew from the metadata.
    RepairFirstSector = "repair-first-sector",
    /// Nothing was written: copy all, and restore the first page.
    CopyAllThenRestoreFirstPage = "copy-all-then-restore-first-page",
    /// Restore the copies of the metadata from a backup.
    RestoreCopies = "restore-copies",
    /// Restore it from a backup of the headers.
    RestoreIt = "restore-it",
    /// Restore the metadata from a backup.
    RestoreMetadata = "restore-metadata",
    /// Windows can convert it; what is damaged is written anew.
    ConvertInWindowsOrRepair = "convert-in-windows-or-repair",
    /// A newer release may know it.
    NewerRelease = "newer-release",
    /// Let Windows finish the conversion.
    LetWindowsFinish = "let-windows-finish",
    /// Let Windows finish the conversion before anything else.
    LetWindowsFinishFirst = "let-windows-finish-first",
    /// Let Windows finish; then it can be written.
    LetWindowsFinishThenWrite = "let-windows-finish-then-write",
    /// Let Windows finish the interrupted conversion; then it can be written.
    LetWindowsFinishItThenWrite = "let-windows-finish-it-then-write",
    /// See what is inside, then write a new first sector.
    SeeThenRepair = "see-then-repair",
    /// Give one of a BitLocker volume's secrets.
    GiveAnySecret = "give-any-secret",
    /// Check the password, and the path.
    CheckPassword = "check-password",
    /// Look for the paper that names the identifier.
    FindPaper = "find-paper",
    /// Compare it with the paper.
    CompareWithPaper = "compare-with-paper",
    /// Name the startup key of that identifier.
    NameStartupKeyOfThat = "name-startup-key-of-that",
    /// Name a startup key's file or folder.
    NameStartupKey = "name-startup-key",
    /// Passwords are Unicode text.
    UseUnicode = "use-unicode",
    /// For a file: a new name and a size.
    NewNameAndSize = "new-name-and-size",
    /// Unmount or detach it.
    DetachIt = "detach-it",
    /// Free some space, or choose a smaller size.
    FreeSomeOrSmaller = "free-some-or-smaller",
    /// A smaller size, or another disk.
    SmallerOrOtherDisk = "smaller-or-other-disk",
    /// The smallest volume in bytes.
    LeastVolume { bytes: u64 } = "least-volume",
    /// The largest volume in bytes.
    LargestVolume { bytes: u64 } = "largest-volume",
    /// The largest hidden volume here, in bytes.
    RoomForHidden { bytes: u64 } = "room-for-hidden",
    /// The largest hidden volume that overwrites nothing, in bytes.
    RoomWithoutLoss { bytes: u64 } = "room-without-loss",
    /// The nearest size that is possible, in bytes.
    TakeSize { bytes: u64 } = "take-size",
    /// Take a key derivation for new volumes.
    TakeOfferedHash = "take-offered-hash",
    /// See which ciphers are offered.
    ListOfferedCiphers = "list-offered-ciphers",
    /// Give the outer volume's password.
    GiveOuterPassword = "give-outer-password",
    /// Take another password.
    TakeAnotherPassword = "take-another-password",
    /// The medium can't be trusted.
    DistrustMedium = "distrust-medium",
    /// No volume was made.
    NoVolumeMade = "no-volume-made",
    /// There is no complete file system in it.
    NoFileSystemMade = "no-file-system-made",
    /// Take a file system that can be made.
    TakeFileSystem = "take-file-system",
    /// Take one that can be made with such sectors.
    TakeFileSystemOfSectors = "take-file-system-of-sectors",
    /// Take one that Windows reads.
    TakeWindowsFileSystem = "take-windows-file-system",
    /// Another file system, or a larger volume.
    OtherFileSystemOrLarger = "other-file-system-or-larger",
    /// The smallest BitLocker volume in bytes.
    LeastBitLocker { bytes: u64 } = "least-bitlocker",
    /// Take a method for new volumes.
    TakeOfferedMethod = "take-offered-method",
    /// Give it something that opens it.
    GiveProtector = "give-protector",
    /// So many characters a password has.
    PasswordLengths { least: usize, most: usize } = "password-lengths",
    /// Memory: close programs, lift the limit, or take another machine.
    CloseProgramsLiftLimit = "close-programs-lift-limit",
    /// Remove a protector that is no longer needed.
    RemoveProtector = "remove-protector",
    /// Write the copies anew; move the data if that fails.
    RepairCopies = "repair-copies",
    /// Restore a backup from after the encryption.
    RestoreLater = "restore-later",
    /// Check that it is the right backup.
    CheckBackup = "check-backup",
    /// Name a backup of such headers.
    NameHeaderBackup = "name-header-backup",
    /// Name a backup of such metadata.
    NameMetadataBackup = "name-metadata-backup",
    /// Give the outer volume's secret and the hidden one's.
    GiveBothSecrets = "give-both-secrets",
    /// Give the hidden volume's secret.
    GiveHiddenSecret = "give-hidden-secret",
    /// Name the drive.
    NameDrive = "name-drive",
    /// Only the password can be changed from outside.
    OnlyPassword = "only-password",
    /// Take a password alone.
    PasswordAlone = "password-alone",
    /// Take one that can be typed at start-up.
    TypeablePassword = "typeable-password",
    /// Nothing has changed.
    OpensAsBefore = "opens-as-before",
    /// It opens by the other header; the medium fails.
    CopyOffMedium = "copy-off-medium",
    /// The only header may be lost; the medium fails.
    CopyOffOrRestore = "copy-off-or-restore",
    /// There is no copy: restore from a file.
    RestoreFromBackupFile = "restore-from-backup-file",
    /// See which protectors there are.
    ListProtectors = "list-protectors",
    /// Change that one, or remove it first.
    ChangeThatOne = "change-that-one",
    /// Add another protector first, or destroy the volume.
    AddAnotherOrErase = "add-another-or-erase",
    /// Add another protector first.
    AddAnother = "add-another",
    /// Add a password or a recovery password.
    AddProtector = "add-protector",
    /// Have it done all the same.
    Force = "force",
    /// Copy what is in it.
    CopyReadOnly = "copy-read-only",
    /// Try again, or on another drive.
    TryOnAnotherDrive = "try-on-another-drive",
    /// Name another size.
    NameSize = "name-size",
    /// Name the new size.
    NameNewSize = "name-new-size",
    /// Make the partition larger before.
    GrowPartition = "grow-partition",
    /// The file system inside has so many bytes, and may have so many at most: its own tool makes it smaller.
    ShrinkInside { bytes: u64, most: u64 } = "shrink-inside",
    /// Decrypt it, and encrypt it again.
    EncryptAnew = "encrypt-anew",
    /// A larger size, or room in the file system inside.
    LargerSizeOrRoom = "larger-size-or-room",
    /// The volume has the size that it had; the file system's own tools tell more.
    KeptItsSize = "kept-its-size",
    /// The file is larger than it was, and why.
    FileIsLarger { why: String } = "file-is-larger",
    /// The file system inside has the size again that it had.
    FileSystemRestored { filesystem: String } = "file-system-restored",
    /// The file system inside stays smaller than it was, and why; nothing in it is lost.
    FileSystemStaysSmaller { filesystem: String, why: String } = "file-system-stays-smaller",
    /// The volume opens with its old size or the new one; resizing it to so many bytes again goes on.
    ResizeAgain { #[serde(serialize_with = "lossy")] path: PathBuf, bytes: u64 } = "resize-again",
    /// Add a recovery password.
    AddRecoveryPassword = "add-recovery-password",
    /// Change the volume's one secret.
    ChangeItsSecret = "change-its-secret",
    /// Leave out what only BitLocker volumes have.
    LeaveOutBitLockers = "leave-out-bitlockers",
    /// A new password, or name another protector.
    NewPasswordOrOtherProtector = "new-password-or-other-protector",
    /// Give a password.
    GivePassword = "give-password",
    /// Name a folder on another drive.
    NameFolderElsewhere = "name-folder-elsewhere",
    /// Name the protector.
    NameProtector = "name-protector",
    /// Name one of several protectors.
    NameOneProtector = "name-one-protector",
    /// Add another one, then remove this one.
    AddThenRemove = "add-then-remove",
    /// Leave keyfiles and PIM out.
    LeaveOutKeyfiles = "leave-out-keyfiles",
    /// Leave one of the two out.
    LeaveOutOne = "leave-out-one",
    /// Say where the recovery password goes before anything is changed.
    NameRecoveryFile = "name-recovery-file",
    /// Make it a BitLocker volume, or leave these out.
    BitLockerOrLeaveOut = "bitlocker-or-leave-out",
    /// Say how large the hidden volume shall be, or leave its secret out.
    GiveHiddenSize = "give-hidden-size",
    /// Leave the hidden volume out, or make a VeraCrypt volume.
    LeaveHiddenOutOrVeraCrypt = "leave-hidden-out-or-veracrypt",
    /// Leave the hash out.
    LeaveHashOut = "leave-hash-out",
    /// Have the file system's own checker repair it.
    RunChecker = "run-checker",
    /// Make room, or take a larger size.
    MakeRoomOrLarger = "make-room-or-larger",
    /// Bring back the journal's file.
    BringBackJournal = "bring-back-journal",
    /// The medium can't be trusted: copy it.
    DistrustAndCopy = "distrust-and-copy",
    /// Bring the journal back as it was left, or copy all.
    BringJournalOrCopy = "bring-journal-or-copy",
    /// Bring back the journal as it was left.
    BringBackNewerJournal = "bring-back-newer-journal",
    /// Bring back the medium as it was left.
    BringBackMedium = "bring-back-medium",
    /// Nothing was changed: copy the medium.
    CopyMediumFirst = "copy-medium-first",
    /// Copy it before anything else.
    CopyWhole = "copy-whole",
    /// Bring its size back.
    BringBackSize = "bring-back-size",
    /// Make the file system smaller by so many bytes, or the device larger.
    ShrinkFileSystem { bytes: u64 } = "shrink-file-system",
    /// Finish its conversion.
    FinishConversion = "finish-conversion",
    /// Finish its conversion, here or in Windows.
    FinishConversionAnywhere = "finish-conversion-anywhere",
    /// Make the file larger.
    GrowFile = "grow-file",
    /// Go on while nobody uses it.
    GoOnOffline = "go-on-offline",
    /// Convert the free space, too.
    ConvertAllSpace = "convert-all-space",
    /// Make a new volume.
    MakeNewVolume = "make-new-volume",
    /// Mend its headers first.
    RepairHeaders = "repair-headers",
    /// Restore the header first.
    RestoreHeaderFirst = "restore-header-first",
    /// Only the outer volume can be converted.
    OnlyOuter = "only-outer",
    /// Not while it is in use; another cipher of the same format can be had so.
    OfflineOrSameFormat = "offline-or-same-format",
    /// Go on with its conversion.
    ResumeVolume { #[serde(serialize_with = "lossy")] path: PathBuf } = "resume-volume",
    /// After that, go on with its conversion.
    ThenResume { #[serde(serialize_with = "lossy")] path: PathBuf } = "then-resume",
    /// Begin a conversion.
    BeginConversion = "begin-conversion",
    /// Begin the encryption again.
    BeginEncryption = "begin-encryption",
    /// Begin the decryption again.
    BeginDecryption = "begin-decryption",
    /// Begin the re-encryption to that format again.
    BeginReencryption { format: String } = "begin-reencryption",
    /// Its status tells what it is.
    AskStatus = "ask-status",
    /// See how far it is, or pause it.
    AskStatusOrPause { #[serde(serialize_with = "lossy")] path: PathBuf } = "ask-status-or-pause",
    /// See what it is now.
    AskInfo { #[serde(serialize_with = "lossy")] path: PathBuf } = "ask-info",
    /// Use it: it is a whole volume.
    OpenIt { #[serde(serialize_with = "lossy")] path: PathBuf } = "open-it",
    /// Wait for its drive; ending the process by force loses nothing either.
    WaitForDrive = "wait-for-drive",
    /// Free some space, or put the journal on another drive.
    FreeSpaceOrOtherJournal = "free-space-or-other-journal",
    /// Free some space where it is.
    FreeSpaceThere = "free-space-there",
    /// A file with holes has fewer or none once it is converted: free some space.
    FreeSpaceForHoles = "free-space-for-holes",
    /// No conversion of this volume needs the file: remove it, or name another journal.
    NameOtherJournal = "name-other-journal",
    /// Name the journal that the conversion was begun with; nothing was changed.
    NameItsJournal = "name-its-journal",
    /// Name the journal itself, not a link to it; nothing was changed.
    NameJournalItself = "name-journal-itself",
    /// Say where the journal is; the medium says where it was when the conversion began. Nothing was changed.
    SayWhereJournal { #[serde(serialize_with = "lossy")] made_as: PathBuf } = "say-where-journal",
    /// Mount the drive with the journal, or say where it is; the medium says where it was when the conversion began. Nothing was changed.
    MountJournal { #[serde(serialize_with = "lossy")] made_as: PathBuf } = "mount-journal",
    /// Name a new file on another drive, which must not get lost.
    NameJournalElsewhere = "name-journal-elsewhere",
    /// Resizing makes a volume larger.
    ResizeInstead = "resize-instead",
    /// Leave these out, or make it a BitLocker volume.
    LeaveOutOrBitLocker = "leave-out-or-bitlocker",
    /// The volume's password or keyfiles.
    GivePasswordOrKeyfiles = "give-password-or-keyfiles",
    /// Give the new volume's secret as its own, or re-encrypt a volume.
    OwnSecretOrReencrypt = "own-secret-or-reencrypt",
    /// Leave the new secret out.
    LeaveOutNewSecret = "leave-out-new-secret",
    /// Leave free space as it is, or do it offline.
    LeaveFreeSpaceOrOffline = "leave-free-space-or-offline",
    /// Leave free space as it is.
    LeaveOutFreeSpace = "leave-out-free-space",
    /// Go on with its conversion if it is half encrypted, or re-encrypt it.
    ResumeOrReencrypt { #[serde(serialize_with = "lossy")] path: PathBuf } = "resume-or-reencrypt",
    /// Make a volume on an empty device, or re-encrypt one.
    CreateOrReencrypt = "create-or-reencrypt",
    /// A device can't grow.
    LeaveOutGrow = "leave-out-grow",
    /// This file system can't be made smaller, and so many bytes are missing: make the file larger.
    CantShrinkSoGrowFile { filesystem: String, bytes: u64 } = "cant-shrink-so-grow-file",
    /// This file system can't be made smaller, and so many bytes are missing: make the partition larger.
    CantShrinkSoGrowPartition { filesystem: String, bytes: u64 } = "cant-shrink-so-grow-partition",
    /// Make the file larger, and leave the file system as it is.
    GrowFileInstead = "grow-file-instead",
    /// Make room in this file system, or the partition so many bytes larger.
    MakeRoomOrGrowPartition { filesystem: String, bytes: u64 } = "make-room-or-grow-partition",
    /// Look at it with its own tools.
    LookWithTools = "look-with-tools",
    /// See to it that nobody else uses it, and try it again.
    TryWhenUnused = "try-when-unused",
    /// Nothing of it is encrypted yet: make it that small again, and go on.
    ShrinkAndResume { bytes: u64 } = "shrink-and-resume",
    /// What opens a volume is out of place; where new keys go can be said.
    NewKeysOnly = "new-keys-only",
    /// Leave the hash and the To Go layout out.
    LeaveOutHashAndToGo = "leave-out-hash-and-to-go",
    /// Leave the hash, the To Go layout and the larger file out.
    LeaveOutHashToGoAndGrow = "leave-out-hash-to-go-and-grow",
    /// Give the new volume a password of its own, or none.
    GiveNewPasswordOrNone = "give-new-password-or-none",
    /// Have the recovery password in a file, or none.
    NameRecoveryFileOrNone = "name-recovery-file-or-none",
    /// Give one of the two passwords from a file.
    GiveOneFromAFile = "give-one-from-a-file",
    /// Leave out what only BitLocker volumes have.
    LeaveOutNewKeys = "leave-out-new-keys",
    /// Leave hash and new protectors out: those are changed by themselves.
    LeaveOutProtectors = "leave-out-protectors",
    /// Nothing was encrypted, and everything has the size again that it had.
    SizesRestored = "sizes-restored",
    /// Nothing was encrypted; somebody else uses it by now, so sizes are left as they are.
    SizesLeft = "sizes-left",
    /// Nothing was encrypted; a size could not be had back.
    SizesNotRestored { why: String } = "sizes-not-restored",
    /// Nothing was converted, and the file has the size again that it had.
    FileSizeRestored = "file-size-restored",
    /// Nothing was converted; the file is larger than it was.
    FileStaysLarger { why: String } = "file-stays-larger",
    /// What a workload may say.
    ReadWorkloads = "read-workloads",
    /// See which workloads there are.
    ListWorkloads = "list-workloads",
    /// What a trace may be.
    ReadTraces = "read-traces",
    /// How a target is written.
    WriteTarget = "write-target",
    /// A larger one, or a smaller test.
    LargerOrSmallerTest = "larger-or-smaller-test",
    /// Say that the data may go, or name a folder.
    DestroyData = "destroy-data",
    /// Free it, or name a folder.
    FreeItOrFolder = "free-it-or-folder",
    /// One that can be written to, or a workload that reads.
    NameWritable = "name-writable",
    /// Free some space, or a smaller test.
    FreeSomeOrSmallerTest = "free-some-or-smaller-test",
    /// Keep no data on it.
    KeepNoData = "keep-no-data",
    /// Cut the trace, or record less.
    CutTrace = "cut-trace",
    /// Record a shorter time.
    RecordLess = "record-less",
    /// Record or copy the trace again.
    RecordAgain = "record-again",
    /// Copy the trace again.
    CopyTraceAgain = "copy-trace-again",
    /// What traces are known.
    GiveTrace = "give-trace",
    /// Which versions of fio's logs are known.
    FioVersions = "fio-versions",
    /// It is damaged.
    TraceDamaged = "trace-damaged",
    /// A larger volume, or fold the trace.
    LargerOrFold = "larger-or-fold",
    /// Mounted folders, or the recorded copy.
    NameMountedFolders = "name-mounted-folders",
    /// The drive models that there are.
    TakeModel { models: String } = "take-model",
    /// Compare formats.
    CompareFormats = "compare-formats",
    /// It is a folder: name a file in it.
    NameFileInFolder = "name-file-in-folder",
    /// Name results that the laboratory saved.
    NameSavedResults = "name-saved-results",
    /// See which drive models there are, or name a model's file.
    ListModels = "list-models",
    /// Compare a shipped drive model.
    CompareModel = "compare-model",
    /// Measure on a path that needs nothing.
    MeasureInProcess = "measure-in-process",
    /// End the recording before the volume is closed.
    EndRecordingFirst = "end-recording-first",
    /// Name no kernel, or a cipher that it has.
    LeaveKernelOut = "leave-kernel-out",
    /// Take a kernel that this machine has.
    TakeKernel { kernels: String } = "take-kernel",
    /// Smaller buffers, or fewer threads.
    SmallerBuffers = "smaller-buffers",
    /// How an NVMe secret looks, and what makes one.
    MakeNvmeSecret = "make-nvme-secret",
    /// Copy it again.
    CopyItAgain = "copy-it-again",
    /// Serve the volume another way.
    ServeOtherwise = "serve-otherwise",
    /// Make a virtual drive.
    MakeVirtualDrive = "make-virtual-drive",
    /// Use a newer program.
    UseNewer = "use-newer",
    /// This program has not written it.
    NotWrittenHere = "not-written-here",
    /// Take one of the key derivations' hashes.
    TakeHash = "take-hash",
    /// How a list of PCRs is written.
    WritePcrs = "write-pcrs",
    /// How a TPM's address is written.
    WriteTpmAddress = "write-tpm-address",
    /// How an identifier is written.
    WriteGuid = "write-guid",
    /// It is a folder: name a volume.
    NameVolumeNotFolder = "name-volume-not-folder",
    /// Go on with its conversion, unless a process is at work on it.
    Resume { #[serde(serialize_with = "lossy")] path: PathBuf } = "resume",
    /// Name the startup key's own file.
    NameStartupKeyFile = "name-startup-key-file",
    /// The metadata is of an older volume, which can still be read.
    ReadRemains = "read-remains",
    /// The medium fails: copy the volume to another.
    CopyToAnotherDrive = "copy-to-another-drive",
    /// Give its password or keyfiles.
    GivePasswordInstead = "give-password-instead",
    /// Give one of the secrets that a BitLocker volume has.
    GiveBitLockerSecret = "give-bitlocker-secret",
    /// Protect nothing.
    ProtectNothing = "protect-nothing",
    /// Give no size.
    LeaveSizeOut = "leave-size-out",
    /// Give a size.
    GiveSize = "give-size",
    /// Ask for no hidden volume.
    LeaveHiddenOut = "leave-hidden-out",
    /// Say that it is a BitLocker volume: its metadata is looked for.
    SearchMetadata = "search-metadata",
    /// The same; other formats' headers are restored.
    SearchOrRestoreHeader = "search-or-restore-header",
    /// Name the backup's file, or repair from a copy.
    NameBackupFile = "name-backup-file",
    /// Give one of them otherwise.
    OneOnStandardInput = "one-on-standard-input",
    /// One of them is enough.
    OneIsEnough = "one-is-enough",
    /// Give a password or a keyfile.
    GiveSecret = "give-secret",
    /// Take a shorter password, or use the file as a keyfile.
    ShorterOrKeyfile = "shorter-or-keyfile",
    /// Open the descriptor before.
    OpenDescriptor = "open-descriptor",
    /// Have discards stay here.
    LeaveOutDiscards = "leave-out-discards",
    /// The system's log may tell why, for instance too little memory.
    ReadSystemLogForMemory = "read-system-log-for-memory",
    /// That is for the program itself to do.
    OpenByVerb = "open-by-verb",
    /// Try it again.
    TryAgain = "try-again",
    /// A drive that takes security commands, or a virtual one's file.
    NameEncryptingDrive = "name-encrypting-drive",
    /// A software volume on it.
    EncryptBySoftware = "encrypt-by-software",
    /// A software volume in its place.
    EncryptInstead = "encrypt-instead",
    /// Another program manages such drives.
    UseSedutil = "use-sedutil",
    /// Have libata let security commands through.
    AllowSecurityCommands = "allow-security-commands",
    /// Without this bridge.
    ConnectDirectly = "connect-directly",
    /// As root.
    RunAsRoot = "run-as-root",
    /// Try again, then cut the drive's power.
    RetryOrPowerCycle = "retry-or-power-cycle",
    /// Try again.
    Retry = "retry",
    /// If that does not help, cut the machine's power.
    ElseRestartMachine = "else-restart-machine",
    /// The system's log has the reason.
    ReadLogForReason = "read-log-for-reason",
    /// What the drive offers.
    SeeWhatItOffers = "see-what-it-offers",
    /// What the drive has.
    SeeWhatItHas = "see-what-it-has",
    /// In what state the drive is.
    SeeDriveState = "see-drive-state",
    /// The size of the drive's blocks.
    SeeBlockSize = "see-block-size",
    /// What ranges are aligned to.
    SeeAlignment = "see-alignment",
    /// Alignment and number of ranges.
    SeeRangeLimits = "see-range-limits",
    /// How large the MBR shadow is.
    SeeShadowSize = "see-shadow-size",
    /// The ranges that there are.
    ListRanges = "list-ranges",
    /// An administrator has the range lock.
    EnableRange = "enable-range",
    /// Less of it.
    ReadOrWriteLess = "read-or-write-less",
    /// In smaller parts.
    SmallerParts = "smaller-parts",
    /// Give one.
    GiveAPassword = "give-a-password",
    /// A shorter one.
    Shorten = "shorten",
    /// A shorter one, or hash it.
    ShortenOrHash = "shorten-or-hash",
    /// Have the machine's firmware not block the drive's owner.
    SwitchBlockSidOff = "switch-block-sid-off",
    /// The label's secret works all the same.
    UsePsidMeanwhile = "use-psid-meanwhile",
    /// Cut the drive's power.
    PowerCycle = "power-cycle",
    /// Cut the drive's power, then the right secret.
    PowerCycleAndRetry = "power-cycle-and-retry",
    /// Cut its power, and update its firmware.
    PowerCycleForFirmware = "power-cycle-for-firmware",
    /// Update the firmware.
    NewerFirmware = "newer-firmware",
    /// Save what can be read.
    CopyWhatCanBeRead = "copy-what-can-be-read",
    /// Read the label again.
    ReadLabelAgain = "read-label-again",
    /// The owner's secret takes the drive back and loses nothing.
    RevertKeepingData = "revert-keeping-data",
    /// So does the label's secret, which loses everything.
    OrRevertByPsid = "or-revert-by-psid",
    /// If that does not help, the label's secret, which loses everything.
    ElseRevertByPsid = "else-revert-by-psid",
    /// To the factory's state first.
    RevertByPsidFirst = "revert-by-psid-first",
    /// Its state.
    SeeState = "see-state",
    /// The owner's secret undoes a set-up that was cut short.
    RevertSetupCutShort = "revert-setup-cut-short",
    /// Keep the owner's secret, which takes a drive back that is set up in part.
    KeepOwnersSecret = "keep-owners-secret",
    /// Whether it is right.
    CheckDrivePassword = "check-drive-password",
    /// The owner's.
    GiveOwnersSecret = "give-owners-secret",
    /// Name a file that holds one.
    GivePasswordFile = "give-password-file",
    /// Do it as an administrator, or get the right from one.
    AuthenticateAsAdministrator = "authenticate-as-administrator",
    /// As somebody else.
    NameAnotherAuthority = "name-another-authority",
    /// Wait, and try again.
    WaitAMinute = "wait-a-minute",
    /// End the sessions of other programs.
    EndOtherSessions = "end-other-sessions",
    /// Set the drive up.
    SetDriveUp = "set-drive-up",
    /// Unlock it, or do not keep the data.
    UnlockOrLoseData = "unlock-or-lose-data",
    /// Its user unlocks the range, or it is erased.
    HaveUserUnlockOrErase = "have-user-unlock-or-erase",
    /// One namespace alone.
    KeepOneNamespace = "keep-one-namespace",
    /// Unmount or close it.
    CloseThatFirst = "close-that-first",
    /// Elsewhere than on the drive.
    KeepElsewhere = "keep-elsewhere",
    /// Name another one.
    NameAnother = "name-another",
    /// Take the range away.
    RemoveRangeInstead = "remove-range-instead",
    /// Each password by who may change it.
    ChangeAsThemselves = "change-as-themselves",
    /// Name a user.
    NameUser = "name-user",
    /// As somebody whom the kernel knows.
    UnlockAsKernelKnows = "unlock-as-kernel-knows",
    /// Without the kernel.
    LeaveOutKernel = "leave-out-kernel",
    /// Serve the virtual drive, or do it without the kernel.
    ServeVirtualDrive = "serve-virtual-drive",
    /// The label's secret, whole.
    ReadPsidAgain = "read-psid-again",
    /// Name the label's secret.
    GivePsid = "give-psid",
    /// Where the owner's secret goes or comes from.
    GiveOwnersSource = "give-owners-source",
    /// Another port.
    OtherPort = "other-port",
    /// How a size is written.
    WriteSize = "write-size",
    /// A program with virtual drives.
    BuildWithVirtualDrives = "build-with-virtual-drives",
    /// The password, hashed in one of these ways.
    TryHashes { one: String, other: String } = "try-hashes",
    /// Do it as root, or without the page cache.
    RootOrNoCache = "root-or-no-cache",
    /// Do it as root, or use the file instead of mounting.
    RootOrFile = "root-or-file",
    /// Do it as root, or use the device instead of mounting.
    RootOrDevice = "root-or-device",
    /// See what this machine can do, or attach it by NBD.
    AskDoctorOrNbd = "ask-doctor-or-nbd",
    /// Open it for reading, or do it as a user who may write to it.
    ReadOnlyOrAsWriter = "read-only-or-as-writer",
    /// Do without the page cache.
    LeaveOutCache = "leave-out-cache",
    /// Open it for writing, or protect nothing.
    LeaveOutReadOnly = "leave-out-read-only",
    /// Attach it another way, or mount nothing.
    OtherWayOrNoMount = "other-way-or-no-mount",
    /// Attach it another way, or without the page cache.
    OtherWayOrNoCache = "other-way-or-no-cache",
    /// Attach it another way, or protect nothing.
    NotByKernel = "not-by-kernel",
    /// Make a folder and name it.
    MakeMountPoint = "make-mount-point",
    /// Sockets, TLS and secrets say by themselves who may connect.
    LeaveOutAnyUser = "leave-out-any-user",
    /// Take a loopback address, or TLS with certificates.
    LoopbackOrCertificates = "loopback-or-certificates",
    /// Take a loopback address, or have hosts prove a secret, which encrypts nothing.
    LoopbackOrHostSecret = "loopback-or-host-secret",
    /// Name a folder that does not exist yet.
    NameNewFolder = "name-new-folder",
    /// Name a folder, or a new file.
    NameFolderOrNewFile = "name-folder-or-new-file",
    /// Put the files in it one by one.
    PutFilesSingly = "put-files-singly",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_stands_for_one_step() {
        for (i, (word, _, meaning)) in Advice::ALL.iter().enumerate() {
            assert!(Advice::ALL.iter().skip(i + 1).all(|(other, ..)| other != word), "{word}");
            assert!(
                word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{word}"
            );
            assert!(meaning.ends_with('.'), "{word}");
        }
    }

    #[test]
    fn a_step_goes_through_json() {
        let step = Advice::CloseVolume { path: "/v.hc".into(), pid: 7 };
        let json = serde_json::json!({"kind": "close-volume", "path": "/v.hc", "pid": 7});
        assert_eq!(serde_json::to_value(&step).expect("JSON"), json);
        assert_eq!(serde_json::from_value::<Advice>(json).expect("whole"), step);
        assert_eq!(step.word(), "close-volume");
    }
}
