//! What is put into exFAT satisfies fsck.exfat, exfat-fuse reads it back, and no power cut costs what was there.

use crate::image::{ALL, content, device, files, fill, image, noise, tree, tree_by_fuse};
use keyway_engine::Access;
use keyway_fs::files::{Files, FilesError, NewEntry, parse};
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use keyway_testkit::{Rng, require_tool};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn path(text: &str) -> Vec<OsString> {
    parse(OsStr::new(text)).unwrap()
}

fn put(image: &Path, to: &str, content: &[u8], replace: bool) -> Result<(), FilesError> {
    let mut files = Files::open(device(image, Access::ReadWrite), Some("exfat")).unwrap();
    files.put(&path(to), content, content.len() as u64, Some(1_709_210_096), replace)
}

fn fsck(image: &Path) {
    let Some(fsck) = require_tool("fsck.exfat") else { return };
    let done = Command::new(fsck).arg("-n").arg(image).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(done.status.success() && said.contains("clean"), "{said}");
}

/// An empty one.
fn empty(folder: &Path, mib: u64, words: &str) -> Option<std::path::PathBuf> {
    let mkfs = require_tool("mkfs.exfat")?;
    let path = folder.join("image");
    fs::File::create(&path).unwrap().set_len(mib << 20).unwrap();
    let done = Command::new(mkfs).args(words.split_whitespace()).arg(&path).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(path)
}

/// Everything that is in it, as our reader finds it.
fn contents(files: &mut Files) -> Result<BTreeMap<String, Option<Vec<u8>>>, FilesError> {
    let (mut all, mut ahead) = (BTreeMap::new(), vec![(String::new(), files.root())]);
    while let Some((at, folder)) = ahead.pop() {
        let found = files.entries(&folder)?;
        if let Some(problem) = found.problems.into_iter().next() {
            return Err(problem.error);
        }
        for entry in found.entries {
            let place = format!("{at}/{}", entry.name.display());
            if entry.kind.word() == "folder" {
                all.insert(place.clone(), None);
                ahead.push((place, entry));
            } else {
                let content = content(files, &entry)?;
                assert_eq!(content.len() as u64, entry.size);
                all.insert(place, Some(content));
            }
        }
    }
    Ok(all)
}

#[test]
fn files_are_put_where_others_find_them() {
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(from.path());
    let Some(image) = image(ALL[3], folder.path(), from.path()) else { return };
    let mut all = tree(from.path());
    let long = "/one/two/A name with more letters than fifteen, Ärger.text";
    for (to, len) in [("/new.bin", 1_000_000), (long, 4096), ("/zero", 0), ("/many/𝄞.txt", 70_000)] {
        let content = noise(len, 7);
        put(&image, to, &content, false).unwrap();
        fsck(&image);
        let again = put(&image, &to.to_uppercase(), b"x", false);
        assert!(matches!(again, Err(FilesError::Exists(_))), "{again:?}");
        all.insert(to.trim_start_matches('/').into(), Some(content));
    }
    put(&image, "/NEW.bin", b"something shorter", true).unwrap();
    all.remove(Path::new("new.bin"));
    all.insert("NEW.bin".into(), Some(b"something shorter".to_vec()));
    // One that another program has made.
    put(&image, "/many/number 149", &noise(300_000, 3), true).unwrap();
    all.insert("many/number 149".into(), Some(noise(300_000, 3)));
    fsck(&image);
    let found = files(&image, "exfat").find(&path("/NEW.BIN")).unwrap();
    assert_eq!(found.modified, Some(1_709_210_096));
    let Some(there) = tree_by_fuse("mount.exfat-fuse", &image, folder.path()) else { return };
    assert!(there == all, "{:?}", there.keys().collect::<Vec<_>>());
}

