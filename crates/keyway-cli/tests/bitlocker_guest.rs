//! cryptsetup and dm-crypt of a stock kernel open the BitLocker volumes that Keyway made, its NTFS,
//! exFAT and FAT drivers mount them, and files go both ways: one boot of the guest.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{Guest, Keyway, NtfsMount, Rng, require_fuse, require_tool, sha256_of};
use keyway_volume::bitlocker::{self, Block, Secret, UnlockRequest, Unlocked};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const PASSWORD: &str = "the-guest-judges-what-we-wrote";

/// Whole sectors, so that a file of them starts where one does.
const PATTERN_BYTES: usize = 48 << 10;

/// One volume: its name, Keyway's words for it, the kernel's name of its file system.
struct Case {
    name: String,
    create: String,
    kind: &'static str,
}

/// What was there before the guest had it.
struct Before {
    plain_sha256: String,
    /// Which parts of it: first and number of blocks of 4096 bytes.
    stretches: Vec<(usize, usize)>,
    pattern: Vec<u8>,
    /// The hash of the file that Keyway wrote, where it can mount such a file system.
    file_sha256: Option<String>,
}

fn is_slow() -> bool {
    std::env::var_os("KEYWAY_SLOW").is_some_and(|value| value == "1")
}

fn cases() -> Vec<Case> {
    let all = is_slow();
    let methods = ["aes-xts-128", "aes-xts-256", "aes-cbc-128", "aes-cbc-256"];
    let inside = [("ntfs", "ntfs3"), ("exfat", "exfat"), ("fat", "vfat"), ("none", "none")];
    let mut cases = Vec::new();
    for (i, method) in methods.into_iter().enumerate() {
        for (j, (ours, kind)) in inside.into_iter().enumerate() {
            // Every method and every file system once; all pairs in the long run.
            if i == j || all {
                let to_go = if ours == "fat" { " --to-go" } else { "" };
                let name = format!("{method}-{ours}");
                cases.push(Case {
                    name,
                    create: format!("--cipher {method} --filesystem {ours}{to_go}"),
                    kind,
                });
            }
        }
    }
    cases
}

#[test]
fn cryptsetup_and_the_kernel_read_what_we_made() {
    if require_tool("qemu-system-x86_64").is_none() || !require_fuse() {
        return;
    }
    if ["mkfs.ntfs", "mkfs.exfat", "mkfs.fat"].iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let folder = keyway.path("job");
    std::fs::create_dir(&folder).expect("the job's folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bitlocker_guest_judge.sh");
    std::fs::copy(script, folder.join("run.sh")).expect("the job's script");
    std::fs::write(folder.join("password"), PASSWORD).expect("the password");
    let mut rng = Rng::new(21);
    let cases = cases();
    let before: Vec<Before> = cases.iter().map(|case| make(&keyway, &folder, case, &mut rng)).collect();
    let mut table = String::new();
    for (i, (case, before)) in cases.iter().zip(&before).enumerate() {
        // A password takes the guest seconds; once is enough, the other judges try it each time.
        let password = if i == 0 { "password" } else { "-" };
        let stretches: Vec<_> =
            before.stretches.iter().map(|(first, count)| format!("{first}+{count}")).collect();
        table += &format!("{}\t{}\t{password}\t{}\n", case.name, case.kind, stretches.join(" "));
    }
    std::fs::write(folder.join("cases.tsv"), table).expect("the cases");
    let Some(run) = Guest::new().run(&folder) else { return };
    assert_eq!(run.code, Some(0), "the guest said:\n{}", run.output);

    let results = results(&folder.join("results.tsv"));
    for (case, before) in cases.iter().zip(&before) {
        let name = &case.name;
        let result = results.get(name).unwrap_or_else(|| panic!("{name} was not judged:\n{}", run.output));
        assert_eq!(result[1], "opened", "{name}:\n{}", run.output);
        assert_eq!((result[2].as_str(), result[3].as_str()), ("67108864", "512"), "{name}");
        assert_eq!(result[4], before.plain_sha256, "{name}: the guest decrypts something else");
        if let Some(sha256) = &before.file_sha256 {
            assert_eq!(&result[5], sha256, "{name}: our file");
        } else {
            assert_eq!(result[5], "-", "{name}:\n{}", run.output);
        }
        let plain = plain(&keyway, &folder.join(name));
        let sectors = plain.chunks_exact(512).position(|sector| *sector == before.pattern[..512]);
        let at = sectors.unwrap_or_else(|| panic!("{name}: the guest's file is not there")) * 512;
        assert!(plain[at..].starts_with(&before.pattern), "{name}: the guest's file");
        if result[6] != "-" {
            assert_eq!(
                result[6],
                sha256_of(parts(&plain, &before.stretches).as_slice()),
                "{name}: by password, after the write"
            );
        }
    }
    assert_ne!(results[&cases[0].name][6], "-", "the password was not tried");
}

