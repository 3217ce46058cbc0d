//! One of each error of the crates below, as the program tells it. What is said of them is in docs/reference/errors.md.
#![allow(clippy::expect_used, reason = "helpers of tests fail as tests do")]

use super::Failure;
use keyway::conversion::{ConversionError, Refusal};
use keyway::resize::ResizeError;
use keyway::session::{Lack, LackReason, Need, Purpose, SessionError};
use keyway::{Error, Misuse};

use keyway::drive::Authority;
use keyway::lab::LabError;
use keyway::lab::bench::BenchError;
use keyway::lab::trace::TraceError;
use keyway_attach::{
    AttachError, DmCryptError, NbdError, NvmeError, Silence, UblkError, Unmappable, User, VhostError,
};
use keyway_cipher::{Algorithm, Chain, CipherError};
use keyway_convert::{ConversionKind, ConvertError};
use keyway_engine::{DeviceError, LayoutError};
use keyway_error::Advice;
use keyway_fs::allocation::AllocationError;
use keyway_fs::files::FilesError;
use keyway_fs::mkfs::{FileSystem, MkfsError};
use keyway_fs::resize::RoomError;
use keyway_kdf::{Argon2idParameter, KdfError};
use keyway_model::trace::TraceFormatError;
use keyway_sed::host::{Did, HostError, Misbehaved, Refused, Unfit};
use keyway_sed::password::PasswordError;
use keyway_store::{InUse, Operation, StoreError};
use keyway_sys::Use;
use keyway_tpm::{Address, BadResponse, Lockout, Pcrs, ResponseCode, TpmError};
use keyway_volume::bitlocker::tpm::{BlobFault, PinFault, TpmProtectorError};
use keyway_volume::bitlocker::{
    self, BitLockerError, BlockFault, BootFault, CopyFault, EntryTooLong, Guid, Impossible, NotABackup,
    NotConvertible, ProtectError, Protection, ReadOnly, RecoveryFault, RewriteError, StartupKeyFault,
};
use keyway_volume::veracrypt::{
    self, HeaderFault, HeaderLocation, HeaderWriteFault, NoOuter, RandomError, SystemFault,
};
use keyway_volume::{Argon2idSkipped, Format, HashName, KeyfileFault, NotAVolume, Unsupported, VolumeError};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Each crate's errors, as failures of the program.
pub(super) fn all() -> Vec<Failure> {
    let mut all = sectors();
    all.extend(veracrypt());
    all.extend(bitlocker());
    all.extend(tpm());
    all.extend(making());
    all.extend(changing());
    all.extend(inside());
    all.extend(converting());
    all.extend(attaching());
    all.extend(laboratory());
    all.extend(library());
    all.extend(drives());
    all.extend(serving());
    all.extend(words());
    all
}

macro_rules! failures {
    ($($error:expr,)*) => { vec![$(Failure::from($error),)*] };
}

fn v() -> PathBuf {
    "v.hc".into()
}