/// Folders that grow over what lies behind them, in clusters of a sector: what is in one piece becomes a chain, sets of
/// entries lie over the ends of sectors and clusters, files lie in many pieces.
#[test]
fn folders_grow_and_what_is_in_pieces_is_whole() {
    for (mib, words) in [(8, "-c 512"), (16, "-c 4K"), (64, "-c 64K"), (64, "")] {
        let folder = tempfile::tempdir().unwrap();
        let Some(image) = empty(folder.path(), mib, words) else { return };
        let mut all = BTreeMap::new();
        let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
        let mut random = Rng::new(mib);
        let mut number = |below: usize| usize::from(random.bytes(1)[0]) * below / 256;
        for (i, name) in ["/a", "/b", "/a/deep", "/a/deep/deeper", "/b/one"].into_iter().enumerate() {
            files.put_folder(&path(name)).unwrap();
            all.insert(name.to_owned(), None);
            if i % 2 == 1 {
                files.flush().unwrap();
                fsck(&image);
            }
        }
        for i in 0..400 {
            let folder = ["", "/a", "/b", "/a/deep", "/a/deep/deeper", "/b/one"][number(6)];
            let name = format!("{folder}/{}{i:03}", "a name ".repeat(number(9)));
            let content = noise([0, 1, 600, 3000, 9000][number(5)], i);
            files.put_checked(&path(&name), &content[..], content.len() as u64, None).unwrap();
            all.insert(name, Some(content));
            // Replaced, so that there are gaps.
            if i % 5 == 4 {
                let name = all.keys().nth(number(all.len())).cloned().unwrap();
                if all[&name].is_some() {
                    let content = noise([10, 2000, 30_000][number(3)], i + 1000);
                    files.put_checked(&path(&name), &content[..], content.len() as u64, None).unwrap();
                    all.insert(name, Some(content));
                }
            }
            if i % 50 == 49 {
                // What waits is seen before it is written.
                assert!(contents(&mut files).unwrap() == all, "{words} {i}");
                files.flush().unwrap();
                assert!(contents(&mut files).unwrap() == all, "{words} {i}");
                fsck(&image);
            }
            if i % 100 == 99 {
                drop(files);
                files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
                assert!(contents(&mut files).unwrap() == all, "{words} {i}");
            }
        }
        // Until nothing has room any more, and the last cluster is used.
        let mut full = 0;
        for i in 0.. {
            let content = noise(if full == 0 { 200_000 } else { 500 }, i);
            let name = format!("/b/full {i}");
            let new = path(&name);
            let entry = NewEntry { path: &new, len: Some(content.len() as u64) };
            let fits = files.check_new(&[entry], false);
            match files.put_checked(&new, &content[..], content.len() as u64, None) {
                Ok(()) => all.insert(name, Some(content)),
                Err(FilesError::NoRoom { .. }) if full == 0 => {
                    full = 1;
                    assert!(fits.is_err());
                    continue;
                }
                Err(FilesError::NoRoom { .. }) => break,
                Err(e) => panic!("{e}"),
            };
        }
        files.flush().unwrap();
        drop(files);
        fsck(&image);
        let mut files = crate::image::files(&image, "exfat");
        assert!(contents(&mut files).unwrap() == all, "{words}");
        let bytes = fs::read(&image).unwrap();
        assert!(bytes[106] == 0 && matches!(bytes[112], 99 | 100), "{words}: {} of 100", bytes[112]);
    }
}

/// Old files, then a batch of everything: new folders, a folder that becomes a chain, a file that is replaced. The power
/// fails before each write, and of what was not flushed any sectors are kept.
#[test]
fn no_power_cut_costs_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let Some(image) = empty(folder.path(), 4, "-c 512") else { return };
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
    for name in ["/old", "/old/inner"] {
        files.put_folder(&path(name)).unwrap();
    }
    for i in 0..40 {
        let place = ["", "/old", "/old/inner"][i % 3];
        files.put_checked(&path(&format!("{place}/file {i}")), &noise(700, 1)[..], 700, None).unwrap();
    }
    files.flush().unwrap();
    let before = contents(&mut files).unwrap();
    drop(files);
    fsck(&image);
    let medium = fs::read(&image).unwrap();
    let batch = |files: &mut Files| {
        files.put_folder(&path("/new"))?;
        files.put_checked(&path("/new/a"), &noise(3000, 2)[..], 3000, None)?;
        files.put_checked(&path("/old/inner/file 2"), &noise(900, 3)[..], 900, None)?;
        for i in 0..30 {
            let place = ["", "/old", "/old/inner", "/new"][i % 4];
            files.put_checked(&path(&format!("{place}/another {i}")), &noise(100, 4)[..], 100, None)?;
        }
        files.flush()
    };
    let run = |plan: FaultPlan| {
        let store = Arc::new(FaultStore::new(MemStore::from_vec(medium.clone()), plan));
        let shared: Arc<dyn Store> = Arc::clone(&store) as _;
        let done = Files::open(shared, Some("exfat")).and_then(|mut files| batch(&mut files));
        let store = Arc::into_inner(store).expect("nobody else holds it");
        (done, store.steps(), store.into_medium().unwrap())
    };
    let (done, steps, whole) = run(FaultPlan::default());
    done.unwrap();
    fs::write(&image, whole.snapshot()).unwrap();
    fsck(&image);
    let after = contents(&mut Files::open(Arc::new(whole), Some("exfat")).unwrap()).unwrap();
    assert!(steps > 40 && after.len() == before.len() + 32, "{steps}");
    for step in 0..steps {
        for survivors in [None, Some(1), Some(2), Some(3)] {
            let plan = FaultPlan { power_cut_before: Some(step), survivors, ..FaultPlan::default() };
            let (done, _, medium) = run(plan);
            assert!(done.is_err(), "{step}");
            let mut files = Files::open(Arc::new(medium), Some("exfat")).unwrap();
            for (name, old) in &before {
                let found =
                    files.find(&path(name)).unwrap_or_else(|e| panic!("{step} {survivors:?} {name}: {e}"));
                let Some(old) = old else { continue };
                let content = content(&mut files, &found).unwrap();
                let replaced = after[name].as_ref().unwrap();
                assert!(content == *old || content == *replaced, "{step} {survivors:?} {name}");
            }
        }
    }
}

