//! Of attaching a volume and serving it.

use super::super::Failure;
use super::{failed, io, v};
use keyway::session::{Lack, LackReason, Need, OtherUser, Purpose, SessionError, Spared};
use keyway_attach::nvme_tcp::SecretFault;
use keyway_attach::{
    AttachError, DmCryptError, NbdError, NvmeError, Silence, UblkError, Unmappable, User, VhostError,
};
use keyway_engine::DeviceError;
use keyway_error::Advice;
use keyway_fs::FileSystemKind;
use keyway_store::{InUse, Operation};
use keyway_sys::Use;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

pub(super) fn attaching() -> Vec<Failure> {
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
        NbdError::System {
            doing: "listen on",
            at: keyway_attach::Listen::Tcp(([127, 0, 0, 1], 80).into()),
            source: io(13),
        },
        NbdError::System {
            doing: "listen on",
            at: keyway_attach::Listen::Tcp(([192, 0, 2, 1], 10809).into()),
            source: io(99),
        },
    ];
    all.extend(nbd.map(|error| Failure::from(E::Nbd(error))));
    all.extend(failures![
        E::AlreadyOpen { volume: volume().into(), mountpoint: None },
        E::MountedThere { at: "/mnt".into(), other: "/mnt".into() },
        E::MountedThere { at: "/mnt".into(), other: "/mnt/in".into() },
        E::MountedThere { at: "/mnt".into(), other: "/srv".into() },
        E::AlreadyOpen { volume: volume().into(), mountpoint: Some("/mnt".into()) },
        E::Taken { volume: v(), by: InUse::by(&v(), Use::Swap) },
        E::Busy { what: "/mnt".to_owned(), path: Some("/mnt".into()), users: Vec::new() },
        E::Busy { what: "/mnt".to_owned(), path: Some("/mnt".into()), users: vec![user(), user()] },
        E::io("mount FUSE at /mnt", io(13)),
        E::io("make an event", io(24)),
        E::Io { doing: "mount FUSE at /mnt".to_owned(), path: None, source: io(5) },
        E::NoFuse { doing: "mount FUSE at /mnt".to_owned(), source: io(1) },
        E::NoFileSystem { filesystem: "vfat".to_owned(), at: "/mnt".into() },
        E::Mount { found: "an XFS file system".to_owned(), at: "/mnt".into(), source: io(5) },
        E::Unmountable { found: "ext4".to_owned(), at: "/mnt".into(), source: io(5) },
        E::Unmountable { found: "ntfs".to_owned(), at: "/mnt".into(), source: io(22) },
        E::MountUnwritten {
            found: "ext4".to_owned(),
            at: "/mnt".into(),
            why: "No space left on device".to_owned()
        },
        E::EndsTooSoon { found: "ext4".to_owned(), at: "/mnt".into(), claims: 8192, present: 4096 },
        E::MountOption { option: "suid".to_owned(), why: "nosuid and nodev always hold" },
        E::Missing { what: "/dev/fuse".to_owned(), advice: Advice::LoadFuse },
        E::Files(keyway_fs::files::FilesError::NoFileSystem),
        E::NotOpen(volume()),
        E::UnsafeFolder { path: "/run/keyway".into(), own: false, owner: None },
        E::UnsafeFolder { path: "/run/keyway".into(), own: false, owner: Some(123_456) },
        E::UnsafeFolder { path: "/run/keyway".into(), own: true, owner: None },
        E::RelativeFolder("run".into()),
        E::LongFolder { path: "/run/keyway".into(), most: 90 },
        E::Deleted { volume: volume() },
        E::NoAnswer { volume: volume(), reason: "it said nothing".to_owned() },
        E::ClosedBadly { volume: volume(), reason: "a flush failed".to_owned() },
        E::ClosedGuarded { volume: volume(), reason: "a flush failed".to_owned() },
        E::Device(DeviceError::LostWrites),
        E::DmCrypt(DmCryptError::Missing("/dev/mapper/control is not there".to_owned())),
        E::DmCrypt(DmCryptError::Refused { cipher: "aes-xts-plain64".to_owned(), source: io(22) }),
        E::Ublk(UblkError::Missing("/dev/ublk-control is not there".to_owned())),
        E::Ublk(UblkError::NotHandedOver { node: "/dev/ublkb0".to_owned() }),
        E::Ublk(UblkError::Waiting { volume: volume().into(), device: "/dev/ublkb0".to_owned() }),
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

pub(super) fn serving() -> Vec<Failure> {
    let taken = |volume| SessionError::Taken { error: failed(Operation::Open), volume };
    let others = |user, elsewhere: Option<&str>| SessionError::Others {
        path: v(),
        other: OtherUser { user, pid: 77, elsewhere: elsewhere.map(PathBuf::from), lost: false },
    };
    let lacks =
        |purpose, need, reason| Failure::from(SessionError::Lacks { purpose, lack: Lack { need, reason } });
    let mut all = vec![
        lacks(Purpose::Cache, Need::LoopDevice, LackReason::NotRoot),
        lacks(Purpose::Mount, Need::LoopDevice, LackReason::NotRoot),
        lacks(Purpose::File, Need::Fuse, LackReason::NotRoot),
        lacks(Purpose::Mount, Need::LoopDevice, LackReason::NoRights),
        lacks(Purpose::Mount, Need::LoopDevice, LackReason::Device(Path::new("/dev/loop-control"), io(2))),
        lacks(Purpose::File, Need::Fuse, LackReason::NoRights),
        lacks(Purpose::Tool, Need::Fuse, LackReason::NoRights),
        lacks(Purpose::File, Need::Fuse, LackReason::NoFusermount),
        lacks(Purpose::Tool, Need::Fuse, LackReason::NoFusermount),
        lacks(Purpose::Tool, Need::Fuse, LackReason::Kernel("Operation not permitted".to_owned())),
    ];
    all.extend(failures![
        SessionError::DiscardsInHidden,
        taken(Some(v())),
        taken(None),
        SessionError::AtWork { volume: v(), pid: 4711, resizes: true },
        SessionError::OtherPartition { volume: v(), open: 2 },
        others(0, None),
        others(123_456, None),
        others(0, Some("/run/user/7/keyway")),
        SessionError::Others {
            path: v(),
            other: OtherUser { user: 7, pid: 77, elsewhere: None, lost: true }
        },
        SessionError::FolderTaken { folder: "/mnt".into(), volume: v() },
        SessionError::NotAttachable,
        SessionError::OnlyReadUnprotected,
        SessionError::MountNeedsRoot,
        SessionError::NoWriter { filesystem: FileSystemKind::Ntfs, root: false },
        SessionError::NoWriter { filesystem: FileSystemKind::Xfs, root: false },
        SessionError::NoWriter { filesystem: FileSystemKind::Xfs, root: true },
        SessionError::NoFuseToWrite {
            filesystem: FileSystemKind::Ext,
            lack: Lack { need: Need::Fuse, reason: LackReason::NoFusermount },
        },
        SessionError::OnlyRead(FileSystemKind::Ntfs),
        SessionError::HiddenHit,
        SessionError::OverMetadata(Spared { writes: 2, room_bytes: 35_651_584 }),
        SessionError::HostSecret(SecretFault::Form),
        SessionError::HostSecret(SecretFault::Crc),
        SessionError::Process { doing: "start the serving process", source: io(12) },
        SessionError::NoAnswer(Some(ExitStatus::from_raw(9))),
        SessionError::NoRequest(io(5)),
        SessionError::CallerGone(io(32)),
    ]);
    all
}
