//! What lies under a file or block device, and which loop devices show the same bytes.
//!
//! From sysfs (`Documentation/ABI/stable/sysfs-block` in the kernel): a partition lies in its disk's folder, a loop
//! device names its file, what is made of other devices names them under `slaves`.

use crate::disks::names;
use crate::loopdev::loop_status;
use rustix::fs::{FileType, major, minor};
use std::ffi::OsString;
use std::fs::{File, Metadata, canonicalize, read, read_to_string};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Devices that stand on one another, at most: a stack that is deeper is not followed.
const DEPTH: u8 = 16;

/// The unit of sysfs's `start` and `size`, in bytes, whatever the drive's sectors are.
const UNIT: u64 = 512;

/// How the name of a mapping that Keyway itself made begins: what lies under it is another's ciphertext.
const OURS: &str = "KEYWAY-";

/// A file or a block device, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A block device by its number.
    Device(u64),
    /// A file by its file system's number and its own.
    File {
        /// The file system's.
        device: u64,
        /// Its own.
        inode: u64,
    },
}

impl Node {
    /// What the metadata is of.
    pub fn of(meta: &Metadata) -> Self {
        match FileType::from_raw_mode(meta.mode()) {
            FileType::BlockDevice => Self::Device(meta.rdev()),
            _ => Self::File { device: meta.dev(), inode: meta.ino() },
        }
    }
}

/// How one comes from the layer above to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerRelation {
    /// It is where one began.
    First,
    /// From a partition to its disk.
    Disk,
    /// From a loop device to what it shows.
    Loop,
    /// From a device that is made of others, which it has claimed.
    Part,
}

/// A file or device that holds the bytes of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// What it is.
    pub node: Node,
    /// Where it was last seen; another file may be there now.
    pub path: PathBuf,
    /// Which of its bytes they are; all of them where nobody can tell.
    pub bytes: Range<u64>,
    /// Whether those are all that it has.
    pub whole: bool,
    /// How it was found.
    pub reached: LayerRelation,
}

/// The file or device at `path`, and what holds the same bytes below it, in this order. It ends where they are
/// other bytes: below a mapping that decrypts, when Keyway made it.
///
/// # Errors
/// Nothing is there, or it can't be looked at.
pub fn layers(path: &Path) -> io::Result<Vec<Layer>> {
    let meta = path.metadata()?;
    let first = Layer {
        node: Node::of(&meta),
        path: path.to_owned(),
        bytes: 0..u64::MAX,
        whole: true,
        reached: LayerRelation::First,
    };
    let mut found = Vec::new();
    follow(first, DEPTH, &mut found);
    Ok(found)
}

fn follow(layer: Layer, depth: u8, found: &mut Vec<Layer>) {
    let below = match layer.node {
        _ if depth == 0 || found.contains(&layer) => Vec::new(),
        Node::File { .. } => Vec::new(),
        Node::Device(number) => below(number, &layer),
    };
    found.push(layer);
    for layer in below {
        follow(layer, depth - 1, found);
    }
}

/// What is directly below a device.
fn below(number: u64, from: &Layer) -> Vec<Layer> {
    let Ok(folder) = canonicalize(of_number(number)) else { return Vec::new() };
    let units = |name: &str| read_number(&folder.join(name)).unwrap_or_default().saturating_mul(UNIT);
    let size = units("size");
    if folder.join("partition").exists() {
        let Some(parent) = folder.parent() else { return Vec::new() };
        let disk =
            device(parent, |whole| inside(&from.bytes, units("start"), size, whole), LayerRelation::Disk);
        return disk.into_iter().collect();
    }
    if let Some((node, path)) = shown_by(&folder, &from.path) {
        let offset = read_number(&folder.join("loop/offset")).unwrap_or_default();
        let bytes = inside(&from.bytes, offset, size, u64::MAX);
        let held = match node {
            Node::Device(number) => size_of(&of_number(number)),
            Node::File { .. } => path.metadata().map_or(0, |meta| meta.len()),
        };
        let whole = bytes.start == 0 && bytes.end >= held;
        return vec![Layer { node, path, bytes, whole, reached: LayerRelation::Loop }];
    }
    if read_to_string(folder.join("dm/uuid")).is_ok_and(|uuid| uuid.starts_with(OURS)) {
        return Vec::new();
    }
    let parts = names(&folder.join("slaves")).into_iter();
    // Which of a part's bytes are whose only the kernel knows, and sees to.
    parts
        .filter_map(|name| device(&folder.join("slaves").join(name), |_| 0..u64::MAX, LayerRelation::Part))
        .collect()
}