/// Of the system, by Linux's number.
fn io(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

/// A medium that fails.
fn failed(operation: Operation) -> StoreError {
    StoreError::new(operation, "v.hc", 4096, 512, io(5))
}

fn refused(operation: Operation) -> StoreError {
    StoreError::new(operation, "v.hc", 4096, 512, io(13))
}

fn id(n: u8) -> Guid {
    Guid([n; 16])
}

fn random() -> getrandom::Error {
    getrandom::Error::UNSUPPORTED
}

fn sectors() -> Vec<Failure> {
    let opening = |source| StoreError::new(Operation::Open, "v.hc", 0, 0, source);
    let mut all: Vec<Failure> =
        [2, 13, 30, 16, 17, 28, 12, 21, 22, 5].map(|errno| opening(io(errno)).into()).into();
    let uses = [
        Use::Mounted("/mnt".into()),
        Use::Swap,
        Use::Holder("dm-0".to_owned()),
        Use::Loop("loop7".to_owned()),
    ];
    all.extend(uses.map(|one| {
        let busy = io::Error::new(io::ErrorKind::ResourceBusy, InUse::by(&v(), one));
        opening(busy).into()
    }));
    all.extend(failures![
        failed(Operation::Read),
        failed(Operation::Flush),
        StoreError::past_end(Operation::Read, "v.hc", 4096, 512, 1024),
        StoreError::reserved("v.hc", 4096, 512),
        DeviceError::Store(failed(Operation::Write)),
        DeviceError::PastEnd { offset: 4096, len: 512, size: 1024 },
        DeviceError::ReadOnly,
        DeviceError::HiddenVolume,
        DeviceError::Metadata(512),
        DeviceError::LostWrites,
        LayoutError::SectorSize(77),
        LayoutError::Empty,
        LayoutError::Misplaced(512),
        LayoutError::BeyondStore { needed: 4096, present: 512 },
        CipherError::UnknownCipher("rot13".to_owned()),
        CipherError::WrongKeys { chain: Chain::single(Algorithm::Aes256), mode: "XTS" },
        CipherError::Unsupported(Chain::single(Algorithm::Aes256)),
        CipherError::KernelMissing("avx512"),
        BenchError::NoKernel,
        BenchError::NoSuchKernel { name: "avx9".to_owned(), present: "portable, sse".to_owned() },
        BenchError::Memory { buffer: 1 << 30, threads: 8 },
        BenchError::Cipher(CipherError::KernelMissing("avx512")),
    ]);
    all
}

fn veracrypt() -> Vec<Failure> {
    use VolumeError as E;
    let damaged = |place, fault| E::DamagedHeader { place, fault };
    failures![
        E::WrongSecret { argon2id_skipped: None },
        E::WrongSecret { argon2id_skipped: Some(Argon2idSkipped::Memory) },
        E::WrongSecret { argon2id_skipped: Some(Argon2idSkipped::Cost) },
        E::WrongProtectionSecret,
        E::NoSecret,
        E::PasswordTooLong { bytes: 200, limit: 128 },
        E::PimTooLarge(99_999),
        E::NotAVolume(NotAVolume::Empty),
        E::NotAVolume(NotAVolume::TooSmall(16)),
        E::NotAVolume(NotAVolume::Zeros),
        E::NotAVolume(NotAVolume::NotRandom),
        E::NotAVolume(NotAVolume::Known("an NTFS file system")),
        damaged(HeaderLocation::Primary, HeaderFault::KeyChecksum),
        damaged(HeaderLocation::BackupPrimary, HeaderFault::FieldChecksum),
        damaged(HeaderLocation::OldHidden, HeaderFault::Version(0)),
        damaged(HeaderLocation::Primary, HeaderFault::BeyondEnd { end: 917_504, present: 300_000 }),
        E::Unsupported(Unsupported::HeaderVersion(9)),
        E::Unsupported(Unsupported::SystemDrive { bytes: 4096, present: 512 }),
        E::Unsupported(Unsupported::OutsideSystem { start: 512, end: 4096, partition: 8192 }),
        E::Unsupported(Unsupported::InPlaceIncomplete { encrypted: 512, total: 4096 }),
        E::Keyfile { path: "key".into(), fault: KeyfileFault::Unreadable(io(2)) },
        E::Keyfile { path: "key".into(), fault: KeyfileFault::Empty },
        E::Keyfile { path: "keys".into(), fault: KeyfileFault::EmptyFolder },
        E::Store(failed(Operation::Read)),
        E::Store(refused(Operation::Open)),
        E::Layout(LayoutError::Empty),
        E::Cipher(CipherError::KernelMissing("avx512")),
    ]
}

fn bitlocker() -> Vec<Failure> {
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
        E::HalfConverted,
        E::NoMetadata(Box::new(copies)),
        E::Tampered,
        E::DamagedKey("data key"),
        E::Unsupported(bitlocker::Unsupported::Vista),
        E::Unsupported(bitlocker::Unsupported::Method(0x8009)),
        E::Unsupported(bitlocker::Unsupported::Pieces),
        E::NoSuchProtector { given: vec![Protection::Password], has: vec![Protection::StartupKey] },
        E::NoSecret(vec![Protection::Password]),
        E::WrongPassword,
        E::WrongRecoveryPassword(vec![id(1)]),
        E::OtherStartupKey { given: id(1), wanted: vec![id(2)] },
        E::WrongStartupKey(id(1)),
        E::WrongMasterKey,
        E::NotAStartupKey { path: "k.BEK".into(), fault: StartupKeyFault::Header },
        E::NotUtf8,
        E::Stopped,
        E::Store(failed(Operation::Read)),
        E::Layout(LayoutError::Empty),
        E::Cipher(CipherError::KernelMissing("avx512")),
    ]);
    all
}

