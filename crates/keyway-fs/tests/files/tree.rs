//! The same by numbers and in any order, as the kernel asks: every file as it went in, any part of it; damage ends, and
//! no tree goes round in circles.

use crate::image::{ALL, Kind, device, fill, image, noise, tree};
use keyway_engine::Access;
use keyway_fs::files::{EntryKind, FilesError};
use keyway_fs::tree::Tree;
use keyway_testkit::{Rng, require_tool};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Besides those of the other tests: entries that reach over clusters, and what ext4 is like today.
const MORE: [Kind; 3] = [
    Kind { kind: "exfat", mib: 32, mkfs: "mkfs.exfat -c 512" },
    Kind { kind: "ext4", mib: 32, mkfs: "mkfs.ext4 -q" },
    Kind { kind: "ext3", mib: 24, mkfs: "mkfs.ext3 -q -b 1024 -I 128" },
];

fn opened(image: &Path, kind: &'static str) -> Result<Tree, FilesError> {
    Tree::open(device(image, Access::ReadOnly), Some(kind))
}

/// All of a file, in pieces of odd lengths.
fn all_of(tree: &Tree, number: u64, size: u64) -> Result<Vec<u8>, FilesError> {
    let mut content = Vec::new();
    while (content.len() as u64) < size {
        let mut piece = vec![7; 65_521];
        let n = tree.read(number, &mut piece, content.len() as u64)?;
        assert!(n > 0, "it ends too early");
        content.extend_from_slice(&piece[..n]);
    }
    Ok(content)
}

/// Every file and folder, and what could not be read. A few entries are asked for at a time.
fn walk(tree: &Tree, most: usize) -> (BTreeMap<PathBuf, Option<Vec<u8>>>, Vec<FilesError>) {
    let (mut all, mut failed) = (BTreeMap::new(), Vec::new());
    let mut left = vec![(PathBuf::new(), tree.root())];
    while let Some((path, folder)) = left.pop() {
        let mut at = 0;
        loop {
            let mut some = Vec::new();
            let listed = tree.list(folder, at, |entry| {
                some.push(entry);
                some.len() < 7
            });
            let ended = some.len() < 7;
            failed.extend(listed.err());
            for entry in some {
                at = entry.next;
                let name = String::from_utf8(entry.name).unwrap();
                let path = path.join(&name);
                if name == "lost+found" {
                    continue;
                }
                let node = match entry.node {
                    Ok(node) => node,
                    Err(e) => {
                        failed.push(e);
                        continue;
                    }
                };
                assert_eq!(node.number, entry.number);
                let content = match node.kind {
                    EntryKind::Folder => {
                        left.push((path.clone(), node.number));
                        None
                    }
                    // Damage may have made it large.
                    EntryKind::File if node.size < 8 << 20 => match all_of(tree, node.number, node.size) {
                        Ok(content) => Some(content),
                        Err(e) => {
                            failed.push(e);
                            continue;
                        }
                    },
                    _ => continue,
                };
                all.insert(path, content);
            }
            if ended || all.len() > most {
                break;
            }
        }
    }
    (all, failed)
}

