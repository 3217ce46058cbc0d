//! Headers that decrypt and lie, files that are cut, flipped, empty or something else: a clear
//! error with the right exit code, never a panic.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of tests fail as tests do")]

use keyway_engine::{Access, Device};
use keyway_error::{Explain, Fault};
use keyway_secret::SecretBytes;
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_volume::veracrypt::{
    Derivation, Flags, Format, HEADER_BYTES, HashName, Header, HeaderFault, HeaderLocation, SealedHeader,
    Suite, derive_header_key,
};
use keyway_volume::{
    NotAVolume, Secrets, UnlockRequest, Unlocked, Unsupported, VolumeError, Warning, unlock,
};
use std::sync::atomic::AtomicBool;

const MIB: u64 = 1 << 20;
const PASSWORD: &[u8] = b"hostile";
/// The cheapest derivation that VeraCrypt has.
const PIM: u32 = 1;

fn honest() -> Header {
    let mut keys = [0; 256];
    for (i, byte) in keys.iter_mut().enumerate() {
        *byte = i as u8;
    }
    Header {
        format: Format::VeraCrypt,
        version: 5,
        required_program_version: 0x010b,
        created: [0, 0],
        hidden_bytes: 0,
        volume_bytes: MIB - 262_144,
        encrypted_start: 131_072,
        encrypted_bytes: MIB - 262_144,
        flags: Flags(0),
        sector_bytes: 512,
        key_area: SecretBytes::take(&mut keys),
    }
}

fn sealed(header: &Header) -> [u8; HEADER_BYTES] {
    let mut salt = [0; 64];
    getrandom::fill(&mut salt).expect("random");
    let cost = Derivation::of(header.format, HashName::Sha512, Some(PIM), false).expect("exists");
    let stop = AtomicBool::new(false);
    let key = derive_header_key(HashName::Sha512, cost, PASSWORD, &salt, 192, &stop);
    let key = key.expect("no memory needed").expect("not stopped");
    let suite = Suite::xts("aes".parse().expect("a cipher"));
    *SealedHeader::seal(header, &salt, suite, &key).expect("seals").bytes()
}

fn noise(len: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(len).expect("small")];
    getrandom::fill(&mut bytes).expect("random");
    bytes
}

/// Random bytes with `header` at `place`.
fn image(header: &Header, place: HeaderLocation, len: u64) -> Vec<u8> {
    let mut bytes = noise(len);
    let at = usize::try_from(place.offset(len).expect("fits")).expect("small");
    bytes[at..at + HEADER_BYTES].copy_from_slice(&sealed(header));
    bytes
}

fn open(store: &dyn Store) -> Result<Unlocked, VolumeError> {
    let secrets = Secrets { password: SecretBytes::copy_of(PASSWORD), keyfiles: Vec::new(), pim: Some(PIM) };
    let mut request = UnlockRequest::new(&secrets);
    request.hash = Some(HashName::Sha512);
    unlock(store, &request)
}

fn refused(bytes: Vec<u8>) -> VolumeError {
    open(&MemStore::from_vec(bytes)).err().expect("refused")
}