fn tpm() -> Vec<Failure> {
    use TpmError as T;
    use TpmProtectorError as E;
    let lockout = |failures, seconds| Lockout {
        failures,
        limit: 32,
        forgets_one_after: Duration::from_secs(seconds),
        recovers_after: Duration::ZERO,
    };
    let address = || "/dev/tpmrm0".to_owned();
    let pcrs = Pcrs::SECURE_BOOT;
    let bad = |fault| T::BadResponse { command: "TPM2_Unseal", fault };
    let of_tpm = vec![
        T::NoTpm { address: address(), source: io(2) },
        T::NotPermitted { address: address(), source: io(13) },
        T::Busy { address: address() },
        T::Transport(io(5)),
        bad(BadResponse::TooShort),
        bad(BadResponse::UnknownTag(0xc4)),
        T::NotAuthentic { command: "TPM2_Unseal" },
        T::Refused { command: "TPM2_Unseal", code: ResponseCode(0x101) },
        T::MeasurementsChanged { pcrs },
        T::WrongAuthorization { lockout: None },
        T::WrongAuthorization { lockout: Some(lockout(32, 0)) },
        T::WrongAuthorization { lockout: Some(lockout(31, 0)) },
        T::WrongAuthorization { lockout: Some(lockout(1, 0)) },
        T::LockedOut { lockout: None },
        T::LockedOut { lockout: Some(lockout(32, 90)) },
        T::LockedOut { lockout: Some(lockout(32, 600)) },
        T::LockedOut { lockout: Some(lockout(32, 7200)) },
        T::NotThisTpm,
        T::OwnerPassword,
        T::Unfit(keyway_tpm::Unfit::DamagedObject),
        T::Unfit(keyway_tpm::Unfit::UnknownAlgorithms),
        T::Unfit(keyway_tpm::Unfit::UnknownPolicy),
        T::Unfit(keyway_tpm::Unfit::SecretTooLong { length: 200, limit: 128 }),
        T::Unfit(keyway_tpm::Unfit::NoSha256Bank(pcrs)),
        T::Random(random()),
    ];
    let mut all: Vec<Failure> = of_tpm.into_iter().map(|error| E::Tpm(error).into()).collect();
    all.extend(failures![
        E::NoProtector,
        E::OtherKind(id(1), Protection::Password),
        E::NeedsPin,
        E::NeedsStartupKey(id(1)),
        E::OtherStartupKey(id(1)),
        E::WrongStartupKey(id(1)),
        E::Pin(PinFault::Length(2)),
        E::Pin(PinFault::Characters),
        E::Pin(PinFault::NotUtf8),
        E::Blob(BlobFault::Length),
        E::Blob(BlobFault::Tpm12),
        E::Damaged("key"),
        E::OldPin,
        E::Stopped,
        E::Random(random()),
    ]);
    all
}

fn making() -> Vec<Failure> {
    use bitlocker::CreateError as B;
    use veracrypt::CreateError as E;
    let mkfs = || {
        [
            MkfsError::Unknown("ntfs3".to_owned()),
            MkfsError::Missing(FileSystem::Ext4),
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
        E::NotADevice(v()),
        E::InUse { path: v(), uses: Vec::new() },
        E::InUse { path: v(), uses: vec![Use::Swap, Use::Mounted("/mnt".into())] },
        E::NoSpace { path: v(), needed: 4096, available: 512 },
        E::TooLargeForFileSystem { path: v(), size: 4096 },
        E::TooSmall { size: 512, least: 4096 },
        E::TooLarge { size: 4096, most: 512 },
        E::HiddenTooLarge { size: 4096, most: 512 },
        E::OuterFiles { size: 4096, most: 512 },
        E::NotWholeSectors { size: 5000, sector_bytes: 4096 },
        E::HashNotOffered(HashName::Ripemd160),
        E::PimTooLarge(99_999),
        E::CipherNotOffered(Chain::single(Algorithm::Aes128)),
        E::SameSecret,
        E::ReadBack,
        E::Random(RandomError::System(random())),
        E::Volume(VolumeError::NoSecret),
        E::Store(failed(Operation::Write)),
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
        B::ReadBack,
        B::Random(RandomError::System(random())),
        B::TooLong(EntryTooLong(70_000)),
        B::Allocation(AllocationError::NoRoom),
        B::Allocation(AllocationError::Store(failed(Operation::Read))),
        B::Allocation(AllocationError::Unknown),
        B::Volume(BitLockerError::WrongPassword),
        B::Layout(LayoutError::Empty),
        B::Cipher(CipherError::KernelMissing("avx512")),
        B::Store(failed(Operation::Write)),
        B::Stopped,
    ]);
    all
}

