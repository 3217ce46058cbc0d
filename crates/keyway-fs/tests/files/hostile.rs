//! Names that want out of the folder, and damage everywhere: told or read, never a way out, never a
//! panic, never without end.

use crate::image::{ALL, Kind, device, fill, get_all, image, noise};
use keyway_engine::Access;
use keyway_fs::files::{Files, FilesError, Taken};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Changes a name of seven letters wherever it stands, in UTF-8 and in UTF-16. FAT keeps a long name's
/// first five letters apart from the rest.
pub(crate) fn rename(image: &Path, to: &[u8; 7]) -> usize {
    let mut bytes = fs::read(image).unwrap();
    let wide = |text: &[u8]| text.iter().flat_map(|b| [*b, 0]).collect::<Vec<u8>>();
    let old = b"AAAAAAA";
    let mut found = 0;
    let pairs = [(old.to_vec(), to.to_vec()), (wide(old), wide(to))];
    for (old, new) in &pairs {
        let mut at = 0;
        while let Some(next) = bytes.get(at..).and_then(|b| b.windows(old.len()).position(|w| w == old)) {
            bytes[at + next..at + next + old.len()].copy_from_slice(new);
            at += next + old.len();
            found += 1;
        }
    }
    fs::write(image, bytes).unwrap();
    found
}

#[test]
fn no_name_leads_out_of_the_folder() {
    for kind in ALL {
        for name in [b"../../x", b"/tmp/ab", b"..\0....", b"a/../..", b"AAA\0AAA"] {
            let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            fs::write(from.path().join("AAAAAAA"), b"hello").unwrap();
            fs::write(from.path().join("harmless"), b"hello").unwrap();
            let Some(image) = image(kind, folder.path(), from.path()) else { continue };
            assert!(rename(&image, name) > 0, "{kind:?}");
            let inner = folder.path().join("deep/er");
            fs::create_dir_all(&inner).unwrap();
            let mut files = match Files::open(device(&image, Access::ReadOnly), Some(kind.kind)) {
                Ok(files) => files,
                Err(e) => panic!("{kind:?}: {e}"),
            };
            let root = files.root();
            let mut told = 0;
            let result = files.get(&root, &inner, OsStr::new("out"), &mut |taken| {
                told += usize::from(!matches!(taken, Taken::Made(_)));
            });
            // A library may refuse the whole folder, which is as good.
            if let Ok((_, all)) = result {
                let made: Vec<_> = crate::image::tree(&inner.join("out")).into_keys().collect();
                assert!(made.iter().all(|path| path.components().count() == 1), "{kind:?} {made:?}");
                // A library may end there, which is told.
                assert!(!all || made.contains(&"harmless".into()), "{kind:?} {name:?} {made:?}");
                assert!(all || told > 0, "{kind:?}: left out without a word");
            }
            let strays = ["x", "deep/x", "ab"].map(|name| folder.path().join(name).exists());
            assert_eq!(strays, [false; 3], "{kind:?} {name:?}");
            assert!(!Path::new("/tmp/ab").exists());
        }
    }
}

/// Noise in the first megabytes, where the file systems keep what leads to everything else.
#[test]
fn damage_is_told_and_ends() {
    let rounds = if std::env::var_os("KEYWAY_SLOW").is_some() { 400 } else { 6 };
    for kind in ALL {
        let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(from.path());
        let Some(image) = image(kind, folder.path(), from.path()) else { continue };
        let good = fs::read(&image).unwrap();
        // Where something is at all.
        let used: Vec<usize> = good
            .chunks(512)
            .enumerate()
            .filter(|(_, sector)| sector.iter().any(|byte| *byte != 0))
            .map(|(i, _)| i * 512)
            .take(4000)
            .collect();
        let mut random = noise(rounds * 64 * 8, 99).into_iter();
        let mut number = |below: usize| {
            let bytes: Vec<u8> = random.by_ref().take(4).collect();
            u32::from_le_bytes(bytes.try_into().unwrap_or_default()) as usize % below
        };
        for round in 0..rounds {
            let mut bytes = good.clone();
            for _ in 0..1 + round % 8 {
                let at = used[number(used.len())] + number(512);
                bytes[at] = number(256) as u8;
            }
            fs::write(&image, &bytes).unwrap();
            let began = Instant::now();
            let out = folder.path().join(format!("round {round}"));
            fs::create_dir(&out).unwrap();
            if let Ok(mut files) = Files::open(device(&image, Access::ReadOnly), Some(kind.kind)) {
                let root = files.root();
                let _ = files.get(&root, &out, OsStr::new("out"), &mut |_| {});
            }
            fs::remove_dir_all(&out).unwrap();
            assert!(began.elapsed() < Duration::from_secs(60), "{kind:?} round {round}");
        }
    }
}

#[test]
fn a_chain_that_bites_its_tail_ends() {
    let kind = Kind { kind: "vfat", mib: 40, mkfs: "mkfs.fat -F 16" };
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(from.path().join("many")).unwrap();
    for i in 0..200 {
        fs::write(from.path().join(format!("many/number {i}")), b"").unwrap();
    }
    let Some(image) = image(kind, folder.path(), from.path()) else { return };
    let mut bytes = fs::read(&image).unwrap();
    let field = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (sector, reserved) = (field(11), field(14));
    let fat = sector * reserved;
    // The folder is the first thing that was made: clusters from 2 on. Every link leads back there.
    for cluster in 2..6 {
        bytes[fat + cluster * 2..fat + cluster * 2 + 2].copy_from_slice(&2u16.to_le_bytes());
    }
    fs::write(&image, &bytes).unwrap();
    let mut files = crate::image::files(&image, "vfat");
    let many = files.find(&["many".into()]).unwrap();
    let listed = files.entries(&many);
    match listed {
        // One round only, where the entries' end comes first.
        Ok(contents) => assert!(contents.entries.len() <= 200),
        Err(e) => assert!(matches!(e, FilesError::Endless(_)), "{e}"),
    }
}

#[test]
fn nothing_is_overwritten_and_no_link_is_followed() {
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(from.path().join("file"), b"new").unwrap();
    let Some(image) = image(ALL[1], folder.path(), from.path()) else { return };
    let mut files = crate::image::files(&image, "vfat");
    let file = files.find(&["file".into()]).unwrap();
    let target = folder.path().join("target");
    fs::write(&target, b"old").unwrap();
    std::os::unix::fs::symlink(&target, folder.path().join("link")).unwrap();
    for name in ["target", "link"] {
        let got = files.get(&file, folder.path(), OsStr::new(name), &mut |_| {});
        assert!(matches!(got, Err(FilesError::InTheWay(_))), "{got:?}");
    }
    assert_eq!(fs::read(&target).unwrap(), b"old");
    let (_, all, _) = get_all(&mut files, folder.path());
    assert!(all);
}
