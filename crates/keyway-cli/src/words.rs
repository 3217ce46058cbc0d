//! The sentences of advice: what a person reads for each step that an error names.

use keyway_error::Advice;

/// The steps in one line, each sentence after a "; ".
pub(crate) fn sentences(steps: &[Advice]) -> String {
    let all: Vec<String> = steps.iter().map(sentence).collect();
    all.join("; ")
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
