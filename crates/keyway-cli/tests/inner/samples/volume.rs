//! Of volumes: opening, making and changing them.

use super::super::Failure;
use super::{failed, id, io, lied, media::read_only, random, refused, v};
use keyway_cipher::{Algorithm, Chain, CipherError};
use keyway_engine::LayoutError;
use keyway_fs::allocation::AllocationError;
use keyway_fs::mkfs::{FileSystem, MkfsError};
use keyway_kdf::{Argon2idParameter, KdfError};
use keyway_store::Operation;
use keyway_sys::Use;
use keyway_volume::bitlocker::{
    BitLockerError, BlockFault, BootFault, CopyFault, EntryTooLong, Impossible, NotABackup, ProtectError,
    Protection, RecoveryFault, RewriteError, StartupKeyFault,
};
use keyway_volume::looks::Looks;
use keyway_volume::veracrypt::{
    HeaderFault, HeaderLocation, HeaderWriteFault, NoOuter, RandomError, SystemFault,
};
use keyway_volume::{
    Argon2idSkipped, Format, HashName, KeyfileFault, NotAVolume, Unsupported, VolumeError, bitlocker,
    veracrypt,
};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

pub(super) fn veracrypt() -> Vec<Failure> {
    use VolumeError as E;
    let damaged = |place, fault| E::DamagedHeader { place, fault };
    failures![
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::default(),
            narrowed: vec![],
            has_metadata: false
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::default(),
            narrowed: vec!["hash"],
            has_metadata: false
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::of(b"SECRET"),
            narrowed: vec![],
            has_metadata: false
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::of(b"\xef\xbb\xbf seCret\r"),
            narrowed: vec![],
            has_metadata: false,
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::of(b"s\0e\0"),
            narrowed: vec![],
            has_metadata: false
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::of(b"\xff"),
            narrowed: vec![],
            has_metadata: false
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::of("u\u{308}".as_bytes()),
            narrowed: vec![],
            has_metadata: false
        },
        E::WrongSecret {
            argon2id_skipped: Some(Argon2idSkipped::Memory),
            looks: Looks::default(),
            narrowed: vec![],
            has_metadata: false,
        },
        E::WrongSecret {
            argon2id_skipped: Some(Argon2idSkipped::Cost),
            looks: Looks::default(),
            narrowed: vec![],
            has_metadata: false,
        },
        E::WrongSecret {
            argon2id_skipped: None,
            looks: Looks::default(),
            narrowed: vec![],
            has_metadata: true
        },
        E::WrongProtectionSecret { narrowed: Vec::new() },
        E::WrongProtectionSecret { narrowed: vec!["hash"] },
        E::IsHidden,
        E::NoSecret,
        E::PasswordTooLong { bytes: 200, limit: 128 },
        E::PimTooLarge(99_999),
        E::NotAVolume(NotAVolume::Empty),
        E::NotAVolume(NotAVolume::TooSmall(16)),
        E::NotAVolume(NotAVolume::Zeros),
        E::NotAVolume(NotAVolume::NotRandom),
        E::NotAVolume(NotAVolume::Known("a LUKS header")),
        E::NotAVolume(NotAVolume::FileSystem("an NTFS file system")),
        damaged(HeaderLocation::Primary, HeaderFault::KeyChecksum),
        damaged(HeaderLocation::BackupPrimary, HeaderFault::FieldChecksum),
        damaged(HeaderLocation::OldHidden, HeaderFault::Version(0)),
        damaged(HeaderLocation::Primary, HeaderFault::BeyondEnd { end: 917_504, present: 300_000 }),
        E::Unsupported(Unsupported::HeaderVersion(9)),
        E::Unsupported(Unsupported::SystemDrive { bytes: 4096, present: 512 }),
        E::Unsupported(Unsupported::OutsideSystem { start: 512, end: 4096, partition: 8192 }),
        E::Unsupported(Unsupported::InPlaceIncomplete { encrypted: 512, total: 4096 }),
        E::Keyfile { path: "key".into(), fault: KeyfileFault::Unreadable(io(2)) },
        E::Keyfile { path: "key".into(), fault: KeyfileFault::Unreadable(io(13)) },
        E::Keyfile { path: "socket".into(), fault: KeyfileFault::Socket },
        E::Keyfile { path: "key".into(), fault: KeyfileFault::Empty },
        E::Keyfile { path: "keys".into(), fault: KeyfileFault::EmptyFolder },
        E::Store(failed(Operation::Read)),
        E::Store(refused(Operation::Open)),
        E::Layout(LayoutError::Empty),
        E::Cipher(CipherError::KernelMissing("avx512")),
    ]
}

