//! Of the library, and of words that can't be read.

use super::super::Failure;
use super::{io, random, v};
use keyway::disk::DiskError;
use keyway::drive::Fault;
use keyway::favourites::FavouriteError;
use keyway::resize::ResizeError;
use keyway::secrets::SecretRole;
use keyway::tour::{TourError, TourLack};
use keyway::{Error, Misuse};
use keyway_convert::ConversionKind;
use keyway_error::Advice;
use keyway_fs::mkfs::FileSystem;
use keyway_fs::resize::ResizeToolError;
use keyway_tpm::{Address, Pcrs};
use keyway_volume::bitlocker::{BitLockerError, Guid, Protection};
use keyway_volume::looks::Looks;
use keyway_volume::{HashName, veracrypt};

pub(super) fn library() -> Vec<Failure> {
    let at = |error: Error| Error::At { path: v(), error: Box::new(error) };
    let disk = |error: DiskError| Error::Disk(error);
    let size = |error: ResizeError| Error::Resizing(error);
    let answer = Failure::usage("nobody answered", "say --yes").kind(keyway_error::Kind::Declined);
    failures![
        Error::NoVariant {
            count: 11,
            error: Box::new(at(Error::BitLocker(BitLockerError::WrongPassword(
                Vec::new(),
                Looks::default()
            ))))
        },
        at(Error::BitLocker(BitLockerError::WrongPassword(Vec::new(), Looks::default()))),
        at(Error::Create(veracrypt::CreateError::Exists(v()))),
        at(Error::answer(answer.clone())),
        Error::answer(answer),
        Error::Answer(Box::new(io(5))),
        Error::System { doing: "open", path: v(), source: io(13) },
        Error::NoBackup { path: "folder".into(), what: "a folder" },
        Error::NoSystemHeader("photo.jpg".into()),
        Error::NoMedium { path: "folder".into(), what: "a folder" },
        Error::Container { path: v(), container: keyway_fs::Container::Luks2 },
        Error::Container { path: v(), container: keyway_fs::Container::Gzip },
        Error::Container { path: v(), container: keyway_fs::Container::VirtualDrive },
        Error::HalfConverted { path: v(), conversion: ConversionKind::Encryption },
        Error::PartitionHalfConverted { path: v(), conversion: ConversionKind::Encryption },
        Error::NoStartupKey("folder".into()),
        Error::NoRecoveryPasswordIn("photo.jpg".into()),
        at(Error::CutOff { expected: 64 << 20, present: 40 << 20, error: Box::new(Error::DamagedAgain) }),
        Error::Container { path: v(), container: keyway_fs::Container::BitLockerBackup },
        Error::FileSystemInFront("NTFS"),
        Error::DamagedAgain,
        Error::PlainMounted { error: Box::new(Error::Stopped), at: "/mnt".into() },
        Error::NoLog { path: "log".into(), what: "a folder" },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::SkipExistingGoesOn },
        Error::TakenBack {
            error: Box::new(Error::Stopped),
            left: Advice::ExchangeWords { inside: "to.txt".into(), here: "in.txt".into() }
        },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::HashIsNew },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::SizesRestored },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::SizesLeft },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::FileSizeRestored },
        Error::TakenBack {
            error: Box::new(Error::Stopped),
            left: Advice::FileSystemRestored { filesystem: "NTFS".to_owned() }
        },
        disk(DiskError::NoSuchPartition { path: "disk.img".into(), number: 7 }),
        disk(DiskError::NoTable(v())),
        disk(DiskError::Several { path: "disk.img".into(), numbers: vec![2, 3] }),
        disk(DiskError::NothingEncrypted("disk.img".into())),
        disk(DiskError::Damaged("disk.img".into())),
        disk(DiskError::Guessed { path: "disk.img".into(), number: 1 }),
        disk(DiskError::Plain { path: v(), filesystem: "an ext file system", partition: None, lacks: None }),
        disk(DiskError::Plain {
            path: v(),
            filesystem: "a FAT file system",
            partition: None,
            lacks: Some("vfat")
        }),
        disk(DiskError::Plain {
            path: v(),
            filesystem: "an ext file system",
            partition: Some((1 << 20, 8 << 20)),
            lacks: None,
        }),
        disk(DiskError::Whole("disk.img".into())),
        Error::Stopped,
        Error::Random(random()),
        Misuse::NotBitLocker(v()),
        Misuse::NoKeyfiles,
        Misuse::IsBitLocker("v.img".into()),
        Misuse::NoSystem("v.img".into()),
        Misuse::NoRecoveryPassword,
        Misuse::NothingHidden,
        Misuse::SizeOfADevice,
        Misuse::NoSize,
        Misuse::NoHidden,
        Misuse::NoBitLockerBeginning(v()),
        Misuse::NothingToRepair(v()),
        Misuse::NoBackupFile,
        Misuse::OneStandardInput,
        Misuse::RecoveryAndPassword,
        Misuse::NoPassword(SecretRole::Own),
        Misuse::NoPassword(SecretRole::New),
        Misuse::NoPassword(SecretRole::Hidden),
        Misuse::NoPassword(SecretRole::Protected),
        Misuse::NoPassword(SecretRole::Drive),
        Misuse::NoPassword(SecretRole::NewOfDrive),
        Misuse::CipherOfBitLocker("aes-xts-128".to_owned()),
        Misuse::NothingWouldOpen,
        Misuse::OwnKeyfile("keys".into()),
        Misuse::Socket("socket".into()),
        Misuse::EmptyPassword("pw".into()),
        Misuse::PasswordTooLong { path: "pw".into(), limit: 4096 },
        Misuse::Descriptor { descriptor: 3, source: io(9) },
        Misuse::PastEnd { offset: 4096, size: 512 },
        Misuse::OneSecret(v()),
        Misuse::ForBitLockerOnly(v()),
        Misuse::OneDerivation,
        Misuse::PasswordOnly,
        Misuse::NoFolder,
        Misuse::VolumeFirst { path: "letter.txt".into(), file: v() },
        Misuse::NoPasswordToChange("v.img".into()),
        Misuse::TpmOpensNothing(v()),
        Misuse::NoTpmInIt(Protection::Password),
        Misuse::NoPasswordInIt(Protection::TpmPin),
        Misuse::Unchangeable(Protection::Certificate),
        Misuse::NoSuchBeginning { path: v(), named: "8f59".to_owned() },
        Misuse::NoneOfKind { path: v(), kind: Protection::StartupKey },
        Misuse::SeveralOfKind {
            path: v(),
            kind: Protection::RecoveryPassword,
            all: "8f595209-f5b9-49a0-85d4-cb8f80258c27, 8f595209-f5b9-49a0-85d4-cb8f80258c28".to_owned(),
        },
        Misuse::SeveralBeginSo {
            path: v(),
            named: "8f59".to_owned(),
            all: "8f595209-f5b9-49a0-85d4-cb8f80258c27, 8f59ffff-f5b9-49a0-85d4-cb8f80258c27".to_owned(),
        },
        Misuse::SeveralRecoveryPasswords { path: "v.img".into(), number: 2 },
        Misuse::NewKeyfiles,
        Misuse::PasswordAndNone,
        Misuse::RecoveryShownAtTheEnd,
        Misuse::NoSuchMethod("serpent".to_owned()),
        Misuse::OptionsOfBitLocker,
        Misuse::NothingHiddenToMake,
        Misuse::HiddenInBitLocker,
        Misuse::NoChoiceOfHash,
        Error::NoRecoveryPassword("v.img".into()),
        Error::TakenBack {
            error: Box::new(Error::Stopped),
            left: Advice::FileSystemRestored { filesystem: "ext4".to_owned() },
        },
        size(ResizeError::NoSize),
        size(ResizeError::SmallDevice { path: "/dev/sdb1".into(), bytes: 1 << 30 }),
        size(ResizeError::WouldNotFit {
            path: v(),
            filesystem: keyway_fs::FoundFileSystem { kind: keyway_fs::FileSystemKind::Ext, bytes: 2 << 30 },
            most: 1 << 30,
            least: (2 << 30) + (256 << 10),
        }),
        size(ResizeError::WouldNotFit {
            path: v(),
            filesystem: keyway_fs::FoundFileSystem { kind: keyway_fs::FileSystemKind::Fat, bytes: 2 << 30 },
            most: 1 << 30,
            least: (2 << 30) + (256 << 10),
        }),
        size(ResizeError::Fuller {
            path: v(),
            filesystem: keyway_fs::FoundFileSystem { kind: keyway_fs::FileSystemKind::Ext, bytes: 2 << 30 },
            used: 1500 << 20,
            most: 1 << 30,
        }),
        size(ResizeError::OutOfRange { path: v(), wanted: 512, least: 64 << 20, most: 1 << 40 }),
        size(ResizeError::NotWholeSectors { path: v(), wanted: 12_582_913 }),
        size(ResizeError::ReachesBehind(keyway_fs::FileSystemKind::Ntfs)),
        size(ResizeError::TooFull {
            error: ResizeToolError::Refused { program: "resize2fs", said: "it is too full".to_owned() },
            bytes: 2 << 30,
            most: 1 << 30,
        }),
        size(ResizeError::TooFull {
            error: ResizeToolError::TooFull {
                kind: keyway_fs::FileSystemKind::Ext,
                program: "resize2fs",
                least: 20 << 20,
                wanted: 12 << 20
            },
            bytes: 2 << 30,
            most: 12 << 20,
        }),
        size(ResizeError::CantGrow(Box::new(Error::Room(ResizeToolError::Missing {
            program: "resize2fs",
            package: "e2fsprogs"
        })))),
        size(ResizeError::StillTooLarge { path: v(), kind: keyway_fs::FileSystemKind::Ext }),
        FavouriteError::Name("a b".to_owned()),
        FavouriteError::Exists("photos".to_owned()),
        FavouriteError::Unknown { name: "photos".to_owned(), for_all: true, elsewhere: false },
        FavouriteError::Unknown { name: "photos".to_owned(), for_all: true, elsewhere: true },
        FavouriteError::Unknown { name: "photos".to_owned(), for_all: false, elsewhere: true },
        FavouriteError::NotAtBoot(keyway::favourites::at_boot::Why::Option("--foreground".to_owned())),
        FavouriteError::NotText(v()),
        FavouriteError::Option("password-fd".to_owned()),
        FavouriteError::NoHome,
        FavouriteError::File {
            path: "favourites.toml".into(),
            line: Some(5),
            why: "unknown field".to_owned()
        },
        Misuse::NotStandardOutput,
        Misuse::LabelOfNothing,
        Misuse::MountOptionsOfFiles,
        Misuse::CacheWithHidden,
        Misuse::DiscardsAroundHidden,
        Misuse::NothingToProtect,
        Misuse::MountNeedsDevice,
        Misuse::IdleClients,
        Misuse::CacheNeedsLoop,
        Misuse::KernelProtectsNothing,
        Misuse::NoMountPoint("/mnt/usb".into()),
        Misuse::MountPointNotFolder("/mnt".into()),
        Misuse::MountPointRoot,
        Misuse::NoUnprovenPort,
        Misuse::Unproven { address: [0, 0, 0, 0].into(), by_nvme: false },
        Misuse::Unproven { address: [0, 0, 0, 0].into(), by_nvme: true },
        Misuse::NeedsNewFolder,
        Misuse::GetIntoFolder(v()),
        Misuse::GetOneOfThem("second.jpg".into()),
        Misuse::NoNewName("..".into()),
        Misuse::PutNotAFile("pipe".into()),
        Misuse::PutNoLength("/proc/version".into()),
        Misuse::PutIntoFolder("/letter.pdf".into()),
        Misuse::PutOneOfThem { path: "second.jpg".into(), is_folder: false },
        Misuse::NoSuchFolder("/letters/".into()),
        Misuse::TooMuchToPut("folder".into()),
        TourError::Differ("what was written and what was read"),
        Error::CanOnlyBeRead(Box::new(Error::System { doing: "open", path: v(), source: io(13) })),
    ]
}

/// Words of the command line that can't be read, and what a tour does without.
pub(super) fn words() -> Vec<Failure> {
    vec![
        Failure::explained(&"slow".parse::<Fault>().expect_err("no fault")),
        Failure::explained(&TourLack::Program(FileSystem::Xfs)),
        Failure::explained(&"7,x".parse::<Pcrs>().expect_err("no list")),
        Failure::explained(&"tpm".parse::<Address>().expect_err("no address")),
        Failure::explained(&"md5".parse::<HashName>().expect_err("no hash")),
        Failure::explained(&"12".parse::<Guid>().expect_err("no identifier")),
    ]
}
