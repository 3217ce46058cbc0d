//! Conversions against a plain read-then-write of the same extent through the same store, in turns.
//!
//! `speed FILE MEBIBYTES [CIPHER] [ROUNDS] [KIBIBYTES]` makes the file, which is removed afterwards. The last
//! number makes the conversion's segments smaller than they are by themselves; the plain copy's are
//! the larger of both.
#![allow(clippy::expect_used, clippy::panic, reason = "a measurement that fails has nothing to say")]

use keyway_convert::veracrypt;
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Caching, FileStore, OpenMode, Store};
use keyway_volume::veracrypt::{Fill, NewVolume, UnlockRequest, unlock};
use keyway_volume::{HashName, Secrets};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn open(path: &Path) -> FileStore {
    FileStore::open(path, OpenMode::ReadWrite, Caching::Direct).expect("opens")
}

/// Reads and writes back segment after segment, as large as a conversion's; seconds.
fn plain(store: &FileStore, from: u64, to: u64, segment: u64) -> f64 {
    let mut buf = AlignedBuf::zeroed(segment as usize);
    let began = Instant::now();
    let mut at = from;
    while at < to {
        buf.resize(segment.min(to - at) as usize);
        store.read_at(&mut buf, at).expect("read");
        store.write_at(&buf, at).expect("written");
        at += buf.len() as u64;
    }
    store.flush().expect("flushed");
    began.elapsed().as_secs_f64()
}

fn main() {
    let mut words = std::env::args().skip(1);
    let path = PathBuf::from(words.next().expect("a file"));
    let size: u64 = words.next().expect("mebibytes").parse::<u64>().expect("a number") << 20;
    let cipher = words.next().unwrap_or("aes".to_owned()).parse().expect("a cipher");
    let rounds: u32 = words.next().map_or(2, |n| n.parse().expect("a number"));
    std::fs::File::create(&path).expect("created").set_len(size).expect("sized");
    let store = open(&path);
    let segment = keyway_convert::segment_bytes(size);
    let less = words.next().map_or(segment, |n| n.parse::<u64>().expect("a number") << 10);
    let noise: Vec<u8> = (0..segment).map(|n| ((n * n) >> 7) as u8).collect();
    for at in (0..size).step_by(segment as usize) {
        store.write_at(&noise[..segment.min(size - at) as usize], at).expect("filled");
    }
    store.flush().expect("flushed");
    let secrets = Secrets {
        password: SecretBytes::copy_of(b"a password that is long"),
        keyfiles: vec![],
        pim: Some(1),
    };
    let new = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
    let moved = veracrypt::content_capacity(size, true);
    println!("{} MiB, segments of {} KiB, direct: {}", moved >> 20, less >> 10, store.is_direct());
    for round in 0..rounds {
        let mut rates = Vec::new();
        let rate = |seconds: f64| moved as f64 / 1e6 / seconds;
        let before = rate(plain(&store, 0, moved, segment));
        let mut plan = veracrypt::encryption(&store, moved, &new, None).expect("planned");
        plan.marker.place.segment_bytes = less;
        let conversion = plan.conversion(&store, None).expect("planned");
        let began = Instant::now();
        plan.begin(&conversion).expect("begun");
        conversion.run(false, &()).expect("encrypted");
        rates.push(("encrypt", rate(began.elapsed().as_secs_f64())));
        let journal = path.with_extension("journal");
        let opened = unlock(&store, &UnlockRequest::new(&secrets)).expect("opens");
        let mut again =
            veracrypt::reencryption(&store, &opened, &new, Some(journal.clone())).expect("planned");
        let back = |plan: &mut veracrypt::VeraCryptPlan| {
            plan.marker.place.segment_bytes = less;
            let file = std::fs::File::create(&journal).expect("created");
            file.set_len(plan.marker.place.file_bytes()).expect("sized");
            let journal = open(&journal);
            journal.write_at(&vec![1; plan.marker.place.file_bytes() as usize], 0).expect("filled");
            journal.flush().expect("flushed");
            let conversion = plan.conversion(&store, Some(&journal)).expect("planned");
            let began = Instant::now();
            plan.begin(&conversion).expect("begun");
            conversion.run(false, &()).expect("converted");
            rate(began.elapsed().as_secs_f64())
        };
        rates.push(("reencrypt", back(&mut again)));
        let opened = unlock(&store, &UnlockRequest::new(&secrets)).expect("opens");
        let mut off = veracrypt::decryption(&store, &opened, Some(journal.clone())).expect("planned");
        rates.push(("decrypt", back(&mut off)));
        let after = rate(plain(&store, 0, moved, segment));
        let baseline = (before + after) / 2.0;
        println!("round {round}: plain {before:.0} and {after:.0} MB/s");
        for (name, rate) in rates {
            println!("  {name} {rate:.0} MB/s, ratio {:.2}", rate / baseline);
        }
        let _ = std::fs::remove_file(&journal);
    }
    std::fs::remove_file(&path).expect("removed");
}