pub(super) fn bitlocker() -> Vec<Failure> {
    use BitLockerError as E;
    let copies =
        [CopyFault::Place(0), CopyFault::OtherVolume(id(1)), CopyFault::Block(BlockFault::Signature)];
    let impossible = [
        Impossible::BootSectors(0),
        Impossible::BootBackup(512),
        Impossible::TooSmall(512),
        Impossible::EncryptOnWrite,
        Impossible::Bitmap(512),
        Impossible::Uncovered(512),
    ];
    let mistyped = [
        RecoveryFault::Length(47),
        RecoveryFault::Letter('x'),
        RecoveryFault::CheckDigit(3),
        RecoveryFault::TooLarge(3),
        RecoveryFault::GroupLength { group: 3, digits: 5 },
    ];
    let mut all: Vec<Failure> = impossible.map(|fault| E::Impossible(fault).into()).into();
    all.extend(mistyped.map(|fault| Failure::from(E::MistypedRecoveryPassword(fault))));
    all.extend(failures![
        E::NotBitLocker(BootFault::NotBitLocker),
        E::NotBitLocker(BootFault::Nowhere),
        E::BootSector(BootFault::Short),
        E::FirstSectorLost,
        E::HalfConverted,
        E::NoMetadata(Box::new(copies)),
        E::CutShort { present: 30 << 20, least: 40 << 20 },
        E::Tampered,
        E::DamagedKey("data key"),
        E::Unsupported(bitlocker::Unsupported::Vista),
        E::Unsupported(bitlocker::Unsupported::Method(0x8009)),
        E::Unsupported(bitlocker::Unsupported::Pieces),
        E::NoSuchProtector { given: vec![Protection::Password], has: vec![Protection::StartupKey] },
        E::NoSecret(vec![Protection::Password]),
        E::WrongPassword(Vec::new(), Looks::default()),
        E::WrongPassword(vec![(Protection::StartupKey, id(7))], Looks::of(b"one\nanother")),
        E::WrongPassword(vec![(Protection::Certificate, id(7))], Looks::default()),
        E::WrongPassword(
            vec![(Protection::RecoveryPassword, id(7)), (Protection::TpmPin, id(9))],
            Looks::default()
        ),
        E::OpensWithout(Box::new(E::WrongPassword(vec![(Protection::ClearKey, id(1))], Looks::default()))),
        E::WrongRecoveryPassword(vec![id(1)]),
        E::OtherStartupKey { given: id(1), wanted: vec![id(2)] },
        E::WrongStartupKey(id(1)),
        E::WrongMasterKey,
        E::NotAStartupKey { path: "k.BEK".into(), fault: StartupKeyFault::Header },
        E::NotUtf8(Looks::of(b"\xff")),
        E::Stopped,
        E::Store(failed(Operation::Read)),
        E::Layout(LayoutError::Empty),
        E::Cipher(CipherError::KernelMissing("avx512")),
    ]);
    all
}

