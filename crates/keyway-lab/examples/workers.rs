//! What a queue moves on a modelled drive without a cipher, with one on its own thread, and with workers, in turns.
//!
//!     cargo run --release -p keyway-lab --example workers [CIPHER [TURNS]]

use keyway_cipher::{LayerKey, Mode, SectorCipher, Spec};
use keyway_engine::{Layout, LayoutQueue, Mapping, Segment};
use keyway_model::{Clock, DriveModel, ModelDrive, NullStore};
use keyway_store::{Action, AlignedBuf, Queue, Request};
use std::error::Error;
use std::sync::Arc;

const SIZE: u64 = 1 << 30;
/// A turn, in nanoseconds.
const TURN: u64 = 200_000_000;
const CELLS: [(&str, Action, usize, u64); 10] = [
    ("1 MiB, depth 8, read", Action::Read, 1 << 20, 8),
    ("1 MiB, depth 8, write", Action::Write, 1 << 20, 8),
    ("1 MiB, depth 1, read", Action::Read, 1 << 20, 1),
    ("1 MiB, depth 1, write", Action::Write, 1 << 20, 1),
    ("4 KiB, depth 32, read", Action::Read, 4096, 32),
    ("4 KiB, depth 32, write", Action::Write, 4096, 32),
    ("4 KiB, depth 4, read", Action::Read, 4096, 4),
    ("4 KiB, depth 4, write", Action::Write, 4096, 4),
    ("4 KiB, depth 1, read", Action::Read, 4096, 1),
    ("4 KiB, depth 1, write", Action::Write, 4096, 1),
];

/// MB/s, and the processors' seconds for a GB.
fn turn(
    queue: &mut dyn Queue,
    (_, action, len, depth): (&str, Action, usize, u64),
) -> Result<(f64, f64), Box<dyn Error>> {
    let mut place = 1u64;
    let mut next = |tag| {
        place = (place + len as u64) % (SIZE - len as u64);
        let offset = if len > 4096 {
            place / 4096 * 4096
        } else {
            place.wrapping_mul(0x9e37_79b9) % (SIZE / 4096) * 4096
        };
        (tag, offset)
    };
    let (mut done, mut bytes) = (Vec::new(), 0u64);
    for tag in 0..depth {
        let (tag, offset) = next(tag);
        queue.submit(Request { tag, action, offset, buf: AlignedBuf::zeroed(len) })?;
    }
    let (begun, spent) = (queue.now(), processors());
    while queue.now() - begun < TURN {
        queue.complete(1, &mut done)?;
        for completion in done.drain(..) {
            completion.result?;
            bytes += len as u64;
            let (tag, offset) = next(completion.tag);
            queue.submit(Request { tag, action, offset, buf: completion.buf })?;
        }
    }
    let seconds = (queue.now() - begun) as f64 / 1e9;
    let spent = processors() - spent;
    queue.complete(usize::MAX, &mut done)?;
    Ok((bytes as f64 / 1e6 / seconds, spent * 1e9 / bytes as f64))
}

/// Seconds that this process has used so far.
fn processors() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<u64> =
        stat.rsplit(')').next().unwrap_or("").split_whitespace().filter_map(|f| f.parse().ok()).collect();
    fields.iter().skip(9).take(2).sum::<u64>() as f64 / 100.0
}

fn layout(cipher: Option<&str>) -> Result<Arc<Layout>, Box<dyn Error>> {
    let mapping = match cipher {
        None => Mapping::Plain { store_offset: 0 },
        Some(name) => {
            let spec = Spec { chain: name.parse()?, mode: Mode::Xts, unit_bytes: 512 };
            let keys: Vec<_> =
                (0..spec.chain.len()).map(|_| LayerKey { key: &[1; 32], tweak_key: &[2; 32] }).collect();
            Mapping::Encrypted {
                store_offset: 0,
                first_unit: 0,
                cipher: Arc::new(SectorCipher::new(&spec, &keys)?),
            }
        }
    };
    Ok(Arc::new(Layout::new(512, vec![Segment { start: 0, len: SIZE, mapping }])?))
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let cipher = words.next().unwrap_or_else(|| "aes".to_owned());
    let turns: usize = words.next().map_or(Ok(5), |n| n.parse())?;
    let model = DriveModel::named("samsung-990-pro").ok_or("no such model")?;
    let drive = ModelDrive::over(model, Clock::real(), Box::new(NullStore::new(SIZE, 512)));
    let (plain, encrypted) = (layout(None)?, layout(Some(&cipher))?);
    println!("{:24} {:>9} {:>17} {:>17}   MB/s (of no cipher)", "", "no cipher", "one thread", "workers");
    let only = words.next().unwrap_or_default();
    for cell in CELLS.into_iter().filter(|cell| cell.0.contains(&only)) {
        let mut all = [const { Vec::new() }; 3];
        for _ in 0..turns {
            for (way, all) in all.iter_mut().enumerate() {
                let mut queue = match way {
                    0 => LayoutQueue::new(plain.clone(), drive.queue()),
                    1 => LayoutQueue::new(encrypted.clone(), drive.queue()),
                    _ => LayoutQueue::with_workers(encrypted.clone(), drive.queue()),
                };
                all.push(turn(&mut queue, cell)?);
            }
        }
        let [none, one, workers] = all.map(|turns| {
            (median(turns.iter().map(|t| t.0).collect()), median(turns.iter().map(|t| t.1).collect()))
        });
        println!(
            "{:24} {:9.0} {:9.0} ({:.3}) {:9.0} ({:.3})   {:.2} {:.2} {:.2} s/GB",
            cell.0,
            none.0,
            one.0,
            one.0 / none.0,
            workers.0,
            workers.0 / none.0,
            none.1,
            one.1,
            workers.1
        );
    }
    Ok(())
}