fn changing() -> Vec<Failure> {
    use bitlocker::{BackupError as Backup, ChangeError as Change, ResizeError as Resize};
    use veracrypt::ChangeError as E;
    let why = || [HeaderWriteFault::Store(failed(Operation::Write)), HeaderWriteFault::ReadBack];
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
            RewriteError::Partly(failed(Operation::Write)),
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
        E::NotABackup { path: "b".into(), bytes: 77 },
        E::BackupFile { path: "b".into(), source: io(2) },
        E::OtherMasterKeys,
        E::NoCopy,
        Change::Make(ProtectError::PasswordLength(3)),
        Change::Make(ProtectError::Stopped),
        Change::NoSuchProtector(id(1)),
        Change::HasOne(Protection::Password),
        Change::LastProtector(id(1)),
        Change::LastSecret(id(1)),
        Change::NotSuspended,
        Change::NothingToResume,
        Change::OtherKind { id: id(1), has: Protection::Password, wanted: Protection::StartupKey },
        Backup::Open(BitLockerError::WrongPassword),
        Backup::Make(veracrypt::CreateError::Exists(v())),
        Backup::File { path: "b".into(), source: io(2) },
        Backup::OtherVolume { backup: id(1), present: id(2) },
        Backup::OtherSize { backup: 4096, present: 512 },
        Backup::Remains { this: id(1), other: id(2) },
        Backup::OtherKey,
        Backup::Write(RewriteError::Partly(failed(Operation::Write))),
        Backup::FirstSector(failed(Operation::Write)),
        Resize::Open(BitLockerError::WrongPassword),
        Resize::Unsupported("a To Go volume has one size", None),
        Resize::Size { wanted: 512, why: "the file or device is smaller" },
        Resize::Write(RewriteError::Partly(failed(Operation::Write))),
        Resize::Store(failed(Operation::Write)),
        Resize::Random(RandomError::System(random())),
        veracrypt::ResizeError::Open(VolumeError::NoSecret),
        veracrypt::ResizeError::Make(veracrypt::CreateError::Stopped),
        veracrypt::ResizeError::Store(failed(Operation::Write)),
        veracrypt::ResizeError::Random(RandomError::System(random())),
        veracrypt::ResizeError::Unsupported("a hidden volume has one size", None),
        veracrypt::ResizeError::Size { wanted: 512, why: "the file or device is smaller" },
    ]);
    all
}

/// What a volume that is open read-only says to a file system.
fn read_only() -> StoreError {
    StoreError::new(Operation::Write, "the volume", 0, 512, keyway_error::carry(DeviceError::ReadOnly))
}

fn inside() -> Vec<Failure> {
    use FilesError as E;
    use RoomError as R;
    let name = || "letter.txt".into();
    let said = || "a bad block".to_owned();
    let (kind, program) = (keyway_fs::FileSystemKind::Ext, "e2fsck");
    failures![
        E::Store(read_only()),
        E::NoFileSystem,
        E::Unreadable("XFS"),
        E::CanNotWrite("ext4"),
        E::Unclean,
        E::Unsupported("it is compressed".to_owned()),
        E::Damaged("a folder without an end".to_owned()),
        E::NotFound(name()),
        E::NotAFolder(name()),
        E::IsAFolder(name()),
        E::IsALink(name()),
        E::NotAFile(name()),
        E::NotAPath(name()),
        E::BadName(name()),
        E::Exists(name()),
        E::InTheWay(v()),
        E::NoRoom { free: 512, wanted: 4096 },
        E::Endless("folders"),
        E::Host { doing: "write", path: v(), source: io(28) },
        R::Store(failed(Operation::Read)),
        R::Missing { program: "resize2fs", package: "e2fsprogs" },
        R::Read(io(5)),
        R::Run { program, source: io(5) },
        R::Damaged { kind, program, said: said() },
        R::Unreadable { kind, program, said: said() },
        R::Copy(io(5)),
        R::Refused { program, said: said() },
    ]
}