#[test]
fn every_file_is_there_as_it_went_in() {
    for kind in ALL.into_iter().chain(MORE) {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let files = opened(&image, kind.kind).unwrap();
        let (found, failed) = walk(&files, usize::MAX);
        assert!(failed.is_empty(), "{kind:?}: {failed:?}");
        let expected = tree(from.path());
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{kind:?}");
        for (path, content) in &expected {
            assert!(found.get(path) == Some(content), "{kind:?}: {} differs", path.display());
        }
        let many = files.find(files.root(), b"many").unwrap();
        let seven = files.find(many.number, b"number 007").unwrap();
        let original = fs::metadata(from.path().join("many/number 007")).unwrap();
        assert_eq!((seven.size, seven.kind), (7, EntryKind::File));
        // mtools keep local time, which is UTC where tests run, in steps of two seconds.
        assert!(seven.modified.unwrap().abs_diff(original.mtime()) <= 2, "{kind:?}");
        assert!(matches!(files.find(many.number, b"number 7"), Err(FilesError::NotFound(_))));
        assert!(matches!(files.find(seven.number, b"x"), Err(FilesError::NotAFolder(_))));
        let other_case = files.find(files.root(), b"MANY");
        assert_eq!(other_case.is_ok(), !kind.kind.starts_with("ext"), "{kind:?}");
        // Any part of it, also when many files were read in between.
        let (large, content) = (files.find(files.root(), b"FILE 7.bin"), noise(3 << 20, 3 << 20));
        let large = large.or_else(|_| files.find(files.root(), b"file 7.bin")).unwrap();
        let mut random = Rng::new(5);
        for _ in 0..200 {
            let at = u32::from_le_bytes(random.bytes(4).try_into().unwrap()) as usize % content.len();
            let mut piece = vec![7; 1 + at % 9000];
            let n = files.read(large.number, &mut piece, at as u64).unwrap();
            assert_eq!(n, piece.len().min(content.len() - at));
            assert!(piece[..n] == content[at..at + n], "{kind:?}: at {at}");
        }
        assert_eq!(files.read(large.number, &mut [0; 9], u64::MAX).unwrap(), 0);
        assert!(matches!(files.read(many.number, &mut [0; 9], 0), Err(FilesError::IsAFolder(_))));
    }
}

#[test]
fn links_holes_and_modes_are_told_as_they_are() {
    for kind in ALL.into_iter().chain(MORE).filter(|kind| kind.kind.starts_with("ext")) {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let long = format!("/{}", "a long way/".repeat(30));
        symlink("one", from.path().join("short")).unwrap();
        symlink(&long, from.path().join("long")).unwrap();
        let holes = fs::File::create(from.path().join("holes")).unwrap();
        holes.set_len(5 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&holes, b"in the middle", 2 << 20).unwrap();
        let script = from.path().join("script");
        fs::write(&script, "#!").unwrap();
        fs::hard_link(&script, from.path().join("again")).unwrap();
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o6750)).unwrap();
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let files = opened(&image, kind.kind).unwrap();
        let find = |name: &str| files.find(files.root(), name.as_bytes()).unwrap();
        assert_eq!(files.target(find("short").number).unwrap(), b"one");
        assert_eq!(files.target(find("long").number).unwrap(), long.as_bytes());
        let holes = find("holes");
        let content = all_of(&files, holes.number, holes.size).unwrap();
        assert!(content == fs::read(from.path().join("holes")).unwrap(), "{kind:?}");
        let (script, again) = (find("script"), find("again"));
        assert_eq!((script.mode, script.links), (0o100_750, 2), "nobody becomes somebody else by it");
        assert_eq!(script.number, again.number);
    }
}

/// Noise in the first megabytes, where the file systems keep what leads to everything else.
#[test]
fn damage_is_told_and_ends() {
    let rounds = if std::env::var_os("KEYWAY_SLOW").is_some() { 400 } else { 6 };
    for kind in [ALL[0], ALL[1], MORE[0], ALL[4], MORE[1], ALL[6]] {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let good = fs::read(&image).unwrap();
        let used = |sector: &(usize, &[u8])| sector.1.iter().any(|byte| *byte != 0);
        let used: Vec<_> =
            good.chunks(512).enumerate().filter(used).map(|(i, _)| i * 512).take(4000).collect();
        let mut random = Rng::new(99);
        let mut number =
            |below: usize| u32::from_le_bytes(random.bytes(4).try_into().unwrap()) as usize % below;
        for round in 0..rounds {
            let mut bytes = good.clone();
            for _ in 0..1 + round % 8 {
                let at = used[number(used.len())] + number(512);
                bytes[at] = number(256) as u8;
            }
            fs::write(&image, &bytes).unwrap();
            let began = Instant::now();
            if let Ok(files) = opened(&image, kind.kind) {
                let (found, _) = walk(&files, 10_000);
                assert!(found.len() <= 10_000, "{kind:?} round {round}: more than there ever were");
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{kind:?} round {round}");
        }
    }
}

/// A folder of FAT whose clusters are its own parent's: it would hold itself, without end.
#[test]
fn a_folder_that_holds_itself_is_told_once() {
    let kind = ALL[1];
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir_all(from.path().join("OUTER/INNER")).unwrap();
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    let entry = |name: &[u8; 11]| bytes.windows(11).position(|window| window == name).expect("it is there");
    let (outer, inner) = (entry(b"OUTER      "), entry(b"INNER      "));
    bytes.copy_within(outer + 26..outer + 28, inner + 26);
    fs::write(&image, &bytes).unwrap();
    let (found, failed) = walk(&opened(&image, "vfat").unwrap(), 1000);
    assert_eq!(found.into_keys().collect::<Vec<_>>(), [PathBuf::from("OUTER")]);
    assert!(
        matches!(failed.as_slice(), [FilesError::Damaged(why)] if why.contains("two places")),
        "{failed:?}"
    );
}

/// Two names for one folder of ext: `debugfs` makes them.
#[test]
fn a_folder_with_two_parents_is_told_once() {
    let Some(debugfs) = require_tool("debugfs") else { return };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir_all(from.path().join("a/b/c")).unwrap();
    let Some(image) = image(MORE[1], folder.path(), from.path()) else { return };
    let made = Command::new(debugfs).args(["-w", "-R", "ln a a/b/c/again"]).arg(&image).status().unwrap();
    assert!(made.success());
    let (found, failed) = walk(&opened(&image, "ext4").unwrap(), 1000);
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["a", "a/b", "a/b/c"].map(PathBuf::from));
    assert_eq!(failed.len(), 1, "{failed:?}");
}

