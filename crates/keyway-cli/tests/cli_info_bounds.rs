//! What a medium says of itself costs whoever looks at it neither time nor memory: `info` of a sparse file whose journal
//! claims to hold gigabytes.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::Cli;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

const SIZE: u64 = 6 << 30;
const PAGE: u64 = 4096;
const ID: [u8; 16] = [7; 16];

fn crc32(bytes: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_le_bytes()
}

/// A file of a few pages and many holes: a re-encryption of VeraCrypt's, with a journal of four slots of so many bytes.
fn image(cli: &Cli, segment_bytes: u64) {
    let first = SIZE - 5 * PAGE;
    let mut payload = [&b"KEYWAY-CONVERTS\x02"[..], &[3, 0, 0, 0, 0, 1, 0, 0]].concat();
    let records = (0..4).map(|n| first + n * PAGE);
    let segments = (0..4).map(|n| (1 << 20) + n * segment_bytes);
    let numbers = [SIZE, SIZE - (256 << 10), 0].into_iter().chain(records).chain(segments);
    for number in numbers.chain([segment_bytes, 4]) {
        payload.extend(number.to_le_bytes());
    }
    payload.resize(3836, 0);
    let crc = crc32(&payload);
    payload.extend(crc);
    let marker: Vec<u8> = payload.chunks(480).flat_map(|part| [&ID, part, &ID].concat()).collect();
    let file = File::create(cli.path("d")).expect("made");
    file.set_len(SIZE).expect("sized");
    file.write_all_at(&marker, 0).expect("written");
    file.write_all_at(&marker, SIZE - PAGE).expect("written");
    for n in 0..4u64 {
        let mut record = [&b"KEYWAY-JOURNAL\0\x03"[..], &ID].concat();
        record.extend(n.to_le_bytes());
        record.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        // Segments of zeros: the sum of nothing from the beginning, and the sum of those sums.
        let sums = u64::MAX.wrapping_mul(segment_bytes / 8);
        let (done, target) = (n * segment_bytes, (128 << 10) + n * segment_bytes);
        for number in [done, target, segment_bytes, u64::MAX, sums, n, n.saturating_sub(3)] {
            record.extend(number.to_le_bytes());
        }
        record.extend(crc32(&record));
        file.write_all_at(&record, first + n * PAGE).expect("written");
    }
}

/// `info` with 64 MiB for its data.
fn info(cli: &Cli) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -d 65536; exec \"$0\" info \"$1\"", env!("CARGO_BIN_EXE_keyway")]);
    command.arg(cli.path("d"));
    let out = command.output().expect("sh runs");
    let told = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.code(), told)
}

#[test]
fn a_journal_that_claims_gigabytes_is_looked_at_in_little_memory() {
    let cli = Cli::new();
    image(&cli, 8 << 20);
    let (code, told) = info(&cli);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("resume"), "it is half converted: {told}");
    // More than any journal has.
    image(&cli, 1 << 30);
    let (code, told) = info(&cli);
    assert!(!told.contains("memory") && !told.contains("keyway resume"), "{code:?}: {told}");
}
