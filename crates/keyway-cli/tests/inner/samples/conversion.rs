//! Of conversions.

use super::super::Failure;
use super::{failed, io, lied, random, refused, v};
use keyway::conversion::{ConversionError, ConversionRefusal};
use keyway_convert::{ConversionKind, ConvertError};
use keyway_engine::{DeviceError, LayoutError};
use keyway_fs::allocation::AllocationError;
use keyway_fs::resize::ResizeToolError;
use keyway_store::Operation;
use keyway_sys::Use;
use keyway_volume::bitlocker::{BitLockerError, EntryTooLong, NotConvertible, ReadOnly};
use keyway_volume::looks::Looks;
use keyway_volume::veracrypt::RandomError;
use keyway_volume::{VolumeError, bitlocker, veracrypt};
use std::path::PathBuf;

pub(super) fn converting() -> Vec<Failure> {
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
    let windows =
        [ReadOnly::FirstSector, ReadOnly::EncryptOnWrite, ReadOnly::ConversionLog, ReadOnly::CutOff];
    all.extend(windows.map(|why| Failure::from(E::NotConvertible(NotConvertible::Windows(why)))));
    let to_new_volume = |is_file, bytes| keyway_error::Advice::CopyToNewVolume { path: v(), is_file, bytes };
    all.extend(failures![
        E::Store(failed(Operation::Write)),
        E::Store(refused(Operation::Write)),
        E::NotKept(lied()),
        E::NoJournal,
        E::ImpossibleRecord,
        E::RecordLost { at: 512 },
        E::JournalOlder,
        E::MediumOlder,
        E::Unreadable { at: 4096, content: 512..1024, source: failed(Operation::Read) },
        E::Unwritable { at: 4096, content: 512..1024, source: failed(Operation::Write) },
        E::List(io(28)),
        E::Torn { at: 512 },
        E::Overwritten,
        E::Size { expected: 4096, present: 512 },
        E::NoRoom { missing: 262_144 },
        E::Unsupported("a hidden volume can't be converted", keyway_error::Advice::OnlyOuter),
        E::Unsupported("XFS becomes no BitLocker volume in place", to_new_volume(true, 0)),
        E::Unsupported("XFS becomes no BitLocker volume in place", to_new_volume(false, 13 << 20)),
        E::Volume(VolumeError::NoSecret),
        E::Headers(veracrypt::CreateError::PimTooLarge(99_999)),
        E::Headers(veracrypt::CreateError::ReadBack),
        E::Headers(veracrypt::CreateError::Volume(VolumeError::NoSecret)),
        E::BitLocker(BitLockerError::WrongPassword(Vec::new(), Looks::default())),
        E::Metadata(bitlocker::CreateError::NoProtector),
        E::TooLong(EntryTooLong(70_000)),
        E::NotConvertible(NotConvertible::Bitmaps),
        E::NotConvertible(NotConvertible::Shape),
        E::Resize(bitlocker::ResizeError::Unsupported(
            "a To Go volume has one size",
            keyway_error::Advice::MakeNewVolume
        )),
        E::Device(DeviceError::ReadOnly),
        E::Layout(LayoutError::Empty),
        E::Random(RandomError::System(random())),
    ]);
    let (drive, missing) = (keyway_fs::FileSystemKind::ExFat, 262_144);
    let refused = |program| ResizeToolError::Refused { program, said: "it is full".to_owned() };
    let refusals = [
        ConversionRefusal::UsedSpaceOnly,
        ConversionRefusal::KeepsItsSize,
        ConversionRefusal::NotBitLocker,
        ConversionRefusal::NotBitLockers,
        ConversionRefusal::NothingEncrypted,
        ConversionRefusal::NoNewSecret,
        ConversionRefusal::FreeSpaceInUse,
        ConversionRefusal::BitLockerAlready(v()),
        ConversionRefusal::NoFileSystem(v()),
        ConversionRefusal::DeviceCantGrow,
        ConversionRefusal::CantShrink { missing, filesystem: drive, is_file: true },
        ConversionRefusal::CantShrink { missing, filesystem: drive, is_file: false },
        ConversionRefusal::TooFull { error: refused("resize2fs"), missing, filesystem: drive, is_file: true },
        ConversionRefusal::TooFull {
            error: refused("resize2fs"),
            missing,
            filesystem: drive,
            is_file: false,
        },
        ConversionRefusal::StillTooLarge(v()),
        ConversionRefusal::ChangedMeanwhile(v()),
        ConversionRefusal::Grown { path: v(), bytes: 1 << 20 },
        ConversionRefusal::NothingToOpen,
        ConversionRefusal::NoToGo,
        ConversionRefusal::RoomEnough,
        ConversionRefusal::NotItsSecret,
        ConversionRefusal::NewOnesHash,
        ConversionRefusal::TooSmallForBitLocker { path: v(), size: 8 << 20, least: 64 << 20 },
        ConversionRefusal::TooSmallToConvert { path: v(), size: 300 << 10, least: 768 << 10 },
        ConversionRefusal::NewOnesSecret,
        ConversionRefusal::ShownToUsers,
        ConversionRefusal::NeedsJournalFile,
        ConversionRefusal::OneStandardInput,
        ConversionRefusal::NotVeraCrypts,
        ConversionRefusal::KeepsProtectors,
        ConversionRefusal::FreeIsNoise,
        ConversionRefusal::NotBegun { conversion: ConversionKind::Encryption, new_format: None },
        ConversionRefusal::NotBegun { conversion: ConversionKind::Decryption, new_format: None },
        ConversionRefusal::NotBegun {
            conversion: ConversionKind::Reencryption,
            new_format: Some("bitlocker"),
        },
        ConversionRefusal::WasThrough(v()),
        ConversionRefusal::EndedByItself(v()),
        ConversionRefusal::NotConverted(v()),
        ConversionRefusal::PausedAlready(v()),
        ConversionRefusal::DoesNotStop(77),
    ];
    all.extend(refusals.map(|refusal| ConversionError::from(refusal).into()));
    use ConversionError as C;
    let (path, journal, made_as) = (v, || PathBuf::from("v.hc.keyway-journal"), || PathBuf::from("/mnt/j"));
    all.extend(failures![
        C::UnderWay(v()),
        C::Traces(v()),
        C::NotUnderWay(v()),
        C::Running { path: v(), pid: 77 },
        C::EndedMeanwhile(v()),
        C::Removed(v()),
        C::TakenAway(v()),
        C::InUse { path: v(), user: Use::Loop("loop7".to_owned()) },
        C::IsConverted(v()),
        C::NewJournal { path: journal(), source: io(28) },
        C::NewJournal { path: journal(), source: io(30) },
        C::NewJournal { path: journal(), source: io(13) },
        C::JournalInMemory(journal()),
        C::NewJournal { path: journal(), source: io(17) },
        C::AnotherJournal { journal: journal(), volume: v() },
        C::JournalElsewhere { volume: v(), made_as: made_as() },
        C::JournalMissing { journal: journal(), made_as: made_as() },
        C::NoJournalFile(journal()),
        C::AnotherFile { path: v(), expected: 8192, present: 4096 },
        C::JournalOnVolume(v()),
        C::NewSecret {
            path: v(),
            error: Box::new(E::BitLocker(BitLockerError::WrongPassword(Vec::new(), Looks::default())))
        },
        C::WrongSecret {
            path: v(),
            pim: false,
            error: Box::new(E::Volume(VolumeError::WrongSecret {
                argon2id_skipped: None,
                looks: Looks::default(),
                narrowed: Vec::new(),
                has_metadata: false,
            }))
        },
        C::NewKeyfiles(v()),
        C::Interrupted { path: path(), error: Box::new(E::Store(failed(Operation::Write))) },
        C::Interrupted { path: path(), error: Box::new(E::NoJournal) },
        C::Holes { path: path(), source: io(28) },
    ]);
    all
}