fn converting() -> Vec<Failure> {
    use ConvertError as E;
    let allocation = [
        AllocationError::Store(failed(Operation::Read)),
        AllocationError::Unknown,
        AllocationError::Damaged("a bitmap"),
        AllocationError::Dirty("it is mounted"),
        AllocationError::Unsupported("bigalloc"),
        AllocationError::NoRoom,
    ];
    let mut all: Vec<Failure> = allocation.map(|error| E::Allocation(error).into()).into();
    let windows = [ReadOnly::FirstSector, ReadOnly::EncryptOnWrite, ReadOnly::ConversionLog];
    all.extend(windows.map(|why| Failure::from(E::NotConvertible(NotConvertible::Windows(why)))));
    all.extend(failures![
        E::Store(failed(Operation::Write)),
        E::Store(refused(Operation::Write)),
        E::NoJournal,
        E::ImpossibleRecord,
        E::RecordLost { at: 512 },
        E::JournalOlder,
        E::MediumOlder,
        E::Torn { at: 512 },
        E::Overwritten,
        E::Size { expected: 4096, present: 512 },
        E::NoRoom { missing: 262_144 },
        E::Unsupported("a hidden volume can't be converted", None),
        E::Volume(VolumeError::NoSecret),
        E::Headers(veracrypt::CreateError::PimTooLarge(99_999)),
        E::Headers(veracrypt::CreateError::ReadBack),
        E::Headers(veracrypt::CreateError::Volume(VolumeError::NoSecret)),
        E::BitLocker(BitLockerError::WrongPassword),
        E::Metadata(bitlocker::CreateError::NoProtector),
        E::TooLong(EntryTooLong(70_000)),
        E::NotConvertible(NotConvertible::Bitmaps),
        E::NotConvertible(NotConvertible::Shape),
        E::Resize(bitlocker::ResizeError::Unsupported("a To Go volume has one size", None)),
        E::Device(DeviceError::ReadOnly),
        E::Layout(LayoutError::Empty),
        E::Random(RandomError::System(random())),
    ]);
    let (drive, missing) = (keyway_fs::FileSystemKind::ExFat, 262_144);
    let refused = |program| RoomError::Refused { program, said: "it is full".to_owned() };
    let refusals = [
        Refusal::UsedSpaceOnly,
        Refusal::KeepsItsSize,
        Refusal::NotBitLocker,
        Refusal::NotBitLockers,
        Refusal::NothingEncrypted,
        Refusal::NoNewSecret,
        Refusal::FreeSpaceInUse,
        Refusal::BitLockerAlready(v()),
        Refusal::NoFileSystem(v()),
        Refusal::DeviceCantGrow,
        Refusal::CantShrink { missing, filesystem: drive, is_file: true },
        Refusal::CantShrink { missing, filesystem: drive, is_file: false },
        Refusal::TooFull { error: refused("resize2fs"), missing, filesystem: drive, is_file: true },
        Refusal::TooFull { error: refused("resize2fs"), missing, filesystem: drive, is_file: false },
        Refusal::StillTooLarge(v()),
        Refusal::ChangedMeanwhile(v()),
        Refusal::Grown { path: v(), bytes: 1 << 20 },
        Refusal::NothingToOpen,
        Refusal::NoHashNorToGo,
        Refusal::NoHashToGoNorRoom,
        Refusal::NotItsSecret,
        Refusal::ShownToUsers,
        Refusal::NeedsJournalFile,
        Refusal::OneStandardInput,
        Refusal::NotVeraCrypts,
        Refusal::KeepsProtectors,
        Refusal::FreeIsNoise,
        Refusal::NotBegun { conversion: ConversionKind::Encryption, new_format: None },
        Refusal::NotBegun { conversion: ConversionKind::Decryption, new_format: None },
        Refusal::NotBegun { conversion: ConversionKind::Reencryption, new_format: Some("bitlocker") },
        Refusal::WasThrough(v()),
        Refusal::EndedByItself(v()),
        Refusal::NotConverted(v()),
        Refusal::DoesNotStop(77),
        Refusal::NotAttachable,
    ];
    all.extend(refusals.map(|refusal| ConversionError::from(refusal).into()));
    use ConversionError as C;
    let (path, journal, made_as) = (v, || PathBuf::from("v.hc.keyway-journal"), || PathBuf::from("/mnt/j"));
    all.extend(failures![
        C::UnderWay(v()),
        C::NotUnderWay(v()),
        C::Running { path: v(), pid: 77 },
        C::EndedMeanwhile(v()),
        C::InUse { path: v(), user: Use::Loop("loop7".to_owned()) },
        C::NewJournal { path: journal(), source: io(28) },
        C::NewJournal { path: journal(), source: io(17) },
        C::AnotherJournal { journal: journal(), volume: v() },
        C::JournalElsewhere { volume: v(), made_as: made_as() },
        C::JournalMissing { journal: journal(), made_as: made_as() },
        C::NoJournalFile(journal()),
        C::Interrupted { path: path(), error: E::Store(failed(Operation::Write)) },
        C::Interrupted { path: path(), error: E::NoJournal },
        C::Holes { path: path(), source: io(28) },
    ]);
    all
}

