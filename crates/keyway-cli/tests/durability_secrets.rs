//! While a volume is open no secret can be seen: not in any process's arguments or environment,
//! not by other processes of the same user, and even root finds the password nowhere in the
//! serving process and the master keys in locked memory only.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_cipher::{LayerKey, Mode, SectorCipher, Spec};
use keyway_kdf::Prf;
use keyway_testkit::{Keyway, Open, Volume, copy_program, require_root, require_tool, wait_until};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Debian's "nobody" and "nogroup".
const NOBODY: u32 = 65534;

/// A mapping of another process, from its smaps.
struct Mapping {
    start: u64,
    end: u64,
    readable: bool,
    name: String,
    /// Locked in memory and left out of core dumps ("lo" and "dd" of VmFlags).
    guarded: bool,
}

fn mappings(pid: u32) -> Vec<Mapping> {
    let smaps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).expect("root reads smaps");
    let mut found: Vec<Mapping> = Vec::new();
    for line in smaps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            let has = |flag| flags.split_whitespace().any(|f| f == flag);
            if let Some(last) = found.last_mut() {
                last.guarded = has("lo") && has("dd");
            }
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else { continue };
        let Some((start, end)) = range.split_once('-') else { continue };
        let (Ok(start), Ok(end)) = (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16)) else {
            continue;
        };
        let name = words.nth(3).unwrap_or("anonymous").to_string();
        found.push(Mapping { start, end, readable: rights.starts_with('r'), name, guarded: false });
    }
    found
}

/// Where a needle lies in a process's memory: the mapping's name, and whether it is guarded.
fn find(pid: u32, needles: &[&[u8]]) -> Vec<Vec<(String, bool)>> {
    let memory = File::open(format!("/proc/{pid}/mem")).expect("root reads memory");
    let mut places = vec![Vec::new(); needles.len()];
    let mut bytes_read = 0;
    for mapping in mappings(pid).iter().filter(|m| m.readable && m.end - m.start < 1 << 30) {
        let mut bytes = vec![0; (mapping.end - mapping.start) as usize];
        // The kernel's own pages ([vvar]) refuse.
        if memory.read_exact_at(&mut bytes, mapping.start).is_err() {
            continue;
        }
        bytes_read += bytes.len();
        for (needle, places) in needles.iter().zip(&mut places) {
            if bytes.windows(needle.len()).any(|window| window == *needle) {
                places.push((mapping.name.clone(), mapping.guarded));
            }
        }
    }
    assert!(bytes_read > 1 << 20, "hardly any of the process's memory was readable");
    places
}

/// The 64 bytes of an AES volume's master keys and the header key that opened them.
fn keys_of(volume: &Path) -> (Vec<u8>, Vec<u8>) {
    let mut header = vec![0; 512];
    File::open(volume).expect("the volume").read_exact_at(&mut header, 0).expect("its header");
    // VeraCrypt's iterations for SHA-512 with PIM 1: 15000 + 1 * 1000.
    let header_key = keyway_kdf::pbkdf2(Prf::Sha512, Volume::PASSWORD.as_bytes(), &header[..64], 16_000, 64);
    let spec = Spec { chain: "aes".parse().expect("a cipher"), mode: Mode::Xts, unit_bytes: 512 };
    let layer = LayerKey { key: &header_key[..32], tweak_key: &header_key[32..] };
    SectorCipher::new(&spec, &[layer]).expect("keys of the right size").decrypt_header(&mut header[64..]);
    assert_eq!(&header[64..68], b"VERA", "the test's own derivation opens the header");
    (header[256..320].to_vec(), header_key.to_vec())
}

fn masked(bytes: &[u8], mask: u8) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ mask).collect()
}

/// No process at all shows the password in its arguments or environment.
fn assert_not_in_proc(password: &[u8]) {
    for entry in std::fs::read_dir("/proc").expect("Linux").flatten() {
        for file in ["cmdline", "environ"] {
            let Ok(bytes) = std::fs::read(entry.path().join(file)) else { continue };
            let shown = bytes.windows(password.len()).any(|window| window == password);
            assert!(!shown, "the password is in {}/{file}", entry.path().display());
        }
    }
}

fn assert_no_core_dump(pid: u32) {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
    let line = limits.lines().find(|line| line.starts_with("Max core file size")).expect("the core limit");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{line}");
}

/// A derivation that was under way when another one opened the volume (Argon2id can't be
/// interrupted) holds the password, in locked memory, until it ends.
fn wait_for_the_search_to_end(pid: u32) {
    let searching = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
        let name =
            |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        tasks.flatten().map(name).any(|name| name.trim() == "keyway-unlock")
    };
    wait_until("the search ends when the volume is open", || !searching());
}

