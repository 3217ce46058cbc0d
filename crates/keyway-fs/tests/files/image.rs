//! Images of file systems, made and filled by other programs.

use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_fs::files::{Entry, Files, FilesError, Got, Taken};
use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_testkit::{Rng, require_fuse, require_root, require_tool};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The file systems, with the sizes in MiB and the further arguments they are made with.
pub(crate) const ALL: [Kind; 7] = [
    Kind { kind: "vfat", mib: 8, mkfs: "mkfs.fat -F 12 -s 8" },
    Kind { kind: "vfat", mib: 40, mkfs: "mkfs.fat -F 16" },
    Kind { kind: "vfat", mib: 70, mkfs: "mkfs.fat -F 32 -s 1" },
    Kind { kind: "exfat", mib: 32, mkfs: "mkfs.exfat" },
    Kind { kind: "ntfs", mib: 24, mkfs: "mkfs.ntfs -q -F -Q" },
    Kind { kind: "ext4", mib: 24, mkfs: "mkfs.ext4 -q -b 1024 -O ^metadata_csum" },
    Kind { kind: "ext2", mib: 24, mkfs: "mkfs.ext2 -q -b 4096" },
];

/// A kind of file system, and how its image is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) kind: &'static str,
    pub(crate) mib: u64,
    pub(crate) mkfs: &'static str,
}

/// Content that differs everywhere.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    Rng::new(seed).bytes(len)
}