/// The fault of a primary header that `change` made lie.
fn fault(change: impl FnOnce(&mut Header)) -> HeaderFault {
    let mut header = honest();
    change(&mut header);
    let error = refused(image(&header, HeaderLocation::Primary, MIB));
    assert_eq!(error.fault(), Fault::Contents, "{error}");
    match error {
        VolumeError::DamagedHeader { place: HeaderLocation::Primary, fault } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn an_honest_header_opens() {
    let unlocked = open(&MemStore::from_vec(image(&honest(), HeaderLocation::Primary, MIB))).expect("opens");
    assert_eq!(unlocked.info.data_bytes, MIB - 262_144);
    assert_eq!(unlocked.warnings, []);
    assert_eq!(unlocked.opened().header.volume_bytes, MIB - 262_144);
}

#[test]
fn sizes_that_lie_are_refused() {
    for bytes in [0, 1, 511, 513] {
        let found = fault(|h| (h.volume_bytes, h.encrypted_bytes) = (bytes, bytes));
        assert_eq!(found, HeaderFault::Size(bytes));
    }
    for bytes in [MIB - 131_072 + 512, MIB, 1 << 40, (1 << 63) - 131_072] {
        let found = fault(|h| (h.volume_bytes, h.encrypted_bytes) = (bytes, bytes));
        assert_eq!(found, HeaderFault::BeyondEnd { end: 131_072 + bytes, present: MIB });
    }
    for bytes in [u64::MAX - 511, u64::MAX - 131_071] {
        let found = fault(|h| (h.volume_bytes, h.encrypted_bytes) = (bytes, bytes));
        assert_eq!(found, HeaderFault::Overflow { start: 131_072, bytes });
    }
    let found = fault(|h| {
        h.sector_bytes = 4096;
        (h.volume_bytes, h.encrypted_bytes) = (4096 + 512, 4096 + 512);
    });
    assert_eq!(found, HeaderFault::Size(4608));
}

#[test]
fn starts_that_lie_are_refused() {
    for start in [0, 1, 512, 65_536, 131_071, 131_073, u64::MAX, u64::MAX - 511] {
        let found = fault(|h| h.encrypted_start = start);
        let far = start > MIB && start.is_multiple_of(512);
        if far {
            assert!(matches!(found, HeaderFault::Overflow { .. }), "{start}: {found}");
        } else {
            assert_eq!(found, HeaderFault::Start(start));
        }
    }
    assert!(matches!(fault(|h| h.encrypted_start = MIB), HeaderFault::BeyondEnd { .. }));
}

#[test]
fn areas_that_overlap_or_differ_are_refused() {
    let found = fault(|h| h.encrypted_bytes = 512);
    assert_eq!(found, HeaderFault::PartlyEncrypted { encrypted: 512, volume: MIB - 262_144 });
    let mut header = honest();
    header.flags = Flags(2);
    header.encrypted_bytes = 512;
    let error = refused(image(&header, HeaderLocation::Primary, MIB));
    assert!(matches!(error, VolumeError::Unsupported(Unsupported::InPlaceIncomplete { .. })), "{error}");
}

#[test]
fn sector_sizes_that_lie_are_refused() {
    for sector_bytes in [0, 1, 511, 1 << 31, u32::MAX, 8192] {
        assert_eq!(fault(|h| h.sector_bytes = sector_bytes), HeaderFault::SectorSize(sector_bytes));
    }
}

#[test]
fn a_newer_header_is_named_as_such() {
    let mut header = honest();
    header.version = 6;
    let error = refused(image(&header, HeaderLocation::Primary, MIB));
    assert!(matches!(error, VolumeError::Unsupported(Unsupported::HeaderVersion(6))), "{error}");
    assert_eq!(error.fault(), Fault::Contents);
}

#[test]
fn a_backup_header_replaces_a_lying_one() {
    let mut lying = honest();
    lying.sector_bytes = 1 << 31;
    let mut bytes = image(&honest(), HeaderLocation::BackupPrimary, MIB);
    bytes[..HEADER_BYTES].copy_from_slice(&sealed(&lying));
    let unlocked = open(&MemStore::from_vec(bytes)).expect("opens");
    assert_eq!(unlocked.info.header_used, HeaderLocation::BackupPrimary);
    assert_eq!(unlocked.warnings, [Warning::BackupHeader(HeaderLocation::BackupPrimary)]);
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let whole = image(&honest(), HeaderLocation::Primary, MIB);
    for len in [0, 1, 511, 512, 513, 65_535, 65_536, 66_048, 131_072, 262_144, MIB - 131_072 - 1] {
        let cut = whole[..usize::try_from(len).expect("small")].to_vec();
        let error = refused(cut);
        assert_eq!(error.fault(), Fault::Contents, "{len}: {error}");
        match error {
            VolumeError::NotAVolume(NotAVolume::Empty) => assert_eq!(len, 0),
            VolumeError::NotAVolume(NotAVolume::TooSmall(size)) => assert_eq!(size, len),
            VolumeError::DamagedHeader { fault: HeaderFault::BeyondEnd { present, .. }, .. } => {
                assert_eq!(present, len);
            }
            other => panic!("{len}: {other}"),
        }
    }
    // Without its backup headers it is whole all the same.
    let cut = whole[..usize::try_from(MIB - 131_072).expect("small")].to_vec();
    assert_eq!(open(&MemStore::from_vec(cut)).expect("opens").warnings, [Warning::NoBackupHeaders]);
}

#[test]
fn a_flipped_header_opens_nothing() {
    let whole = image(&honest(), HeaderLocation::Primary, MIB);
    for byte in [0, 63, 64, 68, 72, 100, 252, 256, 511] {
        let mut flipped = whole.clone();
        flipped[byte] ^= 0x10;
        let error = refused(flipped);
        // XTS spreads a flipped bit over its block of 16 bytes: the magic's block makes the header
        // unrecognisable, every other one breaks a checksum.
        let expected = if byte < 80 { Fault::Secret } else { Fault::Contents };
        assert_eq!(error.fault(), expected, "{byte}: {error}");
    }
}

#[test]
fn what_is_no_volume_at_all_is_told() {
    let not = |bytes| match refused(bytes) {
        VolumeError::NotAVolume(reason) => reason,
        other => panic!("{other}"),
    };
    assert_eq!(not(vec![0; 1 << 20]), NotAVolume::Zeros);
    assert_eq!(not(b"a text file\n".repeat(100_000)), NotAVolume::NotRandom);
    assert_eq!(refused(noise(MIB)).fault(), Fault::Secret);
}

#[test]
fn a_pim_that_does_not_exist_is_refused_at_once() {
    let secrets =
        Secrets { password: SecretBytes::copy_of(PASSWORD), keyfiles: Vec::new(), pim: Some(u32::MAX) };
    let store = MemStore::from_vec(noise(MIB));
    let error = unlock(&store, &UnlockRequest::new(&secrets)).err().expect("refused");
    assert!(matches!(error, VolumeError::PimTooLarge(u32::MAX)), "{error}");
    assert_eq!(error.fault(), Fault::Request);
}

#[test]
fn equal_xts_keys_are_warned_of() {
    let mut header = honest();
    header.key_area = SecretBytes::copy_of(&[7; 256]);
    let unlocked = open(&MemStore::from_vec(image(&header, HeaderLocation::Primary, MIB))).expect("opens");
    assert_eq!(unlocked.warnings, [Warning::EqualXtsKeys]);
}

#[test]
fn a_failing_medium_is_an_error_of_the_medium() {
    let store = FaultStore::new(
        MemStore::from_vec(image(&honest(), HeaderLocation::Primary, MIB)),
        FaultPlan { reads_fail_from: Some(0), ..FaultPlan::default() },
    );
    let error = open(&store).err().expect("refused");
    assert!(matches!(error, VolumeError::Store(_)), "{error}");
    assert_eq!(error.fault(), Fault::Medium);
}

/// A drive whose first partition, of 256 sectors from sector 2048 on, is an encrypted system.
fn drive(partition_start: u64, area_start: u64, encrypted: u64) -> Vec<u8> {
    let mut header = honest();
    header.flags = Flags(1);
    header.encrypted_start = area_start;
    header.volume_bytes = 131_072;
    header.encrypted_bytes = encrypted;
    let mut bytes = image(&header, HeaderLocation::System, 2 * MIB);
    bytes[..512].fill(0);
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    let first = u32::try_from(partition_start / 512).expect("small");
    bytes[450] = 7;
    bytes[454..458].copy_from_slice(&first.to_le_bytes());
    bytes[458..462].copy_from_slice(&64u32.to_le_bytes());
    bytes
}

#[test]
fn a_system_partition_is_shown_alone_and_a_system_drive_whole() {
    let partition = open(&MemStore::from_vec(drive(MIB, MIB, 131_072))).expect("opens");
    assert!(partition.info.system);
    assert_eq!((partition.info.data_offset, partition.info.data_bytes), (MIB, 131_072));

    let bytes = drive(MIB + 65_536, MIB, 131_072);
    let whole = open(&MemStore::from_vec(bytes.clone())).expect("opens");
    assert_eq!((whole.info.data_offset, whole.info.data_bytes), (0, 2 * MIB));
    let device = Device::new(Box::new(MemStore::from_vec(bytes.clone())), whole.layout, Access::ReadOnly)
        .expect("fits");
    let mut sector = [0; 512];
    device.read_at(&mut sector, 0).expect("reads");
    assert_eq!(sector, bytes[..512]);
}

#[test]
fn a_system_that_is_partly_encrypted_is_shown_with_its_rest_as_it_is() {
    let bytes = drive(MIB, MIB, 65_536);
    let unlocked = open(&MemStore::from_vec(bytes.clone())).expect("opens");
    assert_eq!(unlocked.warnings, [Warning::PartlyEncrypted { encrypted: 65_536, total: 131_072 }]);
    let device = Device::new(Box::new(MemStore::from_vec(bytes.clone())), unlocked.layout, Access::ReadOnly)
        .expect("fits");
    let mut sector = [0; 512];
    device.read_at(&mut sector, 65_536).expect("reads");
    let at = (1 << 20) + 65_536;
    assert_eq!(sector, bytes[at..at + 512]);
}

#[test]
fn a_hidden_volume_that_lies_is_not_protected_but_refused() {
    let outer = image(&honest(), HeaderLocation::Primary, MIB);
    let mut hidden = honest();
    hidden.hidden_bytes = 65_536;
    (hidden.volume_bytes, hidden.encrypted_bytes) = (65_536, 65_536);
    hidden.encrypted_start = MIB - 65_536;
    let mut bytes = outer;
    bytes[65_536..65_536 + HEADER_BYTES].copy_from_slice(&sealed(&hidden));
    let secrets = Secrets { password: SecretBytes::copy_of(PASSWORD), keyfiles: Vec::new(), pim: Some(PIM) };
    let mut request = UnlockRequest::new(&secrets);
    request.hash = Some(HashName::Sha512);
    request.protect_hidden = Some(&secrets);
    // It lies in the backup headers, behind the outer volume's data.
    let error = unlock(&MemStore::from_vec(bytes), &request).err().expect("refused");
    assert!(matches!(error, VolumeError::DamagedHeader { place: HeaderLocation::Hidden, .. }), "{error}");
}