#[test]
fn what_can_not_be_put_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let Some(image) = empty(folder.path(), 8, "") else { return };
    put(&image, "/file", b"content", false).unwrap();
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
    files.put_folder(&path("/folder")).unwrap();
    files.flush().unwrap();
    drop(files);
    let before = fs::read(&image).unwrap();
    let refused = |to: &str, len: usize, replace| put(&image, to, &vec![7; len], replace).unwrap_err();
    assert!(matches!(refused("/file/x", 1, false), FilesError::NotAFolder(_)));
    assert!(matches!(refused("/folder", 1, true), FilesError::IsAFolder(_)));
    assert!(matches!(refused("/none/x", 1, false), FilesError::NotFound(_)));
    assert!(matches!(refused("/", 1, false), FilesError::IsAFolder(_)));
    for name in ["/a?b", "/a:b", "/ends.", "/ends "] {
        assert!(matches!(refused(name, 1, false), FilesError::BadName(_)), "{name}");
    }
    assert!(matches!(refused("/large", 9 << 20, false), FilesError::LargerThanAll { grows: false, .. }));
    assert!(fs::read(&image).unwrap() == before, "a refusal changed the volume");
    // One byte less than was promised; what was put before stays.
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
    files.put_checked(&path("/first"), &b"x"[..], 1, None).unwrap();
    let short = files.put_checked(&path("/short"), &noise(99_999, 1)[..], 100_000, None);
    assert!(matches!(short, Err(FilesError::Host { .. })), "{short:?}");
    files.flush().unwrap();
    assert!(matches!(files.find(&path("/short")), Err(FilesError::NotFound(_))));
    files.find(&path("/first")).unwrap();
    drop(files);
    fsck(&image);
    // In use elsewhere, or not unmounted.
    let mut bytes = fs::read(&image).unwrap();
    bytes[106] |= 2;
    fs::write(&image, &bytes).unwrap();
    assert!(matches!(refused("/new", 1, false), FilesError::Unclean { checker: "fsck.exfat -y" }));
    assert!(fs::read(&image).unwrap() == bytes);
}