/// Makes a volume in the job's folder, with a file in it where this machine can write one.
fn make(keyway: &Keyway, folder: &Path, case: &Case, rng: &mut Rng) -> Before {
    let volume = folder.join(&case.name);
    let mut create: Vec<PathBuf> =
        ["create", "--format", "bitlocker", "--size", "64M", "--quick", "--password-file"]
            .map(Into::into)
            .into();
    create.extend([folder.join("password"), volume.clone()]);
    create.extend(case.create.split(' ').map(PathBuf::from));
    keyway.ok(&create);
    let file_sha256 = (case.kind == "ntfs3").then(|| write_file(keyway, folder, &volume, rng)).flatten();
    let pattern = rng.bytes(PATTERN_BYTES);
    std::fs::write(folder.join(format!("pattern-{}", case.name)), &pattern).expect("the pattern");
    let opened = unlocked(&volume).opened;
    std::fs::write(folder.join(format!("key-{}", case.name)), &opened.data.bytes[..]).expect("the key");
    let plain = plain(keyway, &volume);
    let stretches = stretches(opened.metadata.block(), plain.len());
    let plain_sha256 = sha256_of(parts(&plain, &stretches).as_slice());
    Before { plain_sha256, stretches, pattern, file_sha256 }
}

/// The start, the end, and around everything that lies where other bytes should be; all of it in the
/// long run: the guest decrypts some megabytes in a second.
fn stretches(block: &Block, bytes: usize) -> Vec<(usize, usize)> {
    let blocks = bytes / 4096;
    if is_slow() {
        return vec![(0, blocks)];
    }
    let places = block.copies.into_iter().chain([block.boot_backup, 0, bytes as u64]);
    let around = places.map(|at| {
        let first = (at as usize / 4096).saturating_sub(16);
        (first, 64.min(blocks - first))
    });
    around.collect()
}

fn parts(plain: &[u8], stretches: &[(usize, usize)]) -> Vec<u8> {
    stretches
        .iter()
        .flat_map(|(first, count)| plain[first * 4096..][..count * 4096].iter().copied())
        .collect()
}

/// Writes a file through Keyway; its hash.
fn write_file(keyway: &Keyway, folder: &Path, volume: &Path, rng: &mut Rng) -> Option<String> {
    let password = folder.join("password");
    let open = keyway.open(
        volume,
        ["--attach".as_ref(), "fuse".as_ref(), "--password-file".as_ref(), password.as_os_str()],
    );
    let ntfs = NtfsMount::open(&open.path("file"))?;
    let content = rng.bytes(700_001);
    std::fs::write(ntfs.path("from-the-host"), &content).expect("a file inside");
    drop(ntfs);
    open.close();
    Some(sha256_of(content.as_slice()))
}

fn plain(keyway: &Keyway, volume: &Path) -> Vec<u8> {
    let password = volume.with_file_name("password");
    keyway.ok(["cat".as_ref(), volume.as_os_str(), "--password-file".as_ref(), password.as_os_str()])
}

/// With its data key the guest needs no key derivation.
fn unlocked(volume: &Path) -> Unlocked {
    let store = FileStore::open(volume, OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
    let secrets = [Secret::Password(SecretBytes::copy_of(PASSWORD.as_bytes()))];
    bitlocker::unlock(&store, &UnlockRequest::new(&secrets)).expect("it unlocks")
}

fn results(path: &Path) -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).expect("the guest's results");
    let lines = text.lines().map(|line| line.split('\t').map(String::from).collect::<Vec<_>>());
    lines.map(|fields| (fields[0].clone(), fields)).collect()
}