/// A tree of extents each of whose nodes leads to the next one from all its places: to follow it takes as good as for ever.
#[test]
fn a_tree_of_extents_that_never_ends_is_given_up() {
    const BLOCK: usize = 4096;
    let kind = Kind { kind: "ext4", mib: 32, mkfs: "mkfs.ext4 -q -b 4096" };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let content = noise(6 * BLOCK, 5);
    fs::write(from.path().join("file"), &content).unwrap();
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    let found = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|window| window == what);
    let data = found(&bytes, &content[..512]).expect("the file's first block");
    let first = (data / BLOCK) as u32;
    // A header (its magic, how many of at most how many, the depth), and entries of twelve bytes.
    let header =
        |count: u16, most: u16, depth: u16| [0xf30a, count, most, depth, 0, 0].map(u16::to_le_bytes).concat();
    let to = |block: u32| [&[0; 4][..], &block.to_le_bytes(), &[0; 4]].concat();
    let own = [header(1, 4, 0), vec![0, 0, 0, 0, 6, 0, 0, 0], first.to_le_bytes().to_vec()].concat();
    let inode = found(&bytes, &own).expect("its inode");
    let root = [header(4, 4, 4), to(first).repeat(4)].concat();
    bytes[inode..inode + root.len()].copy_from_slice(&root);
    for level in 0..4u16 {
        let next = first + u32::from(level) + 1;
        let node = match 3 - level {
            0 => header(0, 340, 0),
            depth => [header(340, 340, depth), to(next).repeat(340)].concat(),
        };
        let at = data + usize::from(level) * BLOCK;
        bytes[at..at + node.len()].copy_from_slice(&node);
    }
    fs::write(&image, &bytes).unwrap();
    let tree = opened(&image, "ext4").unwrap();
    let file = tree.find(tree.root(), b"file").expect("it has a name");
    let read = tree.read(file.number, &mut [0; 10], 0);
    assert!(matches!(&read, Err(FilesError::Unsupported(why)) if why.contains("pieces")), "{read:?}");
}

#[test]
fn no_name_leads_elsewhere() {
    for kind in [ALL[1], ALL[3], ALL[4], ALL[5]] {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(from.path().join("AAAAAAA"), b"hello").unwrap();
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        assert!(crate::hostile::rename(&image, b"../../x") > 0, "{kind:?}");
        let (found, failed) = walk(&opened(&image, kind.kind).unwrap(), 10);
        let names: Vec<_> = found.into_keys().collect();
        // exFAT's and FAT's check sums of an entry's names do not fit any more: it is told by its other name, or not.
        let told = [PathBuf::from("..%2F..%2Fx"), PathBuf::from("AAAAAAA")];
        assert!(names.iter().all(|name| told.contains(name)), "{kind:?} {names:?}");
        assert!(
            !names.is_empty() || !failed.is_empty() || kind.kind == "exfat",
            "{kind:?}: left out without a word"
        );
    }
}