fn attaching() -> Vec<Failure> {
    use AttachError as E;
    let volume = || "v.hc".to_owned();
    let user = || User { pid: 77, name: "less".to_owned() };
    let unmappable = [
        Unmappable::Guard,
        Unmappable::Cipher("kuznyechik"),
        Unmappable::Mode { mode: "LRW", cipher: "serpent" },
        Unmappable::Cascade("CBC"),
        Unmappable::Pieces,
        Unmappable::TooMany(99),
        Unmappable::Unaligned,
    ];
    let mut all: Vec<Failure> = unmappable.map(|why| E::DmCrypt(DmCryptError::Unmappable(why)).into()).into();
    all.extend(
        [Silence::Stopped, Silence::Medium, Silence::Busy]
            .map(|why| Failure::from(E::Silent { volume: volume(), pid: 77, why })),
    );
    let nbd = [
        NbdError::Remote(([10, 0, 0, 1], 10809).into()),
        NbdError::Certificates { path: "ca-cert.pem".into(), reason: "it is empty".to_owned() },
        NbdError::InUse("/run/s".into()),
        NbdError::NotASocket("/run/s".into()),
        NbdError::System {
            doing: "listen on",
            at: keyway_attach::Listen::Unix("/run/s".into()),
            source: io(13),
        },
    ];
    all.extend(nbd.map(|error| Failure::from(E::Nbd(error))));
    all.extend(failures![
        E::AlreadyOpen { volume: volume() },
        E::Taken { volume: v(), by: InUse::by(&v(), Use::Swap) },
        E::Busy { what: "/mnt".to_owned(), users: Vec::new() },
        E::Busy { what: "/mnt".to_owned(), users: vec![user(), user()] },
        E::io("mount FUSE at /mnt", io(13)),
        E::io("mount FUSE at /mnt", io(5)),
        E::Mount { found: "an XFS file system".to_owned(), at: "/mnt".into(), source: io(5) },
        E::NotOpen(volume()),
        E::UnsafeFolder("/run/keyway".into()),
        E::Deleted { volume: volume() },
        E::NoAnswer { volume: volume(), reason: "it said nothing".to_owned() },
        E::ClosedBadly { volume: volume(), reason: "a flush failed".to_owned() },
        E::Device(DeviceError::LostWrites),
        E::DmCrypt(DmCryptError::Missing("/dev/mapper/control is not there".to_owned())),
        E::DmCrypt(DmCryptError::Refused { cipher: "aes-xts-plain64".to_owned(), source: io(22) }),
        E::Ublk(UblkError::Missing("/dev/ublk-control is not there".to_owned())),
        E::Ublk(UblkError::NotHandedOver { node: "/dev/ublkb0".to_owned() }),
        E::Ublk(UblkError::Waiting { volume: volume(), device: "/dev/ublkb0".to_owned() }),
        E::Ublk(UblkError::Another { device: "/dev/ublkb0".to_owned(), size: 4096, sector_bytes: 512 }),
        E::Ublk(UblkError::Unprotected("/dev/ublkb0".to_owned())),
        E::Vhost(VhostError::Socket(NbdError::InUse("/run/s".into()))),
        E::Vhost(VhostError::System { at: "/run/s".into(), source: io(5) }),
        E::Nvme(NvmeError::Remote(([10, 0, 0, 1], 4420).into())),
        E::Nvme(NvmeError::Name("mine".to_owned())),
        E::Nvme(NvmeError::System { doing: "listen on", at: ([127, 0, 0, 1], 4420).into(), source: io(98) }),
    ]);
    all
}

fn no_json() -> serde_json::Error {
    serde_json::from_str::<u8>("{").expect_err("no number")
}

fn laboratory() -> Vec<Failure> {
    use LabError as E;
    use TraceError as T;
    let name = || "d.img".to_owned();
    let traces = [
        T::Io(name(), io(2)),
        T::TooLarge,
        T::TooLong,
        T::Recording(TraceFormatError::Magic),
        T::Recording(TraceFormatError::TooLong),
        T::Recording(TraceFormatError::Record(7)),
        T::Recording(TraceFormatError::Trailing),
        T::Unknown,
        T::Line { line: 3, what: "a number was expected: \"x\"".to_owned() },
        T::Version("4".to_owned()),
        T::Empty,
        T::TooLate,
        T::PastEnd { needed: 4096, present: 512 },
    ];
    let mut all: Vec<Failure> = traces.map(|error| E::Trace(error).into()).into();
    all.extend([13, 30, 16, 28, 2].map(|errno| Failure::from(E::io("write to", &v(), io(errno)))));
    all.extend(failures![
        E::Workload { file: "w.toml".to_owned(), line: 3, what: "no such pattern".to_owned() },
        E::NoSuchWorkload("oltp9".to_owned()),
        E::NoSuchTrace("boot9".to_owned()),
        E::Target("rot13".to_owned(), "there is no such format".to_owned()),
        E::TooSmall { what: name(), present: 512, needed: 4096 },
        E::WouldDestroy { what: name() },
        E::InUse { what: name(), how: "it is mounted at /mnt".to_owned() },
        E::ReadOnly(name()),
        E::NoSpace { what: name(), needed: 4096 },
        E::Unsuited("nothing is left of oltp with these options".to_owned()),
        E::System { doing: "write", path: "report.html".into(), source: io(13) },
        E::Folder("reports".into()),
        E::NotADocument { path: name().into(), source: no_json() },
        E::NoSuchModel("fastest".to_owned()),
        E::Lack(Lack { need: Need::LoopDevice, reason: LackReason::NotRoot }),
        E::ClosedMeanwhile(v()),
        E::Store(failed(Operation::Read)),
        E::Device(DeviceError::ReadOnly),
        E::Layout(LayoutError::Empty),
        E::Differs { offset: 512 },
        E::Stopped,
    ]);
    all
}

