//! The next steps that help.

use crate::path_text;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

macro_rules! advice {
    ($($name:ident $({ $($(#[$attr:meta])* $field:ident: $type:ty),* })? = $word:literal: $meaning:literal,)*) => {
        /// A step that helps, or what to know before taking one. A front has the sentence for it; scripts know it by
        /// [`Advice::word`].
        ///
        /// Serialised it is an object: its word as `kind`, and its parameters by their names. Sizes are in bytes. A path that
        /// isn't UTF-8 is the list of its bytes.
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

advice! {
    CheckPath = "check-path": "Check the path.",
    ListDevices = "list-devices": "See which devices there are.",
    BecomeRoot = "become-root": "Do it as a user who may, or as root.",
    OpenReadOnly = "open-read-only": "It can only be read here: open it for reading, or make it writable.",
    CloseUsers = "close-users": "Close what uses it.",
    ChooseAnotherName = "choose-another-name": "Choose another name, or move the old thing away.",
    FreeSpace = "free-space": "Free some space.",
    FreeMemory = "free-memory": "Free some memory, or add swap space.",
    AllowMoreFiles = "allow-more-files": "As many files are open as may be: close some, or allow more.",
    NameFileNotFolder = "name-file-not-folder": "It is a folder: name a file.",
    PathThroughFile = "path-through-file": "A file stands where a folder belongs: check the path.",
    NameSystemHeader = "name-system-header":
        "Name the drive that the partition is on, its image, or the 512 bytes of the system's header.",
    NameFileOrDevice = "name-file-or-device": "Name a regular file or a block device.",
    ReadSystemLog = "read-system-log": "The system's log holds the drive's own report.",
    WaitForItsSize = "wait-for-its-size": "Somebody changes its size: wait, and try it again.",
    NewerKernelForSandbox = "newer-kernel-for-sandbox":
        "A newer kernel has the layers of the sandbox, or do without those.",
    AskForLess = "ask-for-less": "Ask for less than the volume has.",
    OpenWritable = "open-writable": "Open it for writing.",
    CloseIt = "close-it": "Close it; what was written before is safe.",
    ProtectAgainAndCheck = "protect-again-and-check":
        "Open it again with the hidden volume protected, and check the file system inside.",
    OpenAgainAndCheck = "open-again-and-check": "Open it again, and check the file system inside.",
    LeaveMetadataAlone = "leave-metadata-alone":
        "The rest was written; the file system inside should leave these bytes alone.",
    MakeFileSystemAround { bytes: u64 } = "make-file-system-around":
        "The file system was made over the volume's own metadata: copy the files out, and into a new volume, or make one of at most so many bytes.",
    CheckCopy = "check-copy": "Check that the file was copied completely.",
    UnmountIt { #[serde(with = "path_text")] path: PathBuf } = "unmount-it":
        "The file system on it is mounted here: unmount it.",
    SwapOff { #[serde(with = "path_text")] path: PathBuf } = "swap-off": "Have the system not swap to it.",
    TakeDown { device: String } = "take-down": "Take the block device down that is made of it.",
    DetachLoop { device: String } = "detach-loop": "Detach the loop device.",
    CloseVolume { #[serde(with = "path_text")] path: PathBuf, pid: u32 } = "close-volume":
        "A process of Keyway's has it: close the volume, or wait until it ends.",
    CloseVolumeAs { user: String, variables: String, #[serde(with = "path_text")] path: PathBuf, pid: u32 } = "close-volume-as":
        "A process of Keyway's has it for another user: close the volume as that one, with these variables, or wait.",
    CloseElsewhere { #[serde(with = "path_text")] folder: PathBuf, #[serde(with = "path_text")] path: PathBuf } = "close-elsewhere":
        "A process of this user's has it, with its sessions in that folder: close the volume with KEYWAY_RUNTIME_DIR set to it.",
    WaitForProcess { pid: u32 } = "wait-for-process": "Wait until the process ends, or end it.",
    EndProcess { pid: u32 } = "end-process":
        "No command reaches the process any more: asked to end, it closes the volume in good order.",
    CloseUsersOf { #[serde(with = "path_text")] path: PathBuf } = "close-users-of":
        "Close what uses it, whoever that is.",
    MayBeDamaged = "may-be-damaged": "It may be damaged.",
    EnableTpm = "enable-tpm": "Switch the TPM on in the firmware, or name another.",
    JoinTss = "join-tss": "Do it as a user who may use the TPM.",
    UseResourceManager = "use-resource-manager": "Use the device that can be shared.",
    NeedTpm2 = "need-tpm2": "It may be a TPM 1.2.",
    SomebodyBetween = "somebody-between": "Somebody may listen on the way.",
    StartSealedSystem = "start-sealed-system": "Start the system that it was sealed under.",
    TriesLeft { tries: u32 } = "tries-left": "So often may it be wrong before the TPM locks itself.",
    ForgetsOneEvery { seconds: u64 } = "forgets-one-every": "The TPM forgets a wrong try in this time (seconds).",
    UseRecoveryPassword = "use-recovery-password": "Use a recovery password.",
    UseRecoveryAndAddTpm = "use-recovery-and-add-tpm": "The same, and add the TPM anew.",
    EnableSha256Bank = "enable-sha256-bank": "Switch the SHA-256 bank on.",
    LeaveOutTpm = "leave-out-tpm": "Open it another way than by TPM.",
    GivePin = "give-pin": "Give the PIN.",
    GiveStartupKey = "give-startup-key": "Give the startup key.",
    NeedsStartupKey { name: String } = "needs-startup-key":
        "It needs the startup key with this name or one of these identifiers.",
    InstallPackage { package: String } = "install-package": "Install this package.",
    OpenAsDevice = "open-as-device": "Attach it as a device.",
    LoadFileSystem { filesystem: String } = "load-file-system":
        "Load the kernel's driver of this file system.",
    LetWindowsCheck = "let-windows-check":
        "Have Windows check it and shut down in full, or clear the mark where no Windows is waiting.",
    LetWindowsWake =
        "let-windows-wake": "Have Windows shut down in full, or remove its sleep where it is gone; until then it is read.",
    LetWindowsRepair = "let-windows-repair": "Have Windows repair it.",
    MountVolume = "mount-volume": "Mount the volume instead.",
    CheckFirst { checker: String } = "check-first": "Check it.",
    CheckFileSystem = "check-file-system": "Check it with its own tools.",
    CheckWithTools = "check-with-tools": "Check it with its own tools.",
    ListFolder = "list-folder": "See what there is.",
    NameFolder = "name-folder": "Name a folder.",
    NameFileOrNewFolder = "name-file-or-new-folder": "Name a file, or a folder to be made here.",
    VolumeFirst = "volume-first": "Check the path; the volume comes first, then what is in it.",
    NameTarget = "name-target": "Name what the link points to.",
    OnlyFilesAndFolders = "only-files-and-folders": "Only files and folders can be copied.",
    WriteAsPath = "write-as-path": "How a path inside a volume is written.",
    NameOneOrFolder = "name-one-or-folder": "Name one file, or a folder that what matches goes to.",
    CloseBracket = "close-bracket": "Close the bracket in it; [[] stands for one.",
    LeaveSlashOut = "leave-slash-out": "Name a folder that is there, or leave the slash out to give the file that name.",
    NameFolderInVolume = "name-folder-in-volume": "Name a folder that is in the volume.",
    PasswordInUtf16 = "password-in-utf16": "The password is in UTF-16, as editors of Windows write files.",
    PasswordHasMark = "password-has-mark": "The password begins with a byte-order mark.",
    PasswordHasLineEnd = "password-has-line-end": "The password ends as a line does.",
    PasswordHasLines = "password-has-lines": "The password has several lines, and all of them are taken for it.",
    PasswordHasBlanks = "password-has-blanks": "The password begins or ends with a blank.",
    PasswordNotText = "password-not-text": "The password is no UTF-8 text.",
    PasswordDecomposed = "password-decomposed": "The password's accents are apart from their letters.",
    PasswordInCapitals = "password-in-capitals": "The password looks as if Caps Lock was on.",
    TryKeyboardLayout = "try-keyboard-layout": "Other spellings of the password can be tried.",
    PutUnderOtherName = "put-under-other-name": "Put it under another name.",
    RenameOrSkipUnfit = "rename-or-skip-unfit": "Rename them, or have the rest copied without them.",
    RemoveOldFirst = "remove-old-first": "There must be room for the old one and the new one: remove the old one first.",
    OtherNameOrForce = "other-name-or-force": "Choose another name, or have it overwritten.",
    PutAsRoot { package: Option<String> } = "put-as-root":
        "The same as root writes to it, and so does a user who has this package, where there is one.",
    PutBeforeStays = "put-before-stays": "What was put before it stays in the volume.",
    PutAll = "put-all": "Put all of them into a folder, or write the new name as a path in the volume.",
    GetBoth = "get-both": "Copy both into a folder, or write the new name as a path from here.",
    PutAsFolder = "put-as-folder": "Put them into a folder, or put a folder that holds them.",
    RemoveSomething = "remove-something": "Remove something first.",
    ProtectMeanwhile = "protect-meanwhile": "Protect a hidden volume meanwhile, where there may be one.",
    PutLessOrLargerVolume = "put-less-or-larger-volume":
        "It would not fit if there were nothing else: put less of it, or take a larger volume.",
    PutLessOrNewVolume = "put-less-or-new-volume":
        "It would not fit if there were nothing else, and the file system can't get larger: put less of it, or make a larger volume.",
    SplitOrExFat = "split-or-exfat": "Put it in parts, or into a volume with a file system that has larger files.",
    RepairBeforeConversion { checker: String } = "repair-before-conversion": "Repair it before it is converted.",
    ReadSystemLogUnchanged = "read-system-log-unchanged": "The system's log has the drive's report; nothing was changed.",
    MakeRoom = "make-room": "Make room in it.",
    CloseNamed { #[serde(with = "path_text")] volume: PathBuf } = "close-named": "Close the volume.",
    LoadFuse = "load-fuse": "Load the kernel's FUSE, or attach it another way.",
    JoinGroup { group: String } = "join-group": "Have root add you to the group that may.",
    LetUsersOpen { device: String } = "let-users-open": "Have root let users open the device.",
    InstallFuse = "install-fuse": "Install FUSE's helper, or attach it another way.",
    GiveCapability { to_open: bool } = "give-capability": "Let this container's root do what root does elsewhere, or work outside of it.",
    LoadLoop = "load-loop": "Load the kernel's loop devices, or do without.",
    SetRuntimeFolder = "set-runtime-folder": "Name a folder of this user's alone.",
    AttachOtherwiseBuilt = "attach-otherwise-built": "Not built in: attach it another way.",
    RunUdev = "run-udev": "Something must make device nodes.",
    ReachFiles { filesystem: String } = "reach-files":
        "Nothing here mounts this file system: its files are reached without mounting it, or by what has a driver.",
    OwnFolder = "own-folder": "Take a folder that this user may write to.",
    RoomOrReadOnly = "room-or-read-only": "See that the medium can be written, or have nothing written.",
    LookInside = "look-inside": "Open it without mounting and look.",
    CopyAllOfIt { bytes: u64 } = "copy-all-of-it":
        "Copy the file system of so many bytes again, all of it; a volume that was made larger gets its size back by resizing.",
    ListOpen = "list-open": "See what is open.",
    RemoveOrRuntimeFolder = "remove-or-runtime-folder": "Move what is there away, or name another.",
    OwnRuntimeFolder = "own-runtime-folder": "It is another user's: name a folder of this user's alone, or none.",
    KeepOthersOut { #[serde(with = "path_text")] path: PathBuf } = "keep-others-out":
        "Let nobody else into the folder, or name another.",
    ShortRuntimeFolder = "short-runtime-folder": "Name a runtime folder with a shorter path.",
    NameWholePath = "name-whole-path": "Name it by its path from the root on.",
    LetGoOn { pid: u32 } = "let-go-on": "The process is stopped: let it go on; then it does what it was asked for.",
    WaitForMedium = "wait-for-medium": "It waits for the medium.",
    WaitOrLook = "wait-or-look": "It is busy: wait, or look.",
    CopyNow = "copy-now": "Copy what is needed while it is open.",
    TryStatus = "try-status": "Try again.",
    CheckLastWrites = "check-last-writes": "Check what was written last.",
    AskDoctor = "ask-doctor": "The other ways to attach work without it.",
    AttachOtherwise = "attach-otherwise": "Attach it another way.",
    ReadKernelLog = "read-kernel-log": "The kernel's log may tell why.",
    AddUdevRule = "add-udev-rule": "A udev rule must hand the device over.",
    ServeAgain { #[serde(with = "path_text")] volume: PathBuf } = "serve-again": "Serve it again, or give it up.",
    ProtectOrClose = "protect-or-close": "Protect the hidden volume again, or give it up.",
    LoopbackOrTls = "loopback-or-tls": "Take a loopback address, or TLS with certificates.",
    LoopbackOrSecret = "loopback-or-secret":
        "Take a loopback address, or have hosts prove a secret, which encrypts nothing.",
    NameCertificates = "name-certificates": "What a folder of certificates holds.",
    CloseOrOtherPath = "close-or-other-path": "Close the other server, or choose another path.",
    OtherPath = "other-path": "Choose another path.",
    WriteNqn = "write-nqn": "How such a name is written.",
    ListKernels = "list-kernels": "See which kernels this machine has.",
    ListCiphers = "list-ciphers": "See which ciphers there are.",
    SecretsAsBegun { pim: bool } = "secrets-as-begun":
        "Check password, keyfiles and PIM: they are those that it was begun with.",
    CheckSecrets = "check-secrets": "Check password, keyfiles and PIM, and the path.",
    NoMemoryForArgon2id = "no-memory-for-argon2id": "Argon2id was not tried for want of memory.",
    TryArgon2id = "try-argon2id": "Argon2id was not tried because of its cost; it can be asked for.",
    CheckHiddenSecret = "check-hidden-secret": "Check the hidden volume's secret, or read only.",
    CheckHiddenOptions = "check-hidden-options": "Check the hidden volume's password, keyfiles and PIM.",
    CheckPasswordFile = "check-password-file": "The file should hold the password and nothing else.",
    LargestPim { most: u32 } = "largest-pim": "The largest PIM there is.",
    NameVolume = "name-volume": "Name the file or device that holds the volume.",
    FilesAreAt { #[serde(with = "path_text")] path: PathBuf } = "files-are-at":
        "The file system is not encrypted, and mounted there.",
    MountPlain = "mount-plain": "The file system is not encrypted: mount it as it is.",
    MountPlainAt { #[serde(with = "path_text")] path: PathBuf, offset: Option<u64>, bytes: Option<u64> } = "mount-plain-at":
        "The file system is not encrypted: mount it as it is, of a disk's image from that offset on.",
    HasMetadata = "has-metadata":
        "A BitLocker volume's metadata is in it: if it is one whose first sector is lost, say that it is BitLocker's.",
    NameVolumeOrSearch = "name-volume-or-search": "The same, or look for what is left of a BitLocker volume.",
    CopyAgain { bytes: u64 } = "copy-again":
        "Copy it again in full; what is left can be read from a copy made as long as the volume was (bytes).",
    CopyInFull = "copy-in-full": "Copy it again in full: what opens it lies in the part that is missing.",
    RestoreFromFileOrMakeOne = "restore-from-file-or-make-one": "From a backup file; the header in front makes one.",
    RestoreFromBackup = "restore-from-backup": "From the volume's own backup, or a file.",
    OwnBackupOrWhole = "own-backup-or-whole":
        "Take the volume's own backup; where this is that, the volume was cut: copy it again in full.",
    WriteCopyAnew = "write-copy-anew": "The header in front is good: a backup of it writes the copy anew.",
    ElseRestoreFromFile = "else-restore-from-file": "If both headers are damaged, a backup file is what helps.",
    SecretOfBackup = "secret-of-backup":
        "The secret is that of the time of the backup, and a hidden volume's header is in it only where that was asked for.",
    RestoreFromFile = "restore-from-file": "From a backup file.",
    RestoreHeader = "restore-header": "Restore the header.",
    RestoreFromThis = "restore-from-this": "It is a header backup: restore the volume's header from it.",
    VersionsToFive = "versions-to-five": "A newer release may know it.",
    OpenWholeDrive = "open-whole-drive": "Open the drive or its whole image.",
    OtherPartition { offset: u64 } = "other-partition": "The partition that begins there (bytes) is not part of it.",
    CheckKeyfilePath = "check-keyfile-path": "Check the keyfile's path.",
    RepairFirstSector = "repair-first-sector": "The first sector is written anew from the metadata.",
    CopyAllThenRestoreFirstPage = "copy-all-then-restore-first-page":
        "Nothing was written: copy all, and restore the first page.",
    RestoreMetadata = "restore-metadata": "Restore the metadata from a backup.",
    OpenByMetadata = "open-by-metadata": "Open it read-only by its metadata, then write a new first sector.",
    ConvertInWindowsOrRepair = "convert-in-windows-or-repair": "Windows can convert it; what is damaged is written anew.",
    NewerRelease = "newer-release": "A newer release may know it.",
    LetWindowsFinish = "let-windows-finish": "Let Windows finish the conversion.",
    LetWindowsFinishThenWrite = "let-windows-finish-then-write": "Let Windows finish; then it can be written.",
    SeeThenRepair = "see-then-repair": "See what is inside, then write a new first sector.",
    GiveAnySecret { password: bool, recovery_password: bool, startup_key: bool, tpm: bool } = "give-any-secret":
        "Give one of the secrets that this BitLocker volume has.",
    HashIsNew = "hash-is-new": "The hash that was named is the new volume's, and narrows nothing.",
    LeaveOutNarrowing { what: String } = "leave-out-narrowing": "This narrowed the search: leave it out.",
    LeaveOutSystem = "leave-out-system": "Do not say that it is a system which VeraCrypt encrypted.",
    LeaveOutFormat = "leave-out-format": "Leave out the format that was named.",
    NameRecoveryPassword = "name-recovery-password": "Name a file that holds the recovery password.",
    CheckPassword = "check-password": "Check the password, and the path.",
    LeaveSecretOut = "leave-secret-out": "Its protection is suspended: it opens without a secret.",
    FindPaper = "find-paper": "Look for the paper that names the identifier.",
    CompareWithPaper = "compare-with-paper": "Compare it with the paper.",
    NameStartupKeyOfThat = "name-startup-key-of-that": "Name the startup key of that identifier.",
    NameStartupKey = "name-startup-key": "Name a startup key's file or folder.",
    UseUnicode = "use-unicode": "Passwords are Unicode text.",
    NewNameAndSize = "new-name-and-size": "For a file: a new name and a size.",
    DetachIt = "detach-it": "Unmount or detach it.",
    SmallerOrOtherDisk = "smaller-or-other-disk": "A smaller size, or another disk.",
    LeastVolume { bytes: u64 } = "least-volume": "The smallest volume in bytes.",
    LargestVolume { bytes: u64 } = "largest-volume": "The largest volume in bytes.",
    RoomForHidden { bytes: u64 } = "room-for-hidden": "The largest hidden volume here, in bytes.",
    MakeRoomInOuter = "make-room-in-outer": "Free room at the end of the outer volume, or make a larger one.",
    MapOrForce = "map-or-force": "An outer volume whose file system has a map that is read, or have it done all the same.",
    OpenHiddenOrForce = "open-hidden-or-force": "Open the hidden volume that is there, or have it replaced.",
    TakeSize { bytes: u64 } = "take-size": "The nearest size that is possible, in bytes.",
    TakeOfferedHash = "take-offered-hash": "Take a key derivation for new volumes.",
    GiveOuterPassword = "give-outer-password": "Give the outer volume's password.",
    TakeAnotherPassword = "take-another-password": "Take another password.",
    DistrustMedium = "distrust-medium": "The medium can't be trusted.",
    NoVolumeMade = "no-volume-made": "No volume was made.",
    NoFileSystemMade = "no-file-system-made": "There is no complete file system in it.",
    TakeFileSystem = "take-file-system": "Take a file system that can be made.",
    TakeFileSystemOfSectors = "take-file-system-of-sectors": "Take one that can be made with such sectors.",
    TakeWindowsFileSystem = "take-windows-file-system": "Take one that Windows reads.",
    RoomForFileSystem { bytes: u64 } = "room-for-file-system":
        "The smallest volume in bytes that has room for that file system.",
    OtherFileSystemOrLarger = "other-file-system-or-larger": "Another file system, or a larger volume.",
    ResizeForBitLocker { path: PathBuf, bytes: u64 } = "resize-for-bitlocker":
        "Make the volume as large as the smallest BitLocker volume, which has so many bytes, before.",
    ResizeForConversion { path: PathBuf, bytes: u64 } = "resize-for-conversion":
        "Make the volume as large as the smallest one that can be converted, which has so many bytes, before.",
    LeastBitLocker { bytes: u64 } = "least-bitlocker": "The smallest BitLocker volume in bytes.",
    TakeOfferedMethod = "take-offered-method": "Take a method for new volumes.",
    GiveProtector = "give-protector": "Give it something that opens it.",
    PasswordLengths { least: usize, most: usize } = "password-lengths": "So many characters a password has.",
    CloseProgramsLiftLimit = "close-programs-lift-limit": "Memory: close programs, lift the limit, or take another machine.",
    RemoveProtector = "remove-protector": "Remove a protector that is no longer needed.",
    RepairCopies = "repair-copies": "Write the copies anew; move the data if that fails.",
    RestoreLater = "restore-later": "Restore a backup from after the encryption.",
    CheckBackup = "check-backup": "Check that it is the right backup.",
    RestoreThenResize { bytes: u64 } = "restore-then-resize":
        "A newer backup; or this one, and resizing the volume to so many bytes then, which keeps what is in it.",
    NameHeaderBackup = "name-header-backup": "Name a backup of such headers.",
    NameMetadataBackup = "name-metadata-backup": "Name a backup of such metadata.",
    GiveBothSecrets = "give-both-secrets": "Give the outer volume's secret and the hidden one's.",
    GiveHiddenSecret = "give-hidden-secret": "Give the hidden volume's secret.",
    NameDrive = "name-drive": "Name the drive.",
    OnlyPassword = "only-password": "Only the password can be changed from outside.",
    PasswordAlone = "password-alone": "Take a password alone.",
    TypeablePassword = "typeable-password": "Take one that can be typed at start-up.",
    OpensAsBefore = "opens-as-before": "Nothing has changed.",
    CopyOffMedium = "copy-off-medium": "It opens by the other header; the medium fails.",
    CopyOffOrRestore = "copy-off-or-restore": "The only header may be lost; the medium fails.",
    ListProtectors = "list-protectors": "See which protectors there are.",
    ChangeThatOne = "change-that-one": "Change that one, or remove it first.",
    ResumeProtection = "resume-protection": "Resume the protection that is suspended.",
    AddAnotherOrErase = "add-another-or-erase": "Add another protector first, or destroy the volume.",
    AddAnother = "add-another": "Add another protector first.",
    AddProtector = "add-protector": "Add a password or a recovery password.",
    Force = "force": "Have it done all the same.",
    CopyReadOnly = "copy-read-only": "Copy what is in it.",
    TryOnAnotherDrive = "try-on-another-drive": "Try again, or on another drive.",
    NameSize = "name-size": "Name another size.",
    NameNewSize = "name-new-size": "Name the new size.",
    GrowPartition = "grow-partition": "Make the partition larger before.",
    ShrinkInside { bytes: u64, most: u64 } = "shrink-inside":
        "The file system inside has so many bytes, and may have so many at most: its own tool makes it smaller.",
    EncryptAnew = "encrypt-anew": "Decrypt it, and encrypt it again.",
    LargerSizeOrRoom { bytes: u64, most: u64 } = "larger-size-or-room":
        "A larger size, or room in the file system inside, which has so many bytes and would have so many at most.",
    CopyToSmaller { bytes: u64, most: u64 } = "copy-to-smaller":
        "Nothing makes such a file system of so many bytes smaller, which may have so many at most: a new volume for its files.",
    LeaveFileSystem = "leave-file-system": "Give the volume alone another size.",
    KeptItsSize = "kept-its-size": "The volume has the size that it had; the file system's own tools tell more.",
    FileIsLarger { why: String } = "file-is-larger": "The file is larger than it was, and why.",
    FileSystemRestored { filesystem: String } = "file-system-restored":
        "The file system inside has the size again that it had.",
    FileSystemStaysSmaller { filesystem: String, why: String } = "file-system-stays-smaller":
        "The file system inside stays smaller than it was, and why; nothing in it is lost.",
    ResizeAgain { #[serde(with = "path_text")] path: PathBuf, bytes: u64 } = "resize-again":
        "The volume opens with its old size or the new one; resizing it to so many bytes again goes on.",
    AddRecoveryPassword = "add-recovery-password": "Add a recovery password.",
    ChangeItsSecret = "change-its-secret": "Change the volume's one secret.",
    LeaveOutBitLockers = "leave-out-bitlockers": "Leave out what only BitLocker volumes have.",
    NewPasswordOrOtherProtector = "new-password-or-other-protector": "A new password, or name another protector.",
    GivePassword = "give-password": "Give a password.",
    NameFolderElsewhere = "name-folder-elsewhere": "Name a folder on another drive.",
    NameProtector = "name-protector": "Name the protector.",
    OpenByOtherThanTpm = "open-by-other-than-tpm": "What opens the volume now, and another option for the TPM that seals.",
    LeaveOutTpmOptions = "leave-out-tpm-options": "Without what a TPM's protector has.",
    GiveNewPin = "give-new-pin": "A new PIN instead.",
    AddThenRemove = "add-then-remove": "Add another one, then remove this one.",
    NewPasswordOrStartupKey = "new-password-or-startup-key": "A new password, or a startup key of its own.",
    MakeItBitLocker = "make-it-bitlocker": "Make it a BitLocker volume, or take a cipher of VeraCrypt's.",
    LeaveOutKeyfiles = "leave-out-keyfiles": "Leave keyfiles and PIM out.",
    LeaveOutOne = "leave-out-one": "Leave one of the two out.",
    NameRecoveryFile = "name-recovery-file": "Say where the recovery password goes before anything is changed.",
    BitLockerOrLeaveOut = "bitlocker-or-leave-out": "Make it a BitLocker volume, or leave these out.",
    GiveHiddenSize = "give-hidden-size": "Say how large the hidden volume shall be, or leave its secret out.",
    LeaveHiddenOutOrVeraCrypt = "leave-hidden-out-or-veracrypt": "Leave the hidden volume out, or make a VeraCrypt volume.",
    LeaveHashOut = "leave-hash-out": "Leave the hash out.",
    RunChecker = "run-checker": "Have the file system's own checker repair it.",
    MakeRoomOrLarger = "make-room-or-larger": "Make room, or take a larger size.",
    BringBackJournal = "bring-back-journal": "Bring back the journal's file.",
    DistrustAndCopy = "distrust-and-copy": "The medium can't be trusted: copy it.",
    BringJournalOrCopy = "bring-journal-or-copy": "Bring the journal back as it was left, or copy all.",
    BringBackNewerJournal = "bring-back-newer-journal": "Bring back the journal as it was left.",
    BringBackMedium = "bring-back-medium": "Bring back the medium as it was left.",
    AttachAgain = "attach-again": "Attach again what was taken away.",
    ClearTraces { resume: String } = "clear-traces": "Clear up after a conversion that had not begun.",
    CopyMediumFirst = "copy-medium-first": "Nothing was changed: copy the medium.",
    CopyWhole = "copy-whole": "Copy it before anything else.",
    GiveUpUnreadable = "give-up-unreadable": "Go on, giving up what can't be read.",
    CopyDriveFirst = "copy-drive-first": "Copy the drive to another one first.",
    BringBackSize = "bring-back-size": "Bring its size back.",
    ShrinkFileSystem { bytes: u64 } = "shrink-file-system":
        "Make the file system smaller by so many bytes, or the device larger.",
    FinishConversion = "finish-conversion": "Finish its conversion.",
    FinishConversionAnywhere = "finish-conversion-anywhere": "Finish its conversion, here or in Windows.",
    GrowFile = "grow-file": "Make the file larger.",
    GoOnOffline = "go-on-offline": "Go on while nobody uses it.",
    ConvertAllSpace = "convert-all-space": "Convert the free space, too.",
    MakeNewVolume = "make-new-volume": "Make a new volume.",
    RepairHeaders = "repair-headers": "Mend its headers first.",
    RestoreHeaderFirst = "restore-header-first": "Restore the header first.",
    OnlyOuter = "only-outer": "Only the outer volume can be converted.",
    OfflineOrSameFormat = "offline-or-same-format":
        "Not while it is in use; another cipher of the same format can be had so.",
    ResumeVolume { #[serde(with = "path_text")] path: PathBuf } = "resume-volume": "Go on with its conversion.",
    ThenResume { #[serde(with = "path_text")] path: PathBuf } = "then-resume":
        "After that, go on with its conversion.",
    BeginConversion = "begin-conversion": "Begin a conversion.",
    BeginEncryption = "begin-encryption": "Begin the encryption again.",
    BeginDecryption = "begin-decryption": "Begin the decryption again.",
    BeginReencryption { format: String } = "begin-reencryption": "Begin the re-encryption to that format again.",
    AskStatus = "ask-status": "Its status tells what it is.",
    AskStatusOrPause { #[serde(with = "path_text")] path: PathBuf } = "ask-status-or-pause":
        "See how far it is, or pause it.",
    AskInfo { #[serde(with = "path_text")] path: PathBuf } = "ask-info": "See what it is now.",
    OpenIt { #[serde(with = "path_text")] path: PathBuf } = "open-it": "Use it: it is a whole volume.",
    WaitForDrive = "wait-for-drive": "Wait for its drive; ending the process by force loses nothing either.",
    FreeSpaceOrOtherJournal = "free-space-or-other-journal": "Free some space, or put the journal on another drive.",
    FreeSpaceThere = "free-space-there": "Free some space where it is.",
    FreeSpaceForHoles = "free-space-for-holes": "A file with holes has fewer or none once it is converted: free some space.",
    NameOtherJournal = "name-other-journal":
        "No conversion of this volume needs the file: remove it, or name another journal.",
    NameItsJournal = "name-its-journal": "Name the journal that the conversion was begun with; nothing was changed.",
    NameJournalItself = "name-journal-itself": "Name the journal itself, not a link to it; nothing was changed.",
    SayWhereJournal { #[serde(with = "path_text")] made_as: PathBuf } = "say-where-journal":
        "Say where the journal is; the medium says where it was when the conversion began. Nothing was changed.",
    MountJournal { #[serde(with = "path_text")] made_as: PathBuf } = "mount-journal":
        "Mount the drive with the journal, or say where it is; the medium says where it was when the conversion began. Nothing was changed.",
    NameJournalElsewhere = "name-journal-elsewhere": "Name a new file on another drive, which must not get lost.",
    ResizeInstead = "resize-instead": "Resizing makes a volume larger.",
    LeaveOutOrBitLocker = "leave-out-or-bitlocker": "Leave these out, or make it a BitLocker volume.",
    GivePasswordOrKeyfiles = "give-password-or-keyfiles": "The volume's password or keyfiles.",
    OwnSecretOrReencrypt = "own-secret-or-reencrypt": "Give the new volume's secret as its own, or re-encrypt a volume.",
    GiveSecretOfNewVolume = "give-secret-of-new-volume": "Give the new volume's password, PIM and keyfiles as such.",
    LeaveOutJournal = "leave-out-journal": "Its journal is on the volume: leave the other one out.",
    LeaveOutNewSecret = "leave-out-new-secret": "Leave the new secret out.",
    LeaveFreeSpaceOrOffline = "leave-free-space-or-offline": "Leave free space as it is, or do it offline.",
    LeaveOutFreeSpace = "leave-out-free-space": "Leave free space as it is.",
    ResumeOrReencrypt { #[serde(with = "path_text")] path: PathBuf } = "resume-or-reencrypt":
        "Go on with its conversion if it is half encrypted, or re-encrypt it.",
    CreateOrReencrypt = "create-or-reencrypt": "Make a volume on an empty device, or re-encrypt one.",
    LeaveOutGrow = "leave-out-grow": "A device can't grow.",
    CantShrinkSoGrowFile { filesystem: String, bytes: u64 } = "cant-shrink-so-grow-file":
        "This file system can't be made smaller, and so many bytes are missing: make the file larger.",
    CantShrinkSoGrowPartition { filesystem: String, bytes: u64 } = "cant-shrink-so-grow-partition":
        "This file system can't be made smaller, and so many bytes are missing: make the partition larger.",
    CopyToNewVolume { #[serde(with = "path_text")] path: PathBuf, is_file: bool, bytes: u64 } = "copy-to-new-volume":
        "It becomes no BitLocker volume in place: copy what is in it to a new one, or make a VeraCrypt volume of it, for which so many bytes are missing.",
    GrowFileInstead = "grow-file-instead": "Make the file larger, and leave the file system as it is.",
    MakeRoomOrGrowPartition { filesystem: String, bytes: u64 } = "make-room-or-grow-partition":
        "Make room in this file system, or the partition so many bytes larger.",
    TryWhenUnused = "try-when-unused": "See to it that nobody else uses it, and try it again.",
    ShrinkAndResume { bytes: u64 } = "shrink-and-resume":
        "Nothing of it is encrypted yet: make it that small again, and go on.",
    NewKeysOnly = "new-keys-only": "What opens a volume is out of place; where new keys go can be said.",
    LeaveOutToGo = "leave-out-to-go": "Leave the To Go layout out.",
    GiveThemToTheNew = "give-them-to-the-new": "They are the new volume's.",
    GiveNewPasswordOrNone = "give-new-password-or-none": "Give the new volume a password of its own, or none.",
    NameRecoveryFileOrNone = "name-recovery-file-or-none": "Have the recovery password in a file, or none.",
    GiveOneFromAFile = "give-one-from-a-file": "Give one of the two passwords from a file.",
    LeaveOutNewKeys = "leave-out-new-keys": "Leave out what only BitLocker volumes have.",
    LeaveOutProtectors = "leave-out-protectors": "Leave new protectors out: those are changed by themselves.",
    SizesRestored = "sizes-restored": "Nothing was encrypted, and everything has the size again that it had.",
    SizesLeft = "sizes-left": "Nothing was encrypted; somebody else uses it by now, so sizes are left as they are.",
    SizesNotRestored { why: String } = "sizes-not-restored": "Nothing was encrypted; a size could not be had back.",
    FileSizeRestored = "file-size-restored": "Nothing was converted, and the file has the size again that it had.",
    FileStaysLarger { why: String } = "file-stays-larger": "Nothing was converted; the file is larger than it was.",
    ReadWorkloads = "read-workloads": "What a workload may say.",
    SmallerForModel { option: String } = "smaller-for-model": "A modelled drive keeps less than that: make the test smaller.",
    ListWorkloads = "list-workloads": "See which workloads there are.",
    ReadTraces = "read-traces": "What a trace may be.",
    WriteTarget = "write-target": "How a target is written.",
    WriteEntrant = "write-entrant": "How another program is named for a comparison.",
    TryItsCommand = "try-its-command": "Try its command by itself.",
    LargerOrSmallerTest = "larger-or-smaller-test": "A larger one, or a smaller test.",
    DestroyData = "destroy-data": "Say that the data may go, or name a folder.",
    FreeItOrFolder = "free-it-or-folder": "Free it, or name a folder.",
    NameWritable = "name-writable": "One that can be written to, or a workload that reads.",
    FreeSomeOrSmallerTest = "free-some-or-smaller-test": "Free some space, or a smaller test.",
    KeepNoData = "keep-no-data": "Keep no data on it.",
    CutTrace = "cut-trace": "Cut the trace, or record less.",
    RecordAgain = "record-again": "Record or copy the trace again.",
    GiveTrace = "give-trace": "What traces are known.",
    NameTrace { names: String } = "name-trace": "Name a trace's file, or one of these that are shipped.",
    FioVersions = "fio-versions": "Which versions of fio's logs are known.",
    LargerOrFold = "larger-or-fold": "A larger volume, or fold the trace.",
    NameMountedFolders = "name-mounted-folders": "Mounted folders, or the recorded copy.",
    TakeModel { models: String } = "take-model": "The drive models that there are.",
    CompareFormats = "compare-formats": "Compare formats.",
    NameFileInFolder = "name-file-in-folder": "It is a folder: name a file in it.",
    NameSavedResults = "name-saved-results": "Name results that the laboratory saved.",
    ListModels = "list-models": "See which drive models there are, or name a model's file.",
    CompareModel = "compare-model": "Compare a shipped drive model.",
    MeasureInProcess = "measure-in-process": "Measure on a path that needs nothing.",
    EndRecordingFirst = "end-recording-first": "End the recording before the volume is closed.",
    LeaveKernelOut = "leave-kernel-out": "Name no kernel, or a cipher that it has.",
    TakeKernel { kernels: String } = "take-kernel": "Take a kernel that this machine has.",
    SmallerBuffers = "smaller-buffers": "Smaller buffers, or fewer threads.",
    MakeNvmeSecret = "make-nvme-secret": "How an NVMe secret looks, and what makes one.",
    CopyItAgain = "copy-it-again": "Copy it again.",
    ServeOtherwise = "serve-otherwise": "Serve the volume another way.",
    MakeVirtualDrive = "make-virtual-drive": "Make a virtual drive.",
    NotWrittenHere = "not-written-here": "This program has not written it.",
    TakeHash = "take-hash": "Take one of the key derivations' hashes.",
    WritePcrs = "write-pcrs": "How a list of PCRs is written.",
    WriteTpmAddress = "write-tpm-address": "How a TPM's address is written.",
    WriteGuid = "write-guid": "How an identifier is written.",
    NameVolumeNotFolder = "name-volume-not-folder": "It can hold no volume: name a volume.",
    OpenContainer { container: String, #[serde(with = "path_text")] path: PathBuf } = "open-container":
        "It is a container of this other kind: open or unpack it first.",
    Resume { #[serde(with = "path_text")] path: PathBuf } = "resume":
        "Go on with its conversion, unless a process is at work on it.",
    NameStartupKeyFile = "name-startup-key-file": "Name the startup key's own file.",
    ReadRemains = "read-remains": "The metadata is of an older volume, which can still be read.",
    CopyToAnotherDrive = "copy-to-another-drive": "The medium fails: copy the volume to another.",
    GiveBitLockerSecret = "give-bitlocker-secret": "Give one of the secrets that a BitLocker volume has.",
    ProtectNothing = "protect-nothing": "Protect nothing.",
    LeaveSizeOut = "leave-size-out": "Give no size.",
    GiveSize = "give-size": "Give a size.",
    LeaveHiddenOut = "leave-hidden-out": "Ask for no hidden volume.",
    SearchMetadata = "search-metadata": "Say that it is a BitLocker volume: its metadata is looked for.",
    SearchOrRestoreHeader = "search-or-restore-header": "The same; other formats' headers are restored.",
    NameBackupFile = "name-backup-file": "Name the backup's file, or repair from a copy.",
    OneOnStandardInput = "one-on-standard-input": "Give one of them otherwise.",
    GiveSecret = "give-secret": "Give a password or a keyfile.",
    GiveNewSecret = "give-new-secret": "Give the password or a keyfile that is to be set.",
    GiveProtectSecret = "give-protect-secret": "Give the secret of the hidden volume that is to be protected.",
    OuterFirst = "outer-first": "The outer volume's secret first, the hidden one's as the one to protect.",
    GiveDrivePassword = "give-drive-password": "Give the drive's password in a file or by a descriptor.",
    GiveNewDrivePassword = "give-new-drive-password": "Give the new password in a file or by a descriptor.",
    NameOneOfThem = "name-one-of-them": "Name one of them by its identifier.",
    AddPasswordOrName = "add-password-or-name": "Add a password, or name the protector that is to be changed.",
    NameMoreOfIt = "name-more-of-it": "Write more of the identifier.",
    WritePassword = "write-password": "Write the password there, or name another place.",
    ShorterOrKeyfile = "shorter-or-keyfile": "Take a shorter password, or use the file as a keyfile.",
    NameKeyfilesApart = "name-keyfiles-apart": "Name the keyfiles one by one, or a folder of their own.",
    NameFileOrPipe = "name-file-or-pipe": "Name a file, or a pipe.",
    OpenDescriptor = "open-descriptor": "Open the descriptor before.",
    LeaveOutDiscards = "leave-out-discards": "Have discards stay here.",
    ReadSystemLogForMemory = "read-system-log-for-memory": "The system's log may tell why, for instance too little memory.",
    OpenByVerb = "open-by-verb": "That is for the program itself to do.",
    NameEncryptingDrive = "name-encrypting-drive": "A drive that takes security commands, or a virtual one's file.",
    NameWholeDrive { #[serde(with = "path_text")] drive: PathBuf } = "name-whole-drive": "The drive that it is a part of.",
    EncryptBySoftware = "encrypt-by-software": "A software volume on it.",
    UseSedutil = "use-sedutil": "Another program manages such drives.",
    AllowSecurityCommands = "allow-security-commands": "Have libata let security commands through.",
    ConnectDirectly = "connect-directly": "Without this bridge.",
    RetryOrPowerCycle = "retry-or-power-cycle": "Try again, then cut the drive's power.",
    Retry = "retry": "Try again.",
    ElseRestartMachine = "else-restart-machine": "If that does not help, cut the machine's power.",
    SeeWhatItHas = "see-what-it-has": "What the drive has and offers.",
    SeeRangeLimits = "see-range-limits": "The size of blocks, what ranges are aligned to, and how many there may be.",
    SeeShadowSize = "see-shadow-size": "How large the MBR shadow is.",
    ListRanges = "list-ranges": "The ranges that there are.",
    EnableRange = "enable-range": "An administrator has the range lock.",
    PlaceRange = "place-range": "Put the range somewhere first.",
    ReadOrWriteLess = "read-or-write-less": "Less of it.",
    SmallerParts = "smaller-parts": "In smaller parts.",
    Shorten = "shorten": "A shorter one.",
    ShortenOrHash = "shorten-or-hash": "A shorter one, or hash it.",
    SwitchBlockSidOff = "switch-block-sid-off": "Have the machine's firmware not block the drive's owner.",
    UsePsidMeanwhile = "use-psid-meanwhile": "The label's secret works all the same.",
    PowerCycle = "power-cycle": "Cut the drive's power.",
    PowerCycleAndRetry = "power-cycle-and-retry": "Cut the drive's power, then the right secret.",
    PowerCycleForFirmware = "power-cycle-for-firmware": "Cut its power, and update its firmware.",
    NewerFirmware = "newer-firmware": "Update the firmware.",
    CopyWhatCanBeRead = "copy-what-can-be-read": "Save what can be read.",
    ReadLabelAgain = "read-label-again": "Read the label again.",
    RevertKeepingData = "revert-keeping-data": "The owner's secret takes the drive back and loses nothing.",
    OrRevertByPsid = "or-revert-by-psid": "So does the label's secret, which loses everything.",
    ElseRevertByPsid = "else-revert-by-psid": "If that does not help, the label's secret, which loses everything.",
    ElsePsidAlone = "else-psid-alone":
        "Where the owner's secret is lost, and its sheet: the label's secret, which loses everything.",
    ResetOtherwise = "reset-otherwise": "Sessions can be ended without it, and a power cycle does the rest.",
    MayBeNewAlready = "may-be-new-already": "After a change that was cut short it may be the new one already.",
    RevertByPsidFirst = "revert-by-psid-first": "To the factory's state first.",
    SeeState = "see-state": "Its state.",
    RevertSetupCutShort = "revert-setup-cut-short": "The owner's secret undoes a set-up that was cut short.",
    KeepOwnersSecret = "keep-owners-secret": "Keep the owner's secret, which takes a drive back that is set up in part.",
    CheckDrivePassword = "check-drive-password": "Whether it is right.",
    RepeatToFinish = "repeat-to-finish": "The same again, with the same secrets: it goes on where it was cut.",
    GiveOwnersSecret = "give-owners-secret": "The owner's.",
    GivePasswordFile = "give-password-file": "Name a file that holds one.",
    AuthenticateAsRangesUser = "authenticate-as-ranges-user":
        "The range belongs to a user alone: do it as that one.",
    AuthenticateAsAdministrator = "authenticate-as-administrator": "Do it as an administrator, or get the right from one.",
    NameAnotherAuthority = "name-another-authority": "As somebody else.",
    WaitAMinute = "wait-a-minute": "Wait, and try again.",
    EndOtherSessions = "end-other-sessions": "End the sessions of other programs.",
    SetDriveUp = "set-drive-up": "Set the drive up.",
    UnlockOrLoseData = "unlock-or-lose-data": "Unlock it, or do not keep the data.",
    HaveUserUnlockOrErase = "have-user-unlock-or-erase": "Its user unlocks the range, or it is erased.",
    KeepOneNamespace = "keep-one-namespace": "One namespace alone.",
    CloseThatFirst = "close-that-first": "Unmount or close it.",
    KeepElsewhere = "keep-elsewhere": "Elsewhere than on the drive.",
    NameAnother = "name-another": "Name another one.",
    RemoveRangeInstead = "remove-range-instead": "Take the range away.",
    ChangeAsThemselves = "change-as-themselves": "Each password by who may change it.",
    NameUser = "name-user": "Name a user.",
    UnlockAsKernelKnows = "unlock-as-kernel-knows": "As somebody whom the kernel knows.",
    LeaveOutKernel = "leave-out-kernel": "Without the kernel.",
    ConnectToDrive { pid: u32, host: String, port: String, nqn: String } = "connect-to-drive":
        "That process has the virtual drive switched on, and serves it there: connect to it, or switch it off.",
    ServeVirtualDrive = "serve-virtual-drive": "Serve the virtual drive, or do it without the kernel.",
    ReadPsidAgain = "read-psid-again": "The label's secret, whole.",
    GivePsid = "give-psid": "Name the label's secret.",
    GiveOwnersSource = "give-owners-source": "Where the owner's secret goes or comes from.",
    TakeFreePort = "take-free-port": "Take a port that needs no leave.",
    ListAddresses = "list-addresses": "See which addresses this machine has.",
    OtherPort = "other-port": "Another port.",
    WriteSize = "write-size": "How a size is written.",
    BuildWithVirtualDrives = "build-with-virtual-drives": "A program with virtual drives.",
    TryHashes { one: String, other: String } = "try-hashes": "The password, hashed in one of these ways.",
    RootOrNoCache = "root-or-no-cache": "Do it as root, or without the page cache.",
    RootOrFile = "root-or-file": "Do it as root, or use the file instead of mounting.",
    RootOrUnprotected = "root-or-unprotected": "Do it as root, or protect nothing and only read.",
    RootOrDevice = "root-or-device": "Do it as root, or use the device instead of mounting.",
    AskDoctorOrNbd = "ask-doctor-or-nbd": "See what this machine can do, or attach it by NBD.",
    ReadOnlyOrAsWriter = "read-only-or-as-writer": "Open it for reading, or do it as a user who may write to it.",
    LeaveOutCache = "leave-out-cache": "Do without the page cache.",
    NameFileSystem = "name-file-system": "Name the file system that shall have the label, or leave that out.",
    LeaveOutMountOption = "leave-out-mount-option": "Leave it out of the mount options.",
    LeaveOutMountOptions = "leave-out-mount-options": "Leave the mount options out, or have the kernel mount it.",
    LeaveOutReadOnly = "leave-out-read-only": "Open it for writing, or protect nothing.",
    OtherWayOrNoMount = "other-way-or-no-mount": "Attach it another way, or mount nothing.",
    OtherWayOrNotIdle = "other-way-or-not-idle": "Attach it another way, or close it yourself.",
    OtherWayOrNoCache = "other-way-or-no-cache": "Attach it another way, or without the page cache.",
    NotByKernel = "not-by-kernel": "Attach it another way, or protect nothing.",
    MakeMountPoint = "make-mount-point": "Make a folder and name it.",
    LeaveOutAnyUser = "leave-out-any-user": "Sockets, TLS and secrets say by themselves who may connect.",
    NameFavourite = "name-favourite": "Name it otherwise.",
    ReplaceFavourite = "replace-favourite": "Name it otherwise, or replace the one that is there.",
    ListFavourites = "list-favourites": "See which favourites there are.",
    ForgetForAll { name: String } = "forget-for-all": "It is one of all users': forget that one, as root.",
    ForgetOwn { name: String } = "forget-own": "It is one of this user's own: forget that one.",
    RenameToText = "rename-to-text": "Rename it to what is text.",
    LeaveOptionOut = "leave-option-out": "Leave the option out: what it names is asked for when the volume is opened.",
    WithoutAtBoot = "without-at-boot": "Keep it without what can't be, or without its being opened when the machine starts.",
    SetHome = "set-home": "Say where this user's files are.",
    CorrectFile { #[serde(with = "path_text")] path: PathBuf } = "correct-file": "Correct the file, or remove it.",
    NameLogFile = "name-log-file": "Name a new file, or a log that is there.",
    NameNewFile = "name-new-file": "Name a file that is not there yet.",
    NameFile = "name-file": "Name a file; one that is called - is ./-.",
    NameNewFolder = "name-new-folder": "Name a folder that does not exist yet.",
    NameFolderOrNewFile = "name-folder-or-new-file": "Name a folder, or a new file.",
    ExchangeWords { #[serde(with = "path_text")] inside: PathBuf, #[serde(with = "path_text")] here: PathBuf } = "exchange-words":
        "The two words are exchanged: what is in the volume comes before where it goes.",
    SkipExistingGoesOn = "skip-existing-goes-on": "The same goes on with what is missing.",
    PutFilesSingly = "put-files-singly": "Put the files in it one by one.",
    CopyItFirst = "copy-it-first": "Copy it to an ordinary file, and put that.",
    TakeFault { faults: String } = "take-fault": "Name one of the faults that a virtual drive can have.",
    ListPartitions { #[serde(with = "path_text")] path: PathBuf } = "list-partitions":
        "See which partitions the disk has, and what they hold.",
    NamePartition { #[serde(with = "path_text")] path: PathBuf } = "name-partition":
        "Name one of the disk's partitions by its number.",
    LeaveOutPartition = "leave-out-partition": "Name no partition.",
    RepairTable { #[serde(with = "path_text")] path: PathBuf } = "repair-table":
        "Have the disk's partition table repaired, or check that all of the disk was copied.",
    NamePartitionDevice { #[serde(with = "path_text")] path: PathBuf } = "name-partition-device":
        "Name a partition's own device; of an image the kernel can make them.",
    OtherProtectors { protectors: Vec<String>, recovery_password: bool, startup_key: bool, tpm: bool } = "other-protectors":
        "These open the volume, too, as far as they can be given here.",
    MakeFolder { #[serde(with = "path_text")] path: PathBuf } = "make-folder": "Make that folder.",
    MountByItsSystem = "mount-by-its-system": "The system that it belongs to puts it in order by mounting it.",
    CheckPin = "check-pin": "Check the PIN.",
    TakeAnotherPin = "take-another-pin": "Take another PIN.",
    SeeDriveOptions = "see-drive-options": "What a virtual drive may have.",
    FinishWithItsProgram = "finish-with-its-program": "The program that began it can finish it.",
    ReportWithDoctor = "report-with-doctor": "Report it, with what this machine can do.",
}

impl Advice {
    /// The sizes in bytes that a step is about, for scripts, by their names in a document.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        match self {
            Self::ShrinkInside { bytes, most }
            | Self::CopyToSmaller { bytes, most }
            | Self::LargerSizeOrRoom { bytes, most } => {
                vec![("filesystem_bytes", *bytes), ("most_bytes", *most)]
            }
            Self::ShrinkFileSystem { bytes }
            | Self::CantShrinkSoGrowFile { bytes, .. }
            | Self::CantShrinkSoGrowPartition { bytes, .. } => vec![("missing_bytes", *bytes)],
            _ => Vec::new(),
        }
    }
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
