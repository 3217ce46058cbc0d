//! Of what a volume rests on and what is in it: media, sectors, ciphers, file systems.

use super::super::Failure;
use super::{failed, io, v};
use keyway::lab::bench::BenchError;
use keyway_cipher::{Algorithm, Chain, CipherError};
use keyway_engine::{DeviceError, LayoutError};
use keyway_fs::files::FilesError;
use keyway_fs::resize::ResizeToolError;
use keyway_store::{InUse, Operation, StoreError};
use keyway_sys::Use;

pub(super) fn sectors() -> Vec<Failure> {
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
        DeviceError::Unwritten(8192),
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

/// What a volume that is open read-only says to a file system.
pub(super) fn read_only() -> StoreError {
    let refused = keyway_error::carry(DeviceError::ReadOnly, DeviceError::ReadOnly.errno());
    StoreError::new(Operation::Write, "the volume", 0, 512, refused)
}

pub(super) fn inside() -> Vec<Failure> {
    use FilesError as E;
    use ResizeToolError as R;
    let name = || "letter.txt".into();
    let said = || "a bad block".to_owned();
    let (kind, program) = (keyway_fs::FileSystemKind::Ext, "e2fsck");
    failures![
        E::Store(read_only()),
        E::NoFileSystem,
        E::Unreadable("XFS"),
        E::CanNotWrite("ext4"),
        E::Unclean { checker: "fsck.exfat -y" },
        E::Unclean { checker: E::CHKDSK },
        E::Hibernated,
        E::Unsupported("it is compressed".to_owned()),
        E::Damaged("a folder without an end".to_owned()),
        E::ToCheck {
            error: Box::new(E::Damaged("a folder without an end".to_owned())),
            checker: "e2fsck -f"
        },
        E::ToCheck { error: Box::new(E::Endless("folders")), checker: E::CHKDSK },
        E::NotFound(name()),
        E::NotAFolder(name()),
        E::IsAFolder(name()),
        E::IsALink(name()),
        E::NotAFile(name()),
        E::NotAPath(name()),
        E::BadName(name()),
        E::BadNames { first: vec![v()], count: 2 },
        E::NoRoomForBoth { free: 4096, old: 8192, wanted: 8192 },
        E::NotAPattern(name()),
        E::NoMatch(name()),
        E::PatternForOne("/*.txt".into()),
        E::SameName(name()),
        E::Exists(name()),
        E::InTheWay(v()),
        E::OtherKind(v()),
        E::IsTheVolume(v()),
        E::IsOpen(v()),
        E::NoRoom { free: 512, wanted: 4096 },
        E::LargerThanAll { most: 512, wanted: 4096, grows: true },
        E::LargerThanAll { most: 512, wanted: 4096, grows: false },
        E::LargerThanFatHas { wanted: 5 << 30 },
        E::NoRoomBeforeHidden { free: 512, wanted: 4096 },
        E::NoRoomForFiles { free: 12, wanted: 99 },
        E::NoRoomHere { folder: "/mnt".into(), free: 4096, wanted: 8192 },
        E::NoRoomHereForFiles { folder: "/mnt".into(), free: 12, wanted: 99 },
        E::Full("/letter.txt".into()),
        E::RootFull { free: 12, wanted: 99 },
        E::Stopped { files: 3, missing: v() },
        E::Endless("folders"),
        E::Host { doing: "write", path: v(), source: io(5) },
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