fn library() -> Vec<Failure> {
    let at = |error: Error| Error::At { path: v(), error: Box::new(error) };
    let size = |error: ResizeError| Error::Resizing(error);
    let answer = Failure::usage("nobody answered", "say --yes").kind(keyway_error::Kind::Declined);
    failures![
        at(Error::BitLocker(BitLockerError::WrongPassword)),
        at(Error::Create(veracrypt::CreateError::Exists(v()))),
        at(Error::answer(answer.clone())),
        Error::answer(answer),
        Error::answer(io(5)),
        Error::System { doing: "open", path: v(), source: io(13) },
        Error::Folder("folder".into()),
        Error::HalfConverted { path: v(), conversion: ConversionKind::Encryption },
        Error::NoStartupKey("folder".into()),
        Error::FileSystemInFront("NTFS"),
        Error::DamagedAgain,
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::SizesRestored },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::SizesLeft },
        Error::TakenBack { error: Box::new(Error::Stopped), left: Advice::FileSizeRestored },
        Error::TakenBack {
            error: Box::new(Error::Stopped),
            left: Advice::FileSystemRestored { filesystem: "NTFS".to_owned() }
        },
        Error::Stopped,
        Error::Random(random()),
        Misuse::NotBitLocker(v()),
        Misuse::NoKeyfiles,
        Misuse::NothingHidden,
        Misuse::SizeOfADevice,
        Misuse::NoSize,
        Misuse::NoHidden,
        Misuse::NoBitLockerBeginning(v()),
        Misuse::NothingToRepair(v()),
        Misuse::NoBackupFile,
        Misuse::OneStandardInput,
        Misuse::RecoveryAndPassword,
        Misuse::NoPassword,
        Misuse::PasswordTooLong { path: "pw".into(), limit: 4096 },
        Misuse::Descriptor { descriptor: 3, source: io(9) },
        Misuse::PastEnd { offset: 4096, size: 512 },
        Misuse::OneSecret(v()),
        Misuse::ForBitLockerOnly(v()),
        Misuse::OneDerivation,
        Misuse::PasswordOnly,
        Misuse::NoFolder,
        Misuse::NoPasswordToChange("v.img".into()),
        Misuse::Unchangeable(Protection::Certificate),
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
            filesystem: keyway_fs::FileSystem { kind: keyway_fs::FileSystemKind::Ext, bytes: 2 << 30 },
            most: 1 << 30,
        }),
        size(ResizeError::ReachesBehind(keyway_fs::FileSystemKind::Ntfs)),
        size(ResizeError::TooFull(RoomError::Refused {
            program: "resize2fs",
            said: "it is too full".to_owned()
        })),
        size(ResizeError::StillTooLarge { path: v(), kind: keyway_fs::FileSystemKind::Ext }),
        size(ResizeError::NotAttachable),
        Misuse::CacheWithHidden,
        Misuse::DiscardsAroundHidden,
        Misuse::NothingToProtect,
        Misuse::MountNeedsDevice,
        Misuse::CacheNeedsLoop,
        Misuse::KernelProtectsNothing,
        Misuse::MountPointNotFolder("/mnt".into()),
        Misuse::NoUnprovenPort,
        Misuse::Unproven { address: [0, 0, 0, 0].into(), by_nvme: false },
        Misuse::Unproven { address: [0, 0, 0, 0].into(), by_nvme: true },
        Misuse::NeedsNewFolder,
        Misuse::NoNewName("..".into()),
        Misuse::PutNotAFile("folder".into()),
        Error::CanOnlyBeRead(Box::new(Error::System { doing: "open", path: v(), source: io(13) })),
    ]
}

fn serving() -> Vec<Failure> {
    let taken = |volume| SessionError::Taken { error: failed(Operation::Open), volume };
    let lacks = |purpose, need| {
        let reason = LackReason::NotRoot;
        Failure::from(SessionError::Lacks { purpose, lack: Lack { need, reason } })
    };
    let mut all = vec![
        lacks(Purpose::Cache, Need::LoopDevice),
        lacks(Purpose::Mount, Need::LoopDevice),
        lacks(Purpose::File, Need::Fuse),
    ];
    all.extend(failures![
        SessionError::DiscardsInHidden,
        taken(Some(v())),
        taken(None),
        SessionError::MountNeedsRoot,
        SessionError::Process { doing: "start the serving process", source: io(12) },
        SessionError::NoAnswer(Some(ExitStatus::from_raw(9))),
        SessionError::NoRequest(io(5)),
        SessionError::CallerGone(io(32)),
    ]);
    all
}

/// Words of the command line that can't be read.
fn words() -> Vec<Failure> {
    vec![
        Failure::explained(&"7,x".parse::<Pcrs>().expect_err("no list")),
        Failure::explained(&"tpm".parse::<Address>().expect_err("no address")),
        Failure::explained(&"md5".parse::<HashName>().expect_err("no hash")),
        Failure::explained(&"12".parse::<Guid>().expect_err("no identifier")),
    ]
}