/// The device whose folder in sysfs that is; `bytes` are told its size.
fn device(folder: &Path, bytes: impl Fn(u64) -> Range<u64>, reached: LayerRelation) -> Option<Layer> {
    let folder = canonicalize(folder).ok()?;
    let (major, minor) = read_to_string(folder.join("dev"))
        .ok()?
        .trim()
        .split_once(':')
        .and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)))?;
    let uevent = read_to_string(folder.join("uevent")).ok()?;
    let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
    let size = size_of(&folder);
    let bytes = bytes(size);
    let whole = bytes.start == 0 && bytes.end >= size;
    let node = Node::Device(rustix::fs::makedev(major, minor));
    Some(Layer { node, path: Path::new("/dev").join(name), bytes, whole, reached })
}

/// The bytes `of` something that begins at `start` of another, and ends `size` further on or at the `end` of that.
fn inside(of: &Range<u64>, start: u64, size: u64, end: u64) -> Range<u64> {
    let from = start.saturating_add(of.start);
    let to = start.saturating_add(of.end.min(size)).min(end);
    from..to.max(from)
}

/// What a loop device shows. The kernel knows for certain; to whoever may not ask it, sysfs tells a path.
fn shown_by(folder: &Path, device: &Path) -> Option<(Node, PathBuf)> {
    let mut text = read(folder.join("loop/backing_file")).ok()?;
    text.pop_if(|last| *last == b'\n');
    let path = PathBuf::from(OsString::from_vec(text));
    let asked = File::open(device).and_then(|open| loop_status(&open));
    let node = match asked {
        Ok(Some(status)) if status.shown_device != 0 => Node::Device(status.shown_device),
        Ok(Some(status)) => Node::File { device: status.device, inode: status.inode },
        Ok(None) => return None,
        Err(_) => Node::of(&path.metadata().ok()?),
    };
    Some((node, path))
}

/// The loop devices that show any of the bytes of those layers, and are none of them.
pub fn views(layers: &[Layer]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let shares = |other: &Layer| {
        let same = |layer: &Layer| {
            let (a, b) = (&layer.bytes, &other.bytes);
            layer.node == other.node && a.start < b.end && b.start < a.end
        };
        layers.iter().any(same)
    };
    let mut devices = names(Path::new("/sys/block"));
    devices.sort_unstable();
    for name in devices {
        let folder = Path::new("/sys/block").join(&name);
        if !folder.join("loop/backing_file").exists() {
            continue;
        }
        let Some(first) = device(&folder, |_| 0..u64::MAX, LayerRelation::First) else { continue };
        if layers.iter().any(|layer| layer.node == first.node) {
            continue;
        }
        let (path, mut stack) = (first.path.clone(), Vec::new());
        follow(first, DEPTH, &mut stack);
        if stack.iter().skip(1).any(shares) {
            found.push(path);
        }
    }
    found
}

/// The devices of a disk's partitions; none of anything else.
pub fn partitions(path: &Path) -> Vec<PathBuf> {
    let Ok(Node::Device(number)) = path.metadata().map(|meta| Node::of(&meta)) else { return Vec::new() };
    let folder = of_number(number);
    let inside = names(&folder).into_iter().map(|name| folder.join(name));
    let partitions = inside.filter(|folder| folder.join("partition").exists());
    partitions
        .filter_map(|folder| Some(device(&folder, |_| 0..u64::MAX, LayerRelation::First)?.path))
        .collect()
}

fn of_number(number: u64) -> PathBuf {
    format!("/sys/dev/block/{}:{}", major(number), minor(number)).into()
}

fn size_of(folder: &Path) -> u64 {
    read_number(&folder.join("size")).unwrap_or_default().saturating_mul(UNIT)
}

fn read_number(path: &Path) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_move_and_stay_within() {
        assert_eq!(inside(&(0..u64::MAX), 100, 50, u64::MAX), 100..150);
        assert_eq!(inside(&(10..20), 100, 50, u64::MAX), 110..120);
        assert_eq!(inside(&(10..90), 100, 50, 130), 110..130);
        assert_eq!(inside(&(0..u64::MAX), u64::MAX, 50, u64::MAX), u64::MAX..u64::MAX);
    }

    #[test]
    fn a_file_is_its_own_and_only_layer() {
        let path = std::env::current_exe().expect("it runs");
        let found = layers(&path).expect("readable");
        assert_eq!((found.len(), &found[0].path), (1, &path));
        assert_eq!(views(&found), [] as [PathBuf; 0]);
        assert_eq!(partitions(&path), [] as [PathBuf; 0]);
        assert!(layers(Path::new("/nothing/here")).is_err());
    }
}
