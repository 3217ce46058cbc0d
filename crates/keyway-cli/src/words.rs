//! The sentences of advice: what a person reads for each step that an error names.

use keyway_error::{Advice, Explain};
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

/// One step in words.
pub(crate) fn sentence(step: &Advice) -> String {
    use Advice as A;
    let words = match step {
        A::CheckPath => "check the path",
        A::BecomeRoot => "run it as a user who may do that, or as root with sudo",
        A::OpenReadOnly => "it can only be read here: use --read-only, or make it writable",
        A::CloseUsers => "close whatever uses it (`keyway status`, `lsof`) and try again",
        A::ChooseAnotherName => "choose another name, or move the old one away",
        A::FreeSpace => "free some space, or choose a smaller size",
        A::CheckCopiedFile => "the file ends too early: check that it was copied completely",
        A::FreeMemory => "close other programs, or add swap space",
        A::NameFileNotFolder => "it is a folder: name a file",
        A::NameFileOrDevice => "name a regular file or a block device",
        A::ReadSystemLog => "look at the system's log (`dmesg`) for the drive's own report",
        A::WaitForItsSize => "somebody changes its size just now: wait until they are done, and try it again",
        A::AskForLess => "ask for less; `keyway info` tells the volume's size",
        A::OpenWritable => "open it without --read-only",
        A::CloseIt => "close it; what was written before is safe",
        A::OpenAgainAndCheck => "open it again, and check the file system inside",
        A::LeaveMetadataAlone => {
            "everything else was written; check the file system inside, which should leave these bytes alone"
        }
        A::CheckCopy => "check that the file was copied completely",
        A::UnmountIt(at) => return format!("unmount it first: umount {}", at.display()),
        A::SwapOff(what) => return format!("have the system not swap to it: swapoff {}", what.display()),
        A::TakeDown(device) => {
            return format!(
                "take /dev/{device} down first (dmsetup remove, cryptsetup close, vgchange -an, mdadm --stop)"
            );
        }
        A::DetachLoop(device) => return format!("take it off first: losetup -d /dev/{device}"),
        A::CloseVolume(what, pid) => {
            return format!(
                "`keyway close {}` closes a volume that is open; otherwise wait until process {pid} ends",
                what.display()
            );
        }
        A::WaitForProcess(pid) => return format!("wait until process {pid} ends, or end it"),
        A::CloseUsersOf(what) => {
            return format!("close what uses it (`keyway status`, `lsof {}`), and try again", what.display());
        }
        A::MayBeDamaged => "it may be damaged",
        A::EnableTpm => "switch it on in the firmware's settings, or name another",
        A::JoinTss => "do it as root, or as a member of the group tss",
        A::UseResourceManager => "/dev/tpmrm0 can be shared",
        A::NeedTpm2 => "a TPM 2.0 is needed, and this may be a TPM 1.2",
        A::SomebodyBetween => "somebody may be between this program and the TPM",
        A::StartSealedSystem => "start the system that it was sealed under, or use a recovery password",
        A::TriesLeft(0) => "it was the last try before the TPM locks itself",
        A::TriesLeft(1) => "1 more try before the TPM locks itself",
        A::TriesLeft(n) => return format!("{n} more tries before the TPM locks itself"),
        A::ForgetsOneEvery(seconds) => {
            return format!("it forgets one of them every {} while it is powered", duration(*seconds));
        }
        A::UseRecoveryPassword => "use a recovery password",
        A::UseRecoveryAndAddTpm => "use a recovery password, and add the TPM again",
        A::EnableSha256Bank => "switch its SHA-256 bank on in the firmware's settings",
        A::LeaveOutTpm => "leave out --tpm, and give what the volume has: keyway protector list VOLUME",
        A::GivePin => "use --pin-file FILE or --pin-fd N",
        A::GiveStartupKey => "name it with --startup-key FILE.BEK",
        A::NeedsStartupKey(name) => return format!("it needs {name}.BEK"),
        A::MoveAway => "choose another name, or move it away",
        A::InstallPackage(package) => return format!("install the package {package}"),
        A::OpenAsDevice => "`keyway open` attaches it as a device",
        A::Mount => "mount it: sudo keyway open VOLUME FOLDER",
        A::MountInstead => "mount it instead: sudo keyway open VOLUME FOLDER",
        A::MountVolume => "mount the volume instead: sudo keyway open VOLUME FOLDER",
        A::CheckFat => "check it first: keyway open VOLUME, then fsck.fat",
        A::CheckFileSystem => "check it with its own tools: keyway open VOLUME, then fsck",
        A::CheckWithTools => "check it with its own tools",
        A::ListFolder => "`keyway ls VOLUME` shows what there is",
        A::NameFolder => "name a folder",
        A::NameFileOrNewFolder => "name a file, or a folder to be made here",
        A::NameTarget => "name what it points to",
        A::OnlyFilesAndFolders => "only these can be copied",
        A::WriteAsPath => "write it as /FOLDER/FILE, without `..`",
        A::PutUnderOtherName => "put it under another one",
        A::OtherNameOrForce => "choose another name, or add --force",
        A::RemoveSomething => "remove something first",
        A::RepairBeforeConversion => "repair it before it is converted",
        A::ReadSystemLogUnchanged => {
            "look at the system's log (`dmesg`) for the drive's own report: nothing was changed"
        }
        A::MakeRoom => "make room in it",
        A::CloseNamed(volume) => return format!("close it first: keyway close {volume}"),
        A::CloseAndRetry => "close what uses it and try again",
        A::TryAsRoot => "try it as root",
        A::LoadFuse => "load the kernel's fuse module (modprobe fuse), or use --attach nbd",
        A::AllowFuse => "let root open it to all (chmod 666 /dev/fuse), run as root, or use --attach nbd",
        A::InstallFuse => "install the package fuse3, run as root, or use --attach nbd",
        A::LoadLoop => "load the kernel's loop module (modprobe loop), or open without it",
        A::SetRuntimeFolder => "set XDG_RUNTIME_DIR or HOME to a folder of this user's alone",
        A::AttachOtherwiseBuilt => "this program was built without it; attach the volume another way",
        A::RunUdev => "udev or devtmpfs makes it; see that one of them is there",
        A::LookInside => "open it without a mount point and look at what is inside",
        A::ListOpen => "`keyway status` lists what is",
        A::RemoveOrRuntimeFolder => "remove it, or set XDG_RUNTIME_DIR to one",
        A::LetGoOn(pid) => {
            return format!(
                "`kill -CONT {pid}` lets it go on. What it was asked for is done when it goes on"
            );
        }
        A::WaitForMedium => {
            "it goes on when the medium does; `dmesg` tells what is wrong with that. What it was asked for is done when it goes on"
        }
        A::WaitOrLook => {
            "wait until what is cached is written, or look at what it does. What it was asked for is done when it goes on"
        }
        A::CopyNow => "copy what you need first",
        A::TryStatus => "try again; `keyway status` tells what is open",
        A::CheckLastWrites => "check what was written last",
        A::AskDoctor => "`keyway doctor` tells more, and the other ways to attach work without it",
        A::AttachOtherwise => "attach it another way",
        A::ReadKernelLog => "`dmesg` may tell why, and the other ways to attach do it themselves",
        A::AddUdevRule => "a udev rule must hand it over, and docs/reference/attachments.md has it",
        A::ServeAgain(volume) => {
            return format!(
                "serve it again: keyway open {volume} --attach ublk, or give it up: keyway close {volume}"
            );
        }
        A::ProtectOrClose => "open it with --protect-hidden, or give it up with `keyway close`",
        A::LoopbackOrTls => "use a loopback address, or TLS",
        A::LoopbackOrSecret => "use a loopback address, or have hosts prove a secret",
        A::NameCertificates => "a folder of certificates has ca-cert.pem, server-cert.pem and server-key.pem",
        A::CloseOrOtherPath => "close it or choose another path",
        A::OtherPath => "choose another path",
        A::WriteNqn => "write nqn.YEAR-MONTH.DOMAIN:NAME",
        A::ListKernels => "`keyway doctor` lists the kernels",
        A::ListCiphers => "`keyway bench` lists the ciphers",
        A::CheckSecrets => {
            "check the password, --keyfile and --pim, and that this is the right file or device"
        }
        A::NoMemoryForArgon2id => "Argon2id was not tried, because there is too little memory for it",
        A::TryArgon2id => {
            "Argon2id was not tried, because it takes minutes with this PIM: `--hash argon2id` tries it"
        }
        A::CheckHiddenSecret => "check the hidden volume's secret (--protect-…); without it use --read-only",
        A::GivePasswordOrKeyfile => "use --password-file FILE, --password-fd N or --keyfile PATH",
        A::CheckPasswordFile => "check that the file holds the password and nothing else",
        A::LargestPim(most) => return format!("VeraCrypt takes {most} at most"),
        A::NameVolume => "name the file or device that holds the volume",
        A::NameVolumeOrSearch => {
            "name the file or device that holds the volume; of a BitLocker volume whose first sector was overwritten, `keyway info --format bitlocker` looks for what is left"
        }
        A::CopyAgain(whole) => {
            return format!(
                "copy it again in full, or save what is left: make another copy as long as it was (`truncate -s {whole} COPY`) and open that with --read-only"
            );
        }
        A::RestoreFromFileOrMakeOne => {
            "restore it from a header backup file; if the header in front opens the volume, `keyway header backup` makes one"
        }
        A::RestoreFromBackup => "restore it from the volume's backup header or from a header backup file",
        A::RestoreFromFile => "restore it from a header backup file",
        A::RestoreHeader => "restore the header: keyway header restore VOLUME",
        A::VersionsToFive => "versions 1 to 5 are supported: look for a newer release",
        A::OpenWholeDrive => "open the drive or its whole image",
        A::OtherPartition(at) => return format!("this partition begins at byte {at} and is not part of it"),
        A::CheckKeyfilePath => "check the path; an empty file is no keyfile",
        A::RepairFirstSector => {
            "it is written anew from the metadata by: keyway header repair VOLUME --format bitlocker"
        }
        A::CopyAllThenRestoreFirstPage => {
            "nothing was written. Make a copy of all of it before anything else, and restore the first page from a copy if there is one: then `keyway resume` goes on"
        }
        A::RestoreCopies => "restore them from a backup of the volume's headers",
        A::RestoreIt => "restore it from a backup of the volume's headers",
        A::RestoreMetadata => "restore the metadata from a backup of the volume's headers",
        A::ConvertInWindowsOrRepair => {
            "Windows 7 and later can convert it, and what is damaged is written anew by: keyway header repair VOLUME --format bitlocker"
        }
        A::NewerRelease => "look for a newer release",
        A::LetWindowsFinish => "let Windows finish it",
        A::LetWindowsFinishFirst => "let Windows finish it first",
        A::LetWindowsFinishThenWrite => "let Windows finish, then it can be written here",
        A::LetWindowsFinishItThenWrite => "let Windows finish it, then it can be written here",
        A::SeeThenRepair => {
            "see whether what is in it is right, then write a new one with `keyway header repair --format bitlocker`"
        }
        A::GiveAnySecret => {
            "use --password-file FILE, --recovery-password DIGITS-OR-FILE, --startup-key FILE.BEK or --tpm"
        }
        A::CheckPassword => "check the password, and that this is the right file or device",
        A::FindPaper => "look for the paper that names it",
        A::CompareWithPaper => "compare it with the paper",
        A::NameStartupKeyOfThat => "name the .BEK file of that identifier",
        A::NameStartupKey => "name a .BEK file, or a folder that holds the volume's one",
        A::UseUnicode => "BitLocker takes Unicode text",
        A::NewNameAndSize => "for a file, give a name that does not exist yet and a size",
        A::DetachIt => "unmount or detach it first",
        A::FreeSomeOrSmaller => "free some, or choose a smaller size",
        A::SmallerOrOtherDisk => "choose a smaller size or another disk",
        A::LeastVolume(least) => return format!("a volume needs at least {least}"),
        A::LargestVolume(most) => return format!("a volume may have {most} at most"),
        A::RoomForHidden(most) => return format!("this volume has room for {most} at most"),
        A::RoomWithoutLoss(most) => return format!("there is room for {most} at most"),
        A::TakeSize(bytes) => return format!("take {bytes} instead"),
        A::TakeOfferedHash => "take sha512, sha256, whirlpool, streebog, blake2s or argon2id",
        A::ListOfferedCiphers => "`keyway bench` lists the ones it has",
        A::GiveOuterPassword => "give the outer one's",
        A::TakeAnotherPassword => "take another password",
        A::DistrustMedium => "the medium can't be trusted",
        A::NoVolumeMade => "no volume was made",
        A::NoFileSystemMade => "the volume has no complete file system",
        A::TakeFileSystem => "take ext4, exfat, ntfs, fat, btrfs or xfs",
        A::TakeFileSystemOfSectors => "take ext4, fat, ntfs or xfs",
        A::TakeWindowsFileSystem => "take ntfs, exfat, fat or none",
        A::OtherFileSystemOrLarger => "take another file system, or a larger volume",
        A::LeastBitLocker(least) => return format!("a BitLocker volume needs at least {least}"),
        A::TakeOfferedMethod => "take aes-xts-128, aes-xts-256, aes-cbc-128 or aes-cbc-256",
        A::GiveProtector => "give it a password, a recovery password or a startup key",
        A::PasswordLengths(least, most) => return format!("BitLocker takes {least} to {most}"),
        A::CloseProgramsLiftLimit => "close other programs, lift the limit or use a machine with more memory",
        A::RemoveProtector => "remove a protector that is no longer needed",
        A::RepairCopies => {
            "`keyway header repair` writes them anew, and if that fails too, move the data to another drive"
        }
        A::RestoreLater => {
            "restore a backup made after the encryption ended; --force restores this one all the same"
        }
        A::CheckBackup => "check the backup; --force restores it all the same",
        A::NameHeaderBackup => "name a file that `keyway header backup` or VeraCrypt wrote",
        A::NameMetadataBackup => "name a file that `keyway header backup` wrote",
        A::GiveBothSecrets => "give the outer volume's secret, and the hidden one's as --hidden-…",
        A::GiveHiddenSecret => "give the hidden volume's secret as --hidden-…",
        A::NameDrive => "name the drive instead of the partition",
        A::OnlyPassword => {
            "only the password can be changed from outside, the rest with VeraCrypt in that system"
        }
        A::PasswordAlone => "take a password alone",
        A::TypeablePassword => "take such a password",
        A::OpensAsBefore => "nothing has changed, the volume opens as before",
        A::CopyOffMedium => {
            "the volume opens by its other header with the new secret: copy your files off this medium"
        }
        A::CopyOffOrRestore => {
            "it is the only one, and holds the old or the new secret or neither: copy your files off this medium, or restore a header backup"
        }
        A::RestoreFromBackupFile => "restore it from a header backup file",
        A::ListProtectors => "`keyway protector list` tells which it has",
        A::ChangeThatOne => "change that one, or remove it first",
        A::AddAnotherOrErase => {
            "add another one first: keyway protector add; to destroy what is in the volume: keyway erase, or --last"
        }
        A::AddAnother => "add another one first: keyway protector add; or add --last",
        A::AddProtector => "add a password or a recovery password first",
        A::Force => "use --force if you are sure",
        A::CopyReadOnly => "copy what is in it: open it read-only",
        A::TryOnAnotherDrive => "try again, or on another drive",
        A::NameSize => "name another with --size",
        A::RunChecker => "have its own checker repair it first",
        A::MakeRoomOrLarger => "make room in it, or take a larger size",
        A::BringBackJournal => "bring back the file that the conversion was begun with",
        A::DistrustAndCopy => "the medium can't be trusted: copy it whole before anything else",
        A::BringJournalOrCopy => {
            "nothing was changed: bring the journal back as the conversion left it, or copy the medium and the journal whole before anything else"
        }
        A::BringBackNewerJournal => "nothing was changed: bring back the journal as the conversion left it",
        A::BringBackMedium => "nothing was changed: bring back the medium as the conversion left it",
        A::CopyMediumFirst => "nothing was changed: copy the medium whole before anything else",
        A::CopyWhole => "copy it whole before anything else",
        A::BringBackSize => "bring back its size",
        A::ShrinkFileSystem(_) => "make the file system smaller by that much, or the device larger",
        A::FinishConversion => "finish its conversion first",
        A::FinishConversionAnywhere => "finish its conversion first, here or in Windows",
        A::GrowFile => "make a file larger with --grow",
        A::GoOnOffline => "go on without --online",
        A::ConvertAllSpace => "leave --used-space-only out",
        A::MakeNewVolume => "make a new one",
        A::RepairHeaders => "mend that first: `keyway header repair`",
        A::RestoreHeaderFirst => "restore it first (`keyway header restore`), so that there are two",
        A::OnlyOuter => "only the outer one can be converted, and that destroys the hidden one",
        A::OfflineOrSameFormat => {
            "leave --online out; a new cipher of the same format can be had with --online"
        }
        A::ReadWorkloads => "see docs/reference/laboratory.md for what a workload may say",
        A::ListWorkloads => "`keyway lab run --list` names them all, or give a file's path",
        A::ReadTraces => "`keyway lab replay --help` says what a trace may be",
        A::WriteTarget => "write `plain`, `veracrypt:CIPHER`, `bitlocker:CIPHER` or `hardware:PATH`",
        A::LargerOrSmallerTest => "name a larger one, or make the test smaller with --size",
        A::DestroyData => {
            "add --destroy-data if nothing in it is needed, or name a folder, in which a file of the test's own is made"
        }
        A::FreeItOrFolder => "free it first, or name a folder on it",
        A::NameWritable => "name one that can be written to, or a workload that reads only",
        A::FreeSomeOrSmallerTest => "free some, or make the test smaller with --size",
        A::KeepNoData => "keep no data on this drive or volume before the cause is found",
        A::CutTrace => "cut it, or record a shorter time",
        A::RecordLess => "record a shorter time",
        A::RecordAgain => "record or copy the trace again",
        A::CopyTraceAgain => "copy the trace again",
        A::GiveTrace => {
            "give a recording of `keyway lab record`, a fio iolog of version 2 or 3, or the text blkparse prints"
        }
        A::FioVersions => "versions 2 and 3 of iologs are",
        A::TraceDamaged => "it is damaged",
        A::LargerOrFold => "name a larger one, or fold the trace with --fold",
        A::NameMountedFolders => {
            "name mounted folders as --baseline and --with, or take --workload tree-trace, the same copy as recorded requests"
        }
        A::TakeModel(models) => return format!("there are {models}"),
        A::CompareFormats => "compare formats: --baseline veracrypt:aes",
        A::MakeNvmeSecret => "it looks like DHHC-1:00:BASE64:, and `nvme gen-dhchap-key` makes one",
        A::CopyItAgain => "copy it again",
        A::ServeOtherwise => "serve the volume another way",
        A::MakeVirtualDrive => "make one with `keyway drive emulate FILE --size …`",
        A::UseNewer => "use a newer one",
        A::NotWrittenHere => "it was not written by this program",
        _ => "",
    };
    words.to_owned()
}

/// A time for people.
fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} seconds"),
        120..7200 => format!("{} minutes", seconds / 60),
        _ => format!("{} hours", seconds / 3600),
    }
}