/// Damage in each place that a writer has to trust is found, and nothing is written.
#[test]
fn what_is_damaged_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some(image) = empty(folder.path(), 8, "-c 512") else { return };
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
    files.put_folder(&path("/folder")).unwrap();
    for i in 0..30 {
        files.put_checked(&path(&format!("/folder/file {i}")), &noise(700, 1)[..], 700, None).unwrap();
    }
    files.flush().unwrap();
    drop(files);
    let good = fs::read(&image).unwrap();
    let field = |at: usize| u32::from_le_bytes(good[at..at + 4].try_into().unwrap()) as usize;
    let (table, heap, root) = (field(80) * 512, field(88) * 512, field(96));
    let cluster = |n: usize| heap + (n - 2) * 512;
    let entry = |kind: u8| (cluster(root)..).step_by(32).find(|at| good[*at] == kind).unwrap();
    let first = |entry: usize| field(entry + 20);
    let (bitmap, capitals, file) = (entry(0x81), entry(0x82), entry(0x85));
    let bit = |n: usize| (cluster(first(bitmap)) + (n - 2) / 8, 1u8 << ((n - 2) % 8));
    let within = first(file + 32);
    let flips = [
        ("boot region", (700, 1)),
        ("boot sector", (92, 1)),
        ("bitmap of the root", bit(root)),
        ("bitmap of itself", bit(first(bitmap))),
        ("bitmap of the folder", bit(within)),
        ("bitmap's length", (bitmap + 31, 1)),
        ("bitmap's place", (bitmap + 23, 0xff)),
        ("capitals", (cluster(first(capitals)) + 9, 1)),
        ("capitals' length", (capitals + 27, 0x40)),
        ("root's chain", (table + root * 4 + 2, 0xff)),
        ("folder's length", (file + 32 + 25, 1)),
        ("folder's sum", (file + 2, 1)),
        ("file's sum in the folder", (cluster(within) + 2, 1)),
        ("file's length in the folder", (cluster(within) + 1, 0x10)),
        ("unknown kind", (cluster(within), 1)),
    ];
    for (what, (at, bits)) in flips {
        let mut bytes = good.clone();
        bytes[at] ^= bits;
        fs::write(&image, &bytes).unwrap();
        let put = || {
            let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat"))?;
            files.put_checked(&path("/folder/new"), &b"x"[..], 1, None)
        };
        let refused = put().expect_err(what);
        assert!(
            matches!(refused, FilesError::Damaged(_) | FilesError::Unsupported(_)),
            "{what}: {refused:?}"
        );
        assert!(fs::read(&image).unwrap() == bytes, "{what}: it was written to");
    }
}

/// Noise wherever something is: never a panic, never without end, and where it is taken what was read before is still
/// there.
#[test]
fn noise_is_told_and_ends() {
    let rounds = if std::env::var_os("KEYWAY_SLOW").is_some() { 20_000 } else { 600 };
    let folder = tempfile::tempdir().unwrap();
    let Some(image) = empty(folder.path(), 4, "-c 512") else { return };
    let mut files = Files::open(device(&image, Access::ReadWrite), Some("exfat")).unwrap();
    files.put_folder(&path("/folder")).unwrap();
    for i in 0..30 {
        let place = ["/folder", ""][i % 2];
        files.put_checked(&path(&format!("{place}/file {i}")), &noise(700, 1)[..], 700, None).unwrap();
    }
    files.flush().unwrap();
    drop(files);
    let good = fs::read(&image).unwrap();
    let used: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
    let mut random = Rng::new(17);
    let mut number = |below: usize| u32::from_le_bytes(random.bytes(4).try_into().unwrap()) as usize % below;
    let (mut refused, mut taken) = (0, 0);
    for round in 0..rounds {
        let mut bytes = good.clone();
        for _ in 0..1 + round % 3 {
            let at = used[number(used.len())];
            bytes[at] = number(256) as u8;
        }
        // The sum is no obstacle to who does it on purpose.
        if round % 2 == 0 {
            let sum = bytes[..11 * 512].iter().enumerate().filter(|(i, _)| !matches!(i, 106 | 107 | 112));
            let sum = sum.fold(0u32, |sum, (_, byte)| sum.rotate_right(1).wrapping_add(u32::from(*byte)));
            bytes[11 * 512..11 * 512 + 4].copy_from_slice(&sum.to_le_bytes());
        }
        let put = Files::open(Arc::new(MemStore::from_vec(bytes)), Some("exfat")).and_then(|mut files| {
            files.put(&path("/folder/new"), &noise(5000, 2)[..], 5000, None, true)?;
            files.put(&path("/folder/file 2"), &noise(5000, 3)[..], 5000, None, true)?;
            files.put_folder(&path("/folder/inner"))?;
            files.put(&path("/folder/inner/new"), &noise(50, 2)[..], 50, None, true)?;
            let found = files.find(&path("/folder/new"))?;
            let content = content(&mut files, &found)?;
            assert!(content == noise(5000, 2), "{round}");
            Ok(())
        });
        match put {
            Ok(()) => taken += 1,
            Err(e) => {
                assert!(!e.to_string().contains("contradict"), "{round}: a panic, {e}");
                refused += 1;
            }
        }
    }
    assert!(refused > rounds / 20 && taken > 0, "{refused} {taken}");
}