pub(super) fn making() -> Vec<Failure> {
    use bitlocker::CreateError as B;
    use veracrypt::CreateError as E;
    let mkfs = || {
        [
            MkfsError::Unknown("ntfs3".to_owned()),
            MkfsError::Missing(FileSystem::Ext4),
            MkfsError::LabelTooLong { fs: FileSystem::ExFat, has: 12, unit: "characters" },
            MkfsError::TooSmall { fs: FileSystem::Btrfs, bytes: 10 << 20, around: 256 << 10 },
            MkfsError::SectorSize { fs: FileSystem::ExFat, sector_bytes: 4096 },
            MkfsError::Refused {
                fs: FileSystem::Xfs,
                status: ExitStatus::from_raw(256),
                complaint: "too small".to_owned(),
            },
            MkfsError::Run { fs: FileSystem::Ext4, source: io(5) },
            MkfsError::Store(read_only()),
            MkfsError::Stopped,
        ]
    };
    let mut all: Vec<Failure> = mkfs().map(|error| E::FileSystem(error).into()).into();
    all.extend(mkfs().map(|error| Failure::from(B::FileSystem(error))));
    all.extend(
        [NoOuter::IsHidden, NoOuter::IsSystem, NoOuter::OldLayout, NoOuter::Resized]
            .map(|why| Failure::from(E::NoOuter(why))),
    );
    all.extend(failures![
        E::Exists(v()),
        E::IsALink(v()),
        E::NotADevice(v()),
        E::InUse { path: v(), uses: Vec::new() },
        E::InUse { path: v(), uses: vec![Use::Swap, Use::Mounted("/mnt".into())] },
        E::NoSpace { path: v(), needed: 4096, available: 512 },
        E::TooLargeForFileSystem { path: v(), size: 4096 },
        E::TooSmall { size: 512, least: 4096 },
        E::TooLarge { size: 4096, most: 512 },
        E::HiddenTooLarge { size: 4096, most: 512 },
        E::OuterFiles { size: 4096, most: 512 },
        E::OuterFiles { size: 4096, most: 0 },
        E::OuterUnknown { kind: keyway_fs::FileSystemKind::Xfs, why: AllocationError::Unknown },
        E::OuterUnknown {
            kind: keyway_fs::FileSystemKind::Ntfs,
            why: AllocationError::Dirty("it is mounted")
        },
        E::NotWholeSectors { size: 5000, sector_bytes: 4096 },
        E::HashNotOffered(HashName::Ripemd160),
        E::PimTooLarge(99_999),
        E::CipherNotOffered(Chain::single(Algorithm::Aes128)),
        E::SameSecret,
        E::HiddenThere,
        E::ReadBack,
        E::Random(RandomError::System(random())),
        E::Volume(VolumeError::NoSecret),
        E::Store(failed(Operation::Write)),
        E::Store(lied()),
        E::Store(refused(Operation::Open)),
        E::Layout(LayoutError::Empty),
        E::Cipher(CipherError::KernelMissing("avx512")),
        E::Kdf(KdfError::OutOfMemory { needed_kib: 65_536 }),
        E::Kdf(KdfError::Parameters(Argon2idParameter::Memory)),
        E::Stopped,
        B::TooSmall { size: 512, least: 4096 },
        B::NotWholeSectors { size: 5000, sector_bytes: 4096 },
        B::MethodNotOffered("aes-cbc-128-elephant"),
        B::FileSystemNotOffered(FileSystem::Btrfs),
        B::NoProtector,
        B::Protector(ProtectError::PasswordLength(3)),
        B::Protector(ProtectError::PasswordText),
        B::Protector(ProtectError::Stopped),
        B::Protector(ProtectError::Random(random())),
        B::Store(lied()),
        B::Random(RandomError::System(random())),
        B::TooLong(EntryTooLong(70_000)),
        B::Allocation(AllocationError::NoRoom),
        B::Allocation(AllocationError::Store(failed(Operation::Read))),
        B::Allocation(AllocationError::Unknown),
        B::Volume(BitLockerError::WrongPassword(Vec::new(), Looks::default())),
        B::Layout(LayoutError::Empty),
        B::Cipher(CipherError::KernelMissing("avx512")),
        B::Store(failed(Operation::Write)),
        B::Stopped,
    ]);
    all
}

