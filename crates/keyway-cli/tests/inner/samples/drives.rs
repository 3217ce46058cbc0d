//! Of drives that encrypt by themselves.

use super::super::Failure;
use super::{failed, io, v};
use keyway::drive::{Authority, NoDrive, VirtualDriveError};
use keyway_attach::NvmeError;
use keyway_sed::host::{HostError, Misbehaved, Operation as DriveOperation, Refused, Unfit};
use keyway_sed::password::PasswordError;
use keyway_store::Operation;
use keyway_sys::Use;

pub(super) fn drives() -> Vec<Failure> {
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
    let refused =
        |(operation, authority, status)| HostError::Refused(Refused { operation, authority, status });
    let refusals = [
        (DriveOperation::Authenticate, sid, S::NotAuthorized),
        (DriveOperation::Authenticate, user, S::AuthorityLockedOut),
        (DriveOperation::Authenticate, psid, S::NotAuthorized),
        (DriveOperation::Authenticate, user, S::NotAuthorized),
        (DriveOperation::Activate, admin, S::NotAuthorized),
        (DriveOperation::Get, None, S::NotAuthorized),
        (DriveOperation::Set, user, S::NotAuthorized),
        (DriveOperation::Get, user, S::SpBusy),
        (DriveOperation::SetRange, admin, S::InvalidParameter),
        (DriveOperation::Authenticate, user, S::InvalidParameter),
        (DriveOperation::Authenticate, user, S::Fail),
        (DriveOperation::RevertSp, admin, S::Fail),
        (DriveOperation::Reactivate, admin, S::Fail),
        (DriveOperation::Activate, sid, S::Fail),
        (DriveOperation::Get, user, S::SpFrozen),
        (DriveOperation::Get, user, S::TPerMalfunction),
        (DriveOperation::Get, user, S::ResponseOverflow),
        (DriveOperation::Get, user, S::UniquenessConflict),
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
        HostError::ResetNotAllowed,
        Unfit::PartBlocks.into(),
        Unfit::Unaligned.into(),
        Unfit::NeverLocks.into(),
        Unfit::NoPlace(3).into(),
        Unfit::PastDataStore.into(),
        Unfit::LargerThanShadow.into(),
        Unfit::LargeRequest.into(),
        HostError::Stopped,
    ];
    let factory = refused((DriveOperation::Authenticate, admin, S::NotAuthorized));
    let half_changed = HostError::Transport(T::TimedOut);
    let half = refused((DriveOperation::Set, admin, S::Fail));
    let mut all: Vec<Failure> = refusals.into_iter().map(|r| said(refused(r), false).into()).collect();
    all.extend(others.into_iter().map(|error| Failure::from(said(error, false))));
    all.extend(failures![
        said(factory, true),
        E::HalfSetUp(Box::new(said(half, false))),
        E::HalfChanged(Box::new(said(half_changed, false))),
        E::NoDrive { path: v(), is: NoDrive::PartOf("/dev/sda".into()) },
        E::NoDrive { path: v(), is: NoDrive::Loop },
        E::NoDrive { path: v(), is: NoDrive::Device },
        E::NoDrive { path: v(), is: NoDrive::BitLocker },
        E::NoDrive { path: v(), is: NoDrive::Container(keyway_fs::Container::Luks2) },
        E::NoDrive { path: v(), is: NoDrive::FileSystem("ext4".to_owned()) },
        E::NoDrive { path: v(), is: NoDrive::Empty },
        E::NoDrive { path: v(), is: NoDrive::Bytes },
        E::NoStandard(v()),
        E::OnlyRead(v()),
        E::NotSetUp(v()),
        E::SetUpAlready(v()),
        E::BlockedAlready(v()),
        E::NothingToBlock(v()),
        E::OddState(v()),
        E::InUse { disk: "/dev/sda".into(), user: Use::Swap },
        E::SheetOnDrive("sheet.txt".into()),
        E::GlobalRangeHasNoPlace,
        E::GlobalRangeStays,
        E::NoRange { path: "/dev/sdb".into(), range: 99, ranges: 8 },
        E::NoLength,
        E::NoUser(Authority::Admin(1)),
        E::NotShown { path: "/dev/sdb".into(), who: Authority::User(1) },
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
        E::VirtualSize(1000),
        E::Virtual(VirtualDriveError::Store(failed(Operation::Open))),
        E::Virtual(VirtualDriveError::NotADrive),
        E::Virtual(VirtualDriveError::Version(9)),
        E::Virtual(VirtualDriveError::Damaged),
        E::Virtual(VirtualDriveError::StateTooLarge(1 << 20)),
        E::Virtual(VirtualDriveError::Config("more than 16 ranges")),
        E::Virtual(VirtualDriveError::TooSmall { needed: 4096, present: 512 }),
        E::Virtual(VirtualDriveError::CutOff { needed: 4096, present: 512 }),
        E::Virtual(VirtualDriveError::NoRandom),
        E::Served(NvmeError::Name("x".to_owned())),
        E::Served(NvmeError::System {
            doing: "listen on",
            at: ([127, 0, 0, 1], 4420).into(),
            source: io(98)
        }),
    ]);
    all
}