/// A little work, so that the keys have been used.
fn use_it(open: &Open<'_>) {
    if let Some(file) = open.answer().get("file").and_then(serde_json::Value::as_str) {
        let file = File::options().read(true).write(true).open(file).expect("the volume opens");
        file.write_all_at(&[7; 70_000], 1000).expect("a write");
        let mut back = [0; 70_000];
        file.read_exact_at(&mut back, 1000).expect("a read");
        file.sync_all().expect("a flush");
    } else if let Some(nbdinfo) = require_tool("nbdinfo") {
        let uri = format!("nbd+unix:///?socket={}", open.path("socket").display());
        let done = Command::new(nbdinfo).arg("--content").arg(uri).output().expect("nbdinfo runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn an_open_volume_shows_no_secret_even_to_root() {
    if !require_root() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let volume = keyway.volume("3M");
    let (master, header_key) = keys_of(volume.path());
    let password = Volume::PASSWORD.as_bytes();
    // HMAC mixes the password with two constants (RFC 2104): those blocks tell it as well.
    let (inner, outer) = (masked(password, 0x36), masked(password, 0x5c));
    for attach in ["fuse", "nbd"] {
        let open = volume.open(attach);
        use_it(&open);
        wait_for_the_search_to_end(open.pid());
        assert_not_in_proc(password);
        assert_no_core_dump(open.pid());
        let needles =
            [password, &inner, &outer, &header_key[..32], &header_key[32..], &master[..32], &master[32..]];
        let names = ["the password", "its inner HMAC block", "its outer HMAC block", "the header key"];
        let found = find(open.pid(), &needles);
        for (name, places) in names.iter().zip(&found) {
            assert!(places.is_empty(), "{attach}: {name} is still in memory: {places:?}");
        }
        assert!(found[4].is_empty(), "{attach}: the header's tweak key is still in memory: {:?}", found[4]);
        for places in &found[5..] {
            let open_ones: Vec<_> = places.iter().filter(|(_, guarded)| !guarded).collect();
            assert!(
                open_ones.is_empty(),
                "{attach}: a master key lies outside of locked memory: {open_ones:?}"
            );
        }
        // With AES instructions the first round keys are the key itself: it must have been seen,
        // or the search proves nothing.
        if std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|info| info.contains(" aes")) {
            assert!(!found[5].is_empty(), "{attach}: the search does not even find the master key");
        }
        open.close();
    }
}

/// A process of the same user, without root, can't look into the one that serves.
#[test]
fn the_same_user_cannot_read_the_serving_process() {
    if !require_root() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let made = keyway.volume("2M");
    // A folder of nobody's, with a program that nobody may run.
    let open_to_all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(keyway.folder(), open_to_all.clone()).expect("rights");
    let program = keyway.path("keyway");
    copy_program(env!("CARGO_BIN_EXE_keyway"), &program);
    std::fs::set_permissions(&program, open_to_all).expect("rights");
    let password = keyway.path("password");
    for path in [&keyway.runtime_folder(), &password, made.path()] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("root gives files away");
    }
    std::fs::set_permissions(keyway.runtime_folder(), std::fs::Permissions::from_mode(0o700))
        .expect("rights");
    let as_nobody = |program: &Path, arguments: &[OsString]| {
        Command::new(program)
            .args(arguments)
            .env("XDG_RUNTIME_DIR", keyway.runtime_folder())
            .current_dir(keyway.folder())
            .stdin(Stdio::null())
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .expect("nobody may run programs")
    };
    let mut arguments: Vec<OsString> = vec!["open".into(), made.path().into(), "--json".into()];
    arguments.extend(["--attach".into(), "nbd".into()]);
    arguments.extend(made.secret().iter().cloned());
    let done = as_nobody(&program, &arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let pid = answer.get("pid").and_then(serde_json::Value::as_u64).expect("a pid");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    assert!(status.lines().any(|line| line.starts_with("Uid:") && line.contains("65534")), "{status}");
    for file in ["mem", "environ", "maps", "auxv"] {
        let path = format!("/proc/{pid}/{file}");
        let tried = as_nobody(Path::new("/usr/bin/head"), &["-c1".into(), path.clone().into()]);
        assert!(!tried.status.success(), "{path} can be read by its own user");
        let said = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert!(said.contains("Permission denied"), "{path}: {said}");
    }
    let closed = as_nobody(&program, &["close".into(), made.path().into()]);
    assert!(closed.status.success(), "{}", String::from_utf8_lossy(&closed.stderr));
}