/// What is in a file.
pub(crate) fn content(files: &mut Files, file: &Entry) -> Result<Vec<u8>, FilesError> {
    let mut content = Vec::new();
    files.read(file, |piece| {
        content.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(content)
}

/// Files of all lengths, many in a folder, folders in folders, names of all letters.
pub(crate) fn fill(tree: &Path) {
    let make = |name: &str, len: usize| fs::write(tree.join(name), noise(len, len as u64)).unwrap();
    for (i, len) in [0, 1, 511, 512, 513, 4096, 70_000, 3 << 20].into_iter().enumerate() {
        make(&format!("file {i}.bin"), len);
    }
    fs::create_dir_all(tree.join("one/two/three/Größe und 漢字")).unwrap();
    make("one/two/three/Größe und 漢字/a rather long name that needs several entries of a folder.text", 99);
    fs::create_dir(tree.join("many")).unwrap();
    for i in 0..150 {
        make(&format!("many/number {i:03}"), i);
    }
    fs::create_dir(tree.join("empty")).unwrap();
    make("AAAAAAA", 5);
}

/// Every file's content and every folder, by its path.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    fn walk(root: &Path, at: &Path, all: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            // ext makes this one for fsck.
            if name == Path::new("lost+found") {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, all);
                all.insert(name, None);
            } else {
                all.insert(name, Some(fs::read(&path).unwrap()));
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(root, root, &mut all);
    all
}

/// Where nobody has said that names are in UTF-8, mtools take their bytes for letters.
pub(crate) const UTF_8: &str = "C.UTF-8";

fn run(program: &str, arguments: &[&OsStr]) {
    let path = require_tool(program).expect("was asked for before");
    let done = Command::new(path).args(arguments).env("LC_ALL", UTF_8).output().unwrap();
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Makes an image, and lets the file system's own tools fill it; `None` after a visible skip.
pub(crate) fn image(kind: Kind, folder: &Path, from: &Path) -> Option<PathBuf> {
    let mut words = kind.mkfs.split_whitespace().map(OsStr::new);
    let mkfs = words.next()?.to_str()?;
    require_tool(mkfs)?;
    let path = folder.join("image");
    fs::File::create(&path).unwrap().set_len(kind.mib << 20).unwrap();
    let mut arguments: Vec<&OsStr> = words.collect();
    if kind.kind.starts_with("ext") {
        arguments.extend([OsStr::new("-d"), from.as_os_str()]);
    }
    arguments.push(path.as_os_str());
    run(mkfs, &arguments);
    match kind.kind {
        "vfat" => {
            require_tool("mcopy")?;
            let all: Vec<_> = fs::read_dir(from).unwrap().map(|e| e.unwrap().path()).collect();
            let mut words = vec![OsStr::new("-sm"), OsStr::new("-i"), path.as_os_str()];
            words.extend(all.iter().map(|path| path.as_os_str()));
            words.push(OsStr::new("::"));
            run("mcopy", &words);
        }
        "ntfs" => through_fuse("ntfs-3g", &path, folder, from)?,
        "exfat" => through_fuse("mount.exfat-fuse", &path, folder, from)?,
        _ => {}
    }
    Some(path)
}

/// Mounts the image with a FUSE program and copies everything into it.
fn through_fuse(program: &str, image: &Path, folder: &Path, from: &Path) -> Option<()> {
    on_fuse(program, image, folder, |mounted| {
        let mut cp = Command::new("cp");
        let copied = cp.args(["-r", "--preserve=timestamps"]).arg(from.join(".")).arg(mounted).status();
        assert!(copied.unwrap().success());
    })
}

/// What a FUSE program finds in the image.
pub(crate) fn tree_by_fuse(
    program: &str,
    image: &Path,
    folder: &Path,
) -> Option<BTreeMap<PathBuf, Option<Vec<u8>>>> {
    on_fuse(program, image, folder, tree)
}

fn on_fuse<T>(program: &str, image: &Path, folder: &Path, work: impl FnOnce(&Path) -> T) -> Option<T> {
    require_tool(program)?;
    if !require_fuse() || !require_root() {
        return None;
    }
    let mounted = folder.join("mounted");
    fs::create_dir_all(&mounted).unwrap();
    // exfat-fuse takes block devices alone.
    let device = (program == "mount.exfat-fuse").then(|| {
        let device = Command::new("losetup").args(["--find", "--show"]).arg(image).output().unwrap();
        PathBuf::from(String::from_utf8_lossy(&device.stdout).trim())
    });
    run(program, &[device.as_deref().unwrap_or(image).as_os_str(), mounted.as_os_str()]);
    let done = work(&mounted);
    let left = Command::new("umount").arg(&mounted).status();
    assert!(left.unwrap().success());
    // The program puts its last bytes down after the mount point is free, and then ends.
    let name = image.as_os_str().as_encoded_bytes();
    let name = device.as_deref().map_or(name, |device| device.as_os_str().as_encoded_bytes()).to_vec();
    let runs = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|process| fs::read(process.path().join("cmdline")).ok())
            .any(|line| line.split(|byte| *byte == 0).any(|word| word == name))
    };
    while runs() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    if let Some(device) = device {
        assert!(Command::new("losetup").arg("-d").arg(device).status().unwrap().success());
    }
    Some(done)
}

/// The image's sectors as they are.
pub(crate) fn device(image: &Path, access: Access) -> Arc<Device> {
    let mode = if access == Access::ReadOnly { OpenMode::ReadOnly } else { OpenMode::ReadWrite };
    let store = FileStore::open(image, mode, Caching::Buffered).unwrap();
    let segment = Segment { start: 0, len: store.size(), mapping: Mapping::Plain { store_offset: 0 } };
    let layout = Layout::new(512, vec![segment]).unwrap();
    Arc::new(Device::new(Box::new(store), layout, access).unwrap())
}

/// The files in an image.
pub(crate) fn files(image: &Path, kind: &'static str) -> Files {
    Files::open(device(image, Access::ReadOnly), Some(kind)).unwrap()
}

/// Copies everything out, and says what was told.
pub(crate) fn get_all(files: &mut Files, to: &Path) -> (Got, bool, Vec<String>) {
    let mut told = Vec::new();
    let root = files.root();
    let (got, all) = files
        .get(&root, to, OsStr::new("out"), &mut |taken| match taken {
            Taken::Made(_) => {}
            Taken::LeftOut(path, why) => told.push(format!("{}: {why}", path.display())),
            Taken::Failed(path, e) => told.push(format!("{}: {e}", path.display())),
        })
        .unwrap();
    (got, all, told)
}