fn drives() -> Vec<Failure> {
    use keyway::drive::DriveError as E;
    use keyway_sed::discovery::{BlockSid, Discovery, Feature, LockingFeature};
    use keyway_sed::transport::{NoSecurity, Refusal, TransportError as T};
    use keyway_sed::uid::authority;
    use keyway_sed::{Status as S, diagnosis::Situation, password::PasswordHash};
    let blocked = Feature::BlockSid(BlockSid { blocked: true, ..BlockSid::default() });
    let features = vec![Feature::Locking(LockingFeature::default()), blocked];
    let discovery = Discovery { revision: (0, 1), vendor: [0; 32], features };
    let said = |error: HostError, factory_pin| {
        let (hash, discovery) = (PasswordHash::Sedutil, Some(&discovery));
        E::said(&v(), error, &Situation { discovery, hash, factory_pin, tried: &[] })
    };
    let (sid, psid) = (Some(authority::SID), Some(authority::PSID));
    let (admin, user) = (Some(authority::admin(1)), Some(authority::user(1)));
    let refused = |(did, authority, status)| HostError::Refused(Refused { did, authority, status });
    let refusals = [
        (Did::Authenticate, sid, S::NotAuthorized),
        (Did::Authenticate, user, S::AuthorityLockedOut),
        (Did::Authenticate, psid, S::NotAuthorized),
        (Did::Authenticate, user, S::NotAuthorized),
        (Did::Activate, admin, S::NotAuthorized),
        (Did::Get, None, S::NotAuthorized),
        (Did::Set, user, S::NotAuthorized),
        (Did::Get, user, S::SpBusy),
        (Did::SetRange, admin, S::InvalidParameter),
        (Did::Authenticate, user, S::InvalidParameter),
        (Did::Authenticate, user, S::Fail),
        (Did::RevertSp, admin, S::Fail),
        (Did::Reactivate, admin, S::Fail),
        (Did::Activate, sid, S::Fail),
        (Did::Get, user, S::SpFrozen),
        (Did::Get, user, S::TPerMalfunction),
        (Did::Get, user, S::ResponseOverflow),
        (Did::Get, user, S::UniquenessConflict),
    ];
    let others = [
        T::NotADrive.into(),
        T::NoSecurityCommands(NoSecurity::Drive).into(),
        T::NoSecurityCommands(NoSecurity::Libata).into(),
        T::NoSecurityCommands(NoSecurity::Bridge).into(),
        T::NotPermitted(io(13)).into(),
        T::TimedOut.into(),
        T::Refused(Refusal::Nvme(2)).into(),
        T::Io(io(5)).into(),
        HostError::Misbehaved(Misbehaved::NoComId),
        HostError::Misbehaved(Misbehaved::Closed),
        HostError::Unsupported("MBR shadow"),
        Unfit::PartBlocks.into(),
        Unfit::Unaligned.into(),
        Unfit::NeverLocks.into(),
        Unfit::PastDataStore.into(),
        Unfit::LargerThanShadow.into(),
        Unfit::LargeRequest.into(),
        HostError::Stopped,
    ];
    let factory = refused((Did::Authenticate, admin, S::NotAuthorized));
    let half = refused((Did::Set, admin, S::Fail));
    let mut all: Vec<Failure> = refusals.into_iter().map(|r| said(refused(r), false).into()).collect();
    all.extend(others.into_iter().map(|error| Failure::from(said(error, false))));
    all.extend(failures![
        said(factory, true),
        E::HalfSetUp(Box::new(said(half, false))),
        E::NoStandard(v()),
        E::OnlyRead(v()),
        E::NotSetUp(v()),
        E::SetUpAlready(v()),
        E::OddState(v()),
        E::InUse { disk: "/dev/sda".into(), user: Use::Swap },
        E::SheetOnDrive("sheet.txt".into()),
        E::GlobalRangeHasNoPlace,
        E::GlobalRangeStays,
        E::NoLength,
        E::NoUser(Authority::Admin(1)),
        E::OtherPart,
        E::KernelKnowsNoFile,
        E::UnknownToKernel(Authority::Admin(2)),
        E::RangeUnknownToKernel,
        E::Password(PasswordError::Empty),
        E::Password(PasswordError::TooLong),
        E::Password(PasswordError::MuchTooLong),
        E::PsidLength(7),
        E::NoPsid,
        E::NoOwnersSecret,
        E::NoVirtualDrives(v()),
        E::VirtualSize,
        E::Served(NvmeError::Name("x".to_owned())),
        E::Served(NvmeError::System {
            doing: "listen on",
            at: ([127, 0, 0, 1], 4420).into(),
            source: io(98)
        }),
    ]);
    all
}
