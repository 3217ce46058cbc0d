//! cryptsetup and dm-crypt of a stock kernel open the BitLocker volumes that Keyway made, its NTFS,
//! exFAT and FAT drivers mount them, and files go both ways: one boot of the guest.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{Guest, Keyway, NtfsMount, Rng, require_fuse, require_tool, sha256_of};
use keyway_volume::bitlocker::{self, Secret, UnlockRequest};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    pattern: Vec<u8>,
    /// The hash of the file that Keyway wrote, where it can mount such a file system.
    file_sha256: Option<String>,
}

fn cases() -> Vec<Case> {
    let all = std::env::var_os("KEYWAY_SLOW").is_some_and(|value| value == "1");
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
    let table: String = cases
        .iter()
        .enumerate()
        // A password takes the guest seconds; once is enough, the other judges try it each time.
        .map(|(i, case)| format!("{}\t{}\t{}\n", case.name, case.kind, if i == 0 { "password" } else { "-" }))
        .collect();
    std::fs::write(folder.join("cases.tsv"), table).expect("the cases");
    let Some(run) = Guest::new().timeout(Duration::from_secs(900)).run(&folder) else { return };
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
            assert_eq!(result[6], sha256_of(plain.as_slice()), "{name}: by password, after the write");
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
    std::fs::write(folder.join(format!("key-{}", case.name)), &data_key(&volume)[..]).expect("the key");
    let plain_sha256 = sha256_of(plain(keyway, &volume).as_slice());
    Before { plain_sha256, pattern, file_sha256 }
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

/// The volume's data key: with it the guest needs no key derivation.
fn data_key(volume: &Path) -> SecretBytes {
    let store = FileStore::open(volume, OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
    let secrets = [Secret::Password(SecretBytes::copy_of(PASSWORD.as_bytes()))];
    let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(&secrets)).expect("it unlocks");
    unlocked.opened.data.bytes
}

fn results(path: &Path) -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).expect("the guest's results");
    let lines = text.lines().map(|line| line.split('\t').map(String::from).collect::<Vec<_>>());
    lines.map(|fields| (fields[0].clone(), fields)).collect()
}