pub(super) fn changing() -> Vec<Failure> {
    use bitlocker::{BackupError as Backup, ChangeError as Change, ResizeError as Resize};
    use veracrypt::ChangeError as E;
    let store = HeaderWriteFault::Store;
    let wrong = || VolumeError::WrongSecret {
        argon2id_skipped: None,
        looks: Looks::default(),
        narrowed: vec![],
        has_metadata: false,
    };
    let why = || [store(failed(Operation::Write)), store(lied()), HeaderWriteFault::ReadBack];
    let mut all = Vec::new();
    all.extend(why().map(|why| Failure::from(E::Unchanged { place: HeaderLocation::Primary, why })));
    all.extend(why().map(|why| Failure::from(E::Half { place: HeaderLocation::Primary, why })));
    all.extend(why().map(|why| Failure::from(E::Only { place: HeaderLocation::Primary, why })));
    let system = [SystemFault::Hash, SystemFault::Pim, SystemFault::Keyfiles, SystemFault::Password];
    all.extend(system.map(|fault| Failure::from(E::System(fault))));
    let no_backup = [
        NotABackup::Signature,
        NotABackup::Version(9),
        NotABackup::Length,
        NotABackup::Checksum,
        NotABackup::Boot(BootFault::NotBitLocker),
        NotABackup::Block(BlockFault::Signature),
    ];
    all.extend(no_backup.map(|why| Failure::from(Backup::NotABackup { path: "b".into(), why })));
    let rewrites = || {
        [
            RewriteError::Full(EntryTooLong(70_000)),
            RewriteError::Nothing(failed(Operation::Write)),
            RewriteError::Nothing(refused(Operation::Write)),
            RewriteError::Nothing(lied()),
            RewriteError::Unsure(failed(Operation::Write)),
            RewriteError::Partly(failed(Operation::Write)),
            RewriteError::Partly(lied()),
        ]
    };
    all.extend(rewrites().map(Failure::from));
    all.extend(rewrites().map(|error| Failure::from(Change::Write(error))));
    all.extend(failures![
        E::Open(VolumeError::NoSecret),
        E::Make(veracrypt::CreateError::Exists(v())),
        E::SystemElsewhere,
        E::OtherExtent { backup: 4096, drive: Some(512) },
        E::OtherExtent { backup: 4096, drive: None },
        E::HashNotOffered { format: Format::VeraCrypt, hash: HashName::Sha1 },
        E::IsHidden,
        E::NotHidden,
        E::HiddenSecret(wrong()),
        E::NotInBackup(wrong()),
        E::NeitherOpens(wrong()),
        E::DamagedCopy,
        E::CopyCutOff,
        E::BothDamaged(HeaderFault::KeyChecksum),
        E::NotABackup { path: "b".into(), bytes: 77 },
        E::BackupFile { path: "b".into(), source: io(2) },
        E::OtherMasterKeys,
        E::NothingShown,
        E::OtherSize { backup: 4096, now: 8192 },
        E::FilesReachFurther { backup: 4096, filesystem: 8192, present: 270_336 },
        E::OtherVolumesSize { backup: 8192, present: 4096 },
        E::BlankCopy,
        E::NoCopy,
        Change::Make(ProtectError::PasswordLength(3)),
        Change::Make(ProtectError::Stopped),
        Change::NoSuchProtector(id(1)),
        Change::HasOne(Protection::Password),
        Change::HasOne(Protection::ClearKey),
        Change::LastProtector(id(1)),
        Change::LastSecret(id(1)),
        Change::NotSuspended,
        Change::NothingToResume,
        Change::OtherKind { id: id(1), has: Protection::Password, wanted: Protection::StartupKey },
        Backup::OtherExtent { backup: 4096, present: 8192 },
        Backup::Open(BitLockerError::WrongPassword(Vec::new(), Looks::default())),
        Backup::Make(veracrypt::CreateError::Exists(v())),
        Backup::File { path: "b".into(), source: io(2) },
        Backup::OtherVolume { backup: id(1), present: id(2) },
        Backup::OtherSize { backup: 4096, present: 512 },
        Backup::Remains { this: id(1), other: id(2) },
        Backup::OtherKey,
        Backup::Write(RewriteError::Partly(failed(Operation::Write))),
        Backup::FirstSector(failed(Operation::Write)),
        Backup::FirstSector(lied()),
        Resize::Open(BitLockerError::WrongPassword(Vec::new(), Looks::default())),
        Resize::Unsupported("a To Go volume has one size", keyway_error::Advice::MakeNewVolume),
        Resize::Size { wanted: 512, why: "the file or device is smaller" },
        Resize::Write(RewriteError::Partly(failed(Operation::Write))),
        Resize::Store(failed(Operation::Write)),
        Resize::Random(RandomError::System(random())),
        veracrypt::ResizeError::Open(VolumeError::NoSecret),
        veracrypt::ResizeError::Make(veracrypt::CreateError::Stopped),
        veracrypt::ResizeError::Store(failed(Operation::Write)),
        veracrypt::ResizeError::Random(RandomError::System(random())),
        veracrypt::ResizeError::Unsupported(
            "a hidden volume has one size",
            keyway_error::Advice::MakeNewVolume
        ),
        veracrypt::ResizeError::Size { wanted: 512, why: "the file or device is smaller" },
    ]);
    all
}
