//! The sentences of advice: what a person reads for each step that an error names.

use keyway_error::{Advice, Explain};
use std::path::PathBuf;
use std::str::FromStr;

/// The steps in one line, each sentence after a "; ".
pub(crate) fn sentences(steps: &[Advice]) -> String {
    let all: Vec<String> = steps.iter().map(sentence).collect();
    all.join("; ")
}

/// What happened and what helps, in one line.
pub(crate) fn told(error: &dyn Explain) -> String {
    match sentences(&error.advice()) {
        advice if advice.is_empty() => error.to_string(),
        advice => format!("{error}; {advice}"),
    }
}

/// A value of the command line; what is wrong with it comes with what helps.
pub(crate) fn parsed<T: FromStr<Err: Explain>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| told(&error))
}

/// A parameter of advice, as it stands in a sentence.
trait Parameter {
    fn words(&self) -> String;
}

impl Parameter for PathBuf {
    fn words(&self) -> String {
        self.display().to_string()
    }
}

macro_rules! parameters {
    ($($type:ty),*) => {$(
        impl Parameter for $type {
            fn words(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
parameters!(String, u32, u64, usize);

/// The sentence of each step; its parameters stand in it by their names.
macro_rules! steps {
    ($($name:ident $({ $($field:ident),* })? => $words:literal,)*) => {
        fn plain(step: &Advice) -> String {
            match step {
                $(Advice::$name $({ $($field),* })? => {
                    $($(let $field = $field.words();)*)?
                    format!($words)
                })*
                _ => String::new(),
            }
        }
    };
}

/// One step in words.
pub(crate) fn sentence(step: &Advice) -> String {
    match step {
        Advice::TriesLeft { tries: 0 } => "it was the last try before the TPM locks itself".to_owned(),
        Advice::TriesLeft { tries: 1 } => "1 more try before the TPM locks itself".to_owned(),
        Advice::TriesLeft { tries } => format!("{tries} more tries before the TPM locks itself"),
        Advice::ForgetsOneEvery { seconds } => {
            format!("it forgets one of them every {} while it is powered", duration(*seconds))
        }
        Advice::ShrinkInside { most, .. } => {
            format!(
                "open the volume, make its file system {most} bytes or smaller with its own tool, close it"
            )
        }
        Advice::ShrinkFileSystem { .. } => {
            "make the file system smaller by that much, or the device larger".to_owned()
        }
        _ => plain(step),
    }
}

/// A time for people.
fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} seconds"),
        120..7200 => format!("{} minutes", seconds / 60),
        _ => format!("{} hours", seconds / 3600),
    }
}

steps! {
    CheckPath => "check the path",
    BecomeRoot => "run it as a user who may do that, or as root with sudo",
    OpenReadOnly => "it can only be read here: use --read-only, or make it writable",
    CloseUsers => "close whatever uses it (`keyway status`, `lsof`) and try again",
    ChooseAnotherName => "choose another name, or move the old one away",
    FreeSpace => "free some space, or choose a smaller size",
    CheckCopiedFile => "the file ends too early: check that it was copied completely",
    FreeMemory => "close other programs, or add swap space",
    NameFileNotFolder => "it is a folder: name a file",
    NameFileOrDevice => "name a regular file or a block device",
    ReadSystemLog => "look at the system's log (`dmesg`) for the drive's own report",
    WaitForItsSize => "somebody changes its size just now: wait until they are done, and try it again",
    AskForLess => "ask for less; `keyway info` tells the volume's size",
    OpenWritable => "open it without --read-only",
    CloseIt => "close it; what was written before is safe",
    OpenAgainAndCheck => "open it again, and check the file system inside",
    LeaveMetadataAlone => "everything else was written; check the file system inside, which should leave these bytes alone",
    CheckCopy => "check that the file was copied completely",
    UnmountIt { path } => "unmount it first: umount {path}",
    SwapOff { path } => "have the system not swap to it: swapoff {path}",
    TakeDown { device } => "take /dev/{device} down first (dmsetup remove, cryptsetup close, vgchange -an, mdadm --stop)",
    DetachLoop { device } => "take it off first: losetup -d /dev/{device}",
    CloseVolume { path, pid } => "`keyway close {path}` closes a volume that is open; otherwise wait until process {pid} ends",
    WaitForProcess { pid } => "wait until process {pid} ends, or end it",
    CloseUsersOf { path } => "close what uses it (`keyway status`, `lsof {path}`), and try again",
    MayBeDamaged => "it may be damaged",
    EnableTpm => "switch it on in the firmware's settings, or name another",
    JoinTss => "do it as root, or as a member of the group tss",
    UseResourceManager => "/dev/tpmrm0 can be shared",
    NeedTpm2 => "a TPM 2.0 is needed, and this may be a TPM 1.2",
    SomebodyBetween => "somebody may be between this program and the TPM",
    StartSealedSystem => "start the system that it was sealed under, or use a recovery password",
    UseRecoveryPassword => "use a recovery password",
    UseRecoveryAndAddTpm => "use a recovery password, and add the TPM again",
    EnableSha256Bank => "switch its SHA-256 bank on in the firmware's settings",
    LeaveOutTpm => "leave out --tpm, and give what the volume has: keyway protector list VOLUME",
    GivePin => "use --pin-file FILE or --pin-fd N",
    GiveStartupKey => "name it with --startup-key FILE.BEK",
    NeedsStartupKey { name } => "it needs {name}.BEK",
    MoveAway => "choose another name, or move it away",
    InstallPackage { package } => "install the package {package}",
    OpenAsDevice => "`keyway open` attaches it as a device",
    Mount => "mount it: sudo keyway open VOLUME FOLDER",
    MountInstead => "mount it instead: sudo keyway open VOLUME FOLDER",
    MountVolume => "mount the volume instead: sudo keyway open VOLUME FOLDER",
    CheckFat => "check it first: keyway open VOLUME, then fsck.fat",
    CheckFileSystem => "check it with its own tools: keyway open VOLUME, then fsck",
    CheckWithTools => "check it with its own tools",
    ListFolder => "`keyway ls VOLUME` shows what there is",
    NameFolder => "name a folder",
    NameFileOrNewFolder => "name a file, or a folder to be made here",
    NameTarget => "name what it points to",
    OnlyFilesAndFolders => "only these can be copied",
    WriteAsPath => "write it as /FOLDER/FILE, without `..`",
    PutUnderOtherName => "put it under another one",
    OtherNameOrForce => "choose another name, or add --force",
    RemoveSomething => "remove something first",
    RepairBeforeConversion => "repair it before it is converted",
    ReadSystemLogUnchanged => "look at the system's log (`dmesg`) for the drive's own report: nothing was changed",
    MakeRoom => "make room in it",
    CloseNamed { volume } => "close it first: keyway close {volume}",
    CloseAndRetry => "close what uses it and try again",
    TryAsRoot => "try it as root",
    LoadFuse => "load the kernel's fuse module (modprobe fuse), or use --attach nbd",
    AllowFuse => "let root open it to all (chmod 666 /dev/fuse), run as root, or use --attach nbd",
    InstallFuse => "install the package fuse3, run as root, or use --attach nbd",
    LoadLoop => "load the kernel's loop module (modprobe loop), or open without it",
    SetRuntimeFolder => "set XDG_RUNTIME_DIR or HOME to a folder of this user's alone",
    AttachOtherwiseBuilt => "this program was built without it; attach the volume another way",
    RunUdev => "udev or devtmpfs makes it; see that one of them is there",
    LookInside => "open it without a mount point and look at what is inside",
    ListOpen => "`keyway status` lists what is",
    RemoveOrRuntimeFolder => "remove it, or set XDG_RUNTIME_DIR to one",
    LetGoOn { pid } => "`kill -CONT {pid}` lets it go on. What it was asked for is done when it goes on",
    WaitForMedium => "it goes on when the medium does; `dmesg` tells what is wrong with that. What it was asked for is done when it goes on",
    WaitOrLook => "wait until what is cached is written, or look at what it does. What it was asked for is done when it goes on",
    CopyNow => "copy what you need first",
    TryStatus => "try again; `keyway status` tells what is open",
    CheckLastWrites => "check what was written last",
    AskDoctor => "`keyway doctor` tells more, and the other ways to attach work without it",
    AttachOtherwise => "attach it another way",
    ReadKernelLog => "`dmesg` may tell why, and the other ways to attach do it themselves",
    AddUdevRule => "a udev rule must hand it over, and docs/reference/attachments.md has it",
    ServeAgain { volume } => "serve it again: keyway open {volume} --attach ublk, or give it up: keyway close {volume}",
    ProtectOrClose => "open it with --protect-hidden, or give it up with `keyway close`",
    LoopbackOrTls => "use a loopback address, or TLS",
    LoopbackOrSecret => "use a loopback address, or have hosts prove a secret",
    NameCertificates => "a folder of certificates has ca-cert.pem, server-cert.pem and server-key.pem",
    CloseOrOtherPath => "close it or choose another path",
    OtherPath => "choose another path",
    WriteNqn => "write nqn.YEAR-MONTH.DOMAIN:NAME",
    ListKernels => "`keyway doctor` lists the kernels",
    ListCiphers => "`keyway bench` lists the ciphers",
    CheckSecrets => "check the password, --keyfile and --pim, and that this is the right file or device",
    NoMemoryForArgon2id => "Argon2id was not tried, because there is too little memory for it",
    TryArgon2id => "Argon2id was not tried, because it takes minutes with this PIM: `--hash argon2id` tries it",
    CheckHiddenSecret => "check the hidden volume's secret (--protect-…); without it use --read-only",
    GivePasswordOrKeyfile => "use --password-file FILE, --password-fd N or --keyfile PATH",
    CheckPasswordFile => "check that the file holds the password and nothing else",
    LargestPim { most } => "VeraCrypt takes {most} at most",
    NameVolume => "name the file or device that holds the volume",
    NameVolumeOrSearch => "name the file or device that holds the volume; of a BitLocker volume whose first sector was overwritten, `keyway info --format bitlocker` looks for what is left",
    CopyAgain { bytes } => "copy it again in full, or save what is left: make another copy as long as it was (`truncate -s {bytes} COPY`) and open that with --read-only",
    RestoreFromFileOrMakeOne => "restore it from a header backup file; if the header in front opens the volume, `keyway header backup` makes one",
    RestoreFromBackup => "restore it from the volume's backup header or from a header backup file",
    RestoreFromFile => "restore it from a header backup file",
    RestoreHeader => "restore the header: keyway header restore VOLUME",
    VersionsToFive => "versions 1 to 5 are supported: look for a newer release",
    OpenWholeDrive => "open the drive or its whole image",
    OtherPartition { offset } => "this partition begins at byte {offset} and is not part of it",
    CheckKeyfilePath => "check the path; an empty file is no keyfile",
    RepairFirstSector => "it is written anew from the metadata by: keyway header repair VOLUME --format bitlocker",
    CopyAllThenRestoreFirstPage => "nothing was written. Make a copy of all of it before anything else, and restore the first page from a copy if there is one: then `keyway resume` goes on",
    RestoreCopies => "restore them from a backup of the volume's headers",
    RestoreIt => "restore it from a backup of the volume's headers",
    RestoreMetadata => "restore the metadata from a backup of the volume's headers",
    ConvertInWindowsOrRepair => "Windows 7 and later can convert it, and what is damaged is written anew by: keyway header repair VOLUME --format bitlocker",
    NewerRelease => "look for a newer release",
    LetWindowsFinish => "let Windows finish it",
    LetWindowsFinishFirst => "let Windows finish it first",
    LetWindowsFinishThenWrite => "let Windows finish, then it can be written here",
    LetWindowsFinishItThenWrite => "let Windows finish it, then it can be written here",
    SeeThenRepair => "see whether what is in it is right, then write a new one with `keyway header repair --format bitlocker`",
    GiveAnySecret => "use --password-file FILE, --recovery-password DIGITS-OR-FILE, --startup-key FILE.BEK or --tpm",
    CheckPassword => "check the password, and that this is the right file or device",
    FindPaper => "look for the paper that names it",
    CompareWithPaper => "compare it with the paper",
    NameStartupKeyOfThat => "name the .BEK file of that identifier",
    NameStartupKey => "name a .BEK file, or a folder that holds the volume's one",
    UseUnicode => "BitLocker takes Unicode text",
    NewNameAndSize => "for a file, give a name that does not exist yet and a size",
    DetachIt => "unmount or detach it first",
    FreeSomeOrSmaller => "free some, or choose a smaller size",
    SmallerOrOtherDisk => "choose a smaller size or another disk",
    LeastVolume { bytes } => "a volume needs at least {bytes}",
    LargestVolume { bytes } => "a volume may have {bytes} at most",
    RoomForHidden { bytes } => "this volume has room for {bytes} at most",
    RoomWithoutLoss { bytes } => "there is room for {bytes} at most",
    TakeSize { bytes } => "take {bytes} instead",
    TakeOfferedHash => "take sha512, sha256, whirlpool, streebog, blake2s or argon2id",
    ListOfferedCiphers => "`keyway bench` lists the ones it has",
    GiveOuterPassword => "give the outer one's",
    TakeAnotherPassword => "take another password",
    DistrustMedium => "the medium can't be trusted",
    NoVolumeMade => "no volume was made",
    NoFileSystemMade => "the volume has no complete file system",
    TakeFileSystem => "take ext4, exfat, ntfs, fat, btrfs or xfs",
    TakeFileSystemOfSectors => "take ext4, fat, ntfs or xfs",
    TakeWindowsFileSystem => "take ntfs, exfat, fat or none",
    OtherFileSystemOrLarger => "take another file system, or a larger volume",
    LeastBitLocker { bytes } => "a BitLocker volume needs at least {bytes}",
    TakeOfferedMethod => "take aes-xts-128, aes-xts-256, aes-cbc-128 or aes-cbc-256",
    GiveProtector => "give it a password, a recovery password or a startup key",
    PasswordLengths { least, most } => "BitLocker takes {least} to {most}",
    CloseProgramsLiftLimit => "close other programs, lift the limit or use a machine with more memory",
    RemoveProtector => "remove a protector that is no longer needed",
    RepairCopies => "`keyway header repair` writes them anew, and if that fails too, move the data to another drive",
    RestoreLater => "restore a backup made after the encryption ended; --force restores this one all the same",
    CheckBackup => "check the backup; --force restores it all the same",
    NameHeaderBackup => "name a file that `keyway header backup` or VeraCrypt wrote",
    NameMetadataBackup => "name a file that `keyway header backup` wrote",
    GiveBothSecrets => "give the outer volume's secret, and the hidden one's as --hidden-…",
    GiveHiddenSecret => "give the hidden volume's secret as --hidden-…",
    NameDrive => "name the drive instead of the partition",
    OnlyPassword => "only the password can be changed from outside, the rest with VeraCrypt in that system",
    PasswordAlone => "take a password alone",
    TypeablePassword => "take such a password",
    OpensAsBefore => "nothing has changed, the volume opens as before",
    CopyOffMedium => "the volume opens by its other header with the new secret: copy your files off this medium",
    CopyOffOrRestore => "it is the only one, and holds the old or the new secret or neither: copy your files off this medium, or restore a header backup",
    RestoreFromBackupFile => "restore it from a header backup file",
    ListProtectors => "`keyway protector list` tells which it has",
    ChangeThatOne => "change that one, or remove it first",
    AddAnotherOrErase => "add another one first: keyway protector add; to destroy what is in the volume: keyway erase, or --last",
    AddAnother => "add another one first: keyway protector add; or add --last",
    AddProtector => "add a password or a recovery password first",
    Force => "use --force if you are sure",
    CopyReadOnly => "copy what is in it: open it read-only",
    TryOnAnotherDrive => "try again, or on another drive",
    NameSize => "name another with --size",
    NameNewSize => "name it with --size, for instance --size 20G",
    GrowPartition => "make the partition larger before",
    EncryptAnew => "decrypt it and encrypt it again",
    LargerSizeOrRoom => "name a larger size with --size, or make room in it: open the volume and delete something",
    KeptItsSize => "the volume has the size that it had; look at the file system with its own tools",
    FileIsLarger { why } => "the file is larger than it was: {why}",
    FileSystemRestored { filesystem } => "its {filesystem} file system has the size again that it had",
    FileSystemStaysSmaller { filesystem, why } => "its {filesystem} file system was made smaller before, and could not get its size back ({why}); nothing in it is lost",
    ResizeAgain { path, bytes } => "the volume opens, with its old size or the new one, and nothing in it is lost; `keyway resize {path} --size {bytes}` goes on",
    AddRecoveryPassword => "add one: keyway protector add VOLUME recovery-password",
    ChangeItsSecret => "use `keyway protector change` to give it another password, other keyfiles or another PIM",
    LeaveOutBitLockers => "--id, --to, --recovery-password and --startup-key are for these only",
    NewPasswordOrOtherProtector => "give a new password, or name another protector with --id",
    GivePassword => "give a password",
    NameFolderElsewhere => "name one on another drive: --to FOLDER",
    NameProtector => "name the protector with --id; `keyway protector list` tells which it has",
    NameOneProtector => "name one of them with --id; `keyway protector list` shows them",
    AddThenRemove => "add another one, then remove this one",
    LeaveOutKeyfiles => "leave --keyfile and --pim out",
    LeaveOutOne => "leave one of them out",
    NameRecoveryFile => "say with --recovery-file where to write it before anything is changed",
    BitLockerOrLeaveOut => "add --format bitlocker, or leave them out",
    GiveHiddenSize => "add --hidden SIZE, or leave them out",
    LeaveHiddenOutOrVeraCrypt => "leave --hidden out, or make a VeraCrypt volume",
    LeaveHashOut => "leave --hash out",
    RunChecker => "have its own checker repair it first",
    MakeRoomOrLarger => "make room in it, or take a larger size",
    BringBackJournal => "bring back the file that the conversion was begun with",
    DistrustAndCopy => "the medium can't be trusted: copy it whole before anything else",
    BringJournalOrCopy => "nothing was changed: bring the journal back as the conversion left it, or copy the medium and the journal whole before anything else",
    BringBackNewerJournal => "nothing was changed: bring back the journal as the conversion left it",
    BringBackMedium => "nothing was changed: bring back the medium as the conversion left it",
    CopyMediumFirst => "nothing was changed: copy the medium whole before anything else",
    CopyWhole => "copy it whole before anything else",
    BringBackSize => "bring back its size",
    FinishConversion => "finish its conversion first",
    FinishConversionAnywhere => "finish its conversion first, here or in Windows",
    GrowFile => "make a file larger with --grow",
    GoOnOffline => "go on without --online",
    ConvertAllSpace => "leave --used-space-only out",
    MakeNewVolume => "make a new one",
    RepairHeaders => "mend that first: `keyway header repair`",
    RestoreHeaderFirst => "restore it first (`keyway header restore`), so that there are two",
    OnlyOuter => "only the outer one can be converted, and that destroys the hidden one",
    OfflineOrSameFormat => "leave --online out; a new cipher of the same format can be had with --online",
    ReadWorkloads => "see docs/reference/laboratory.md for what a workload may say",
    ListWorkloads => "`keyway lab run --list` names them all, or give a file's path",
    ReadTraces => "`keyway lab replay --help` says what a trace may be",
    WriteTarget => "write `plain`, `veracrypt:CIPHER`, `bitlocker:CIPHER` or `hardware:PATH`",
    LargerOrSmallerTest => "name a larger one, or make the test smaller with --size",
    DestroyData => "add --destroy-data if nothing in it is needed, or name a folder, in which a file of the test's own is made",
    FreeItOrFolder => "free it first, or name a folder on it",
    NameWritable => "name one that can be written to, or a workload that reads only",
    FreeSomeOrSmallerTest => "free some, or make the test smaller with --size",
    KeepNoData => "keep no data on this drive or volume before the cause is found",
    CutTrace => "cut it, or record a shorter time",
    RecordLess => "record a shorter time",
    RecordAgain => "record or copy the trace again",
    CopyTraceAgain => "copy the trace again",
    GiveTrace => "give a recording of `keyway lab record`, a fio iolog of version 2 or 3, or the text blkparse prints",
    FioVersions => "versions 2 and 3 of iologs are",
    TraceDamaged => "it is damaged",
    LargerOrFold => "name a larger one, or fold the trace with --fold",
    NameMountedFolders => "name mounted folders as --baseline and --with, or take --workload tree-trace, the same copy as recorded requests",
    TakeModel { models } => "there are {models}",
    CompareFormats => "compare formats: --baseline veracrypt:aes",
    MakeNvmeSecret => "it looks like DHHC-1:00:BASE64:, and `nvme gen-dhchap-key` makes one",
    CopyItAgain => "copy it again",
    ServeOtherwise => "serve the volume another way",
    MakeVirtualDrive => "make one with `keyway drive emulate FILE --size …`",
    UseNewer => "use a newer one",
    NotWrittenHere => "it was not written by this program",
    TakeHash => "there are sha512, sha256, whirlpool, streebog, blake2s, ripemd160, argon2id and sha1",
    WritePcrs => "write numbers from 0 to 23 with commas, as in 7,11",
    WriteTpmAddress => "write device:/dev/tpmrm0, swtpm:host=127.0.0.1,port=2321 or swtpm:path=SOCKET",
    WriteGuid => "one looks like 8f595209-f5b9-49a0-85d4-cb8f80258c27, with or without braces",
    NameVolumeNotFolder => "name a volume's file or a block device",
    Resume { path } => "where nothing is at work on it, go on with `keyway resume {path}`; nothing is lost",
    NameStartupKeyFile => "name the startup key's file; Windows hides it on the drive it was saved to",
    ReadRemains => "the metadata is what is left of a volume that was here before; what is in that can be read with --format bitlocker",
    CopyToAnotherDrive => "copy the volume to another drive: this one is failing",
    GivePasswordInstead => "give its password or keyfiles",
    GiveBitLockerSecret => "give its password, recovery password (--recovery-password) or startup key (--startup-key)",
    ProtectNothing => "leave out the --protect-… options",
    LeaveSizeOut => "leave --size out",
    GiveSize => "add --size SIZE, such as --size 512M or --size 10G",
    LeaveHiddenOut => "leave out --hidden",
    SearchMetadata => "if it is one whose first sector is lost, add --format bitlocker",
    SearchOrRestoreHeader => "if it is one whose first sector is lost, add --format bitlocker; a VeraCrypt or TrueCrypt volume's header is restored by `keyway header restore`",
    NameBackupFile => "name the file; from a copy on the volume itself: `keyway header repair`",
    OneOnStandardInput => "give one of them with --…password-fd N or in a file",
    OneIsEnough => "one of them is enough",
    GiveSecret => "use --password-file FILE (`-` is standard input), --password-fd N or --keyfile PATH",
    ShorterOrKeyfile => "use a shorter password, or give the file as --keyfile",
    OpenDescriptor => "open it before: keyway … --password-fd 3 3<FILE",
    LeaveOutDiscards => "leave out --allow-discards",
    ReadSystemLogForMemory => "look at the system's log (`dmesg`), for instance for too little memory",
    OpenByVerb => "use `keyway open` or `keyway serve`",
    TryAgain => "try it again",
}
