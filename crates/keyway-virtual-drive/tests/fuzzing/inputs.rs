//! Inputs that mean something, and how they are changed.

use keyway_sed::Uid;
use keyway_sed::comid::Request;
use keyway_sed::discovery::{BasicSsc, Discovery, Feature, LockingFeature};
use keyway_sed::message::{write_answer, write_call};
use keyway_sed::packet::wrap;
use keyway_sed::token::{Encoder, Token};
use keyway_sed::uid::{authority, c_pin, locking, method, parameter, sp, table};
use std::path::Path;

/// Random numbers that follow from a seed (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below that, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 32) as usize % end
    }
}

/// An operation of the drive's inputs.
fn operation(to: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    // What is longer than a length can say is said in no input.
    let bytes = bytes.get(..255).unwrap_or(bytes);
    to.extend_from_slice(&[kind, bytes.len() as u8]);
    to.extend_from_slice(bytes);
}

fn call(object: Uid, method: Uid, arguments: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut to = Encoder::new();
    write_call(&mut to, object, method, arguments);
    to.as_bytes().to_vec()
}

/// Sessions with either SP in which a host without a PIN calls every method there is on every kind of object.
pub(crate) fn conversations() -> Vec<Vec<u8>> {
    let objects = [
        Uid::THIS_SP,
        sp::ADMIN,
        sp::LOCKING,
        table::TABLE,
        table::ACE,
        table::MBR,
        table::DATA_STORE,
        table::LOCKING,
        table::ACCESS_CONTROL,
        authority::SID,
        authority::admin(1),
        c_pin::SID,
        c_pin::MSID,
        c_pin::user(1),
        locking::GLOBAL_RANGE,
        locking::range(1),
        locking::key_256(0),
        locking::INFO,
        locking::MBR_CONTROL,
        locking::ace_set_read_locked(0),
    ];
    let methods = [
        method::GET,
        method::SET,
        method::NEXT,
        method::GET_ACL,
        method::AUTHENTICATE,
        method::RANDOM,
        method::GEN_KEY,
        method::ACTIVATE,
        method::REACTIVATE,
        method::REVERT,
        method::REVERT_SP,
        method::ERASE,
    ];
    let mut all = vec![Vec::new()];
    for (session, object) in (0..2).flat_map(|session| objects.map(|object| (session, object))) {
        for method in methods {
            let mut input = Vec::new();
            operation(&mut input, session, &[]);
            let arguments = call(object, method, |to| match method {
                method::GET => {
                    to.list(|to| {
                        to.named(parameter::START_COLUMN, |to| {
                            to.uint(0);
                        });
                        to.named(parameter::END_COLUMN, |to| {
                            to.uint(10);
                        });
                    });
                }
                method::SET => {
                    to.named(parameter::WHERE, |to| {
                        to.uint(0);
                    });
                    to.named(parameter::VALUES, |to| {
                        to.list(|to| {
                            to.named(3, |to| {
                                to.bytes(b"pin");
                            });
                        });
                    });
                }
                method::GET_ACL => {
                    to.uid(locking::GLOBAL_RANGE).uid(method::SET);
                }
                method::AUTHENTICATE => {
                    to.uid(authority::SID).named(parameter::PROOF, |to| {
                        to.bytes(b"wrong");
                    });
                }
                method::RANDOM => {
                    to.uint(32);
                }
                _ => {}
            });
            operation(&mut input, 2, &arguments);
            operation(&mut input, 2, &[0xfa]);
            all.push(input);
        }
    }
    let properties = call(Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
        to.named(parameter::HOST_PROPERTIES, |to| {
            to.list(|to| {
                to.token(Token::StartName).bytes(b"MaxComPacketSize").uint(65536).token(Token::EndName);
            });
        });
    });
    let start = call(Uid::SESSION_MANAGER, method::START_SESSION, |to| {
        to.uint(1).uid(sp::LOCKING).uint(1).named(parameter::HOST_CHALLENGE, |to| {
            to.bytes(b"wrong");
        });
        to.named(parameter::HOST_SIGNING_AUTHORITY, |to| {
            to.uid(authority::admin(1));
        });
        to.named(5, |to| {
            to.uint(60_000);
        });
    });
    for payload in [&properties, &start] {
        let mut input = Vec::new();
        operation(&mut input, 4, payload);
        operation(&mut input, 0, &[]);
        // A transaction, ended and not.
        operation(&mut input, 2, &[0xfb, 0]);
        operation(&mut input, 2, &[0xfc, 0]);
        operation(&mut input, 2, &[0xfb, 0]);
        operation(&mut input, 7, &[]);
        all.push(input);
    }
    // Each channel of each protocol, with a request, a whole packet, and nothing.
    let packet = wrap(0x1000, 0, 0, 0, &properties);
    for protocol in 0..4 {
        for low in [0, 1, 4, 5, 255] {
            for bytes in
                [&packet[..], &Request::Verify.write(0x1000, 0), &Request::StackReset.write(0x1000, 0), &[]]
            {
                for high in [0, 0x80] {
                    let mut input = Vec::new();
                    operation(&mut input, 5, &[&[protocol, high, low], bytes].concat());
                    operation(&mut input, 6, &[]);
                    all.push(input);
                }
            }
        }
    }
    all
}

/// What drives answered to a host that looks at everything: recorded, and kept for the fuzzer of `fuzz/`, too.
pub(crate) fn recorded() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/sed_host");
    let mut files: Vec<_> =
        folder.read_dir().expect("kept inputs").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let kept = files.iter().map(|file| std::fs::read(file).expect("a kept input"));
    kept.chain([an_enterprise_drives_answers()]).collect()
}

/// A drive of that SSC with two bands, which the recorded ones are not.
fn an_enterprise_drives_answers() -> Vec<u8> {
    let ssc = BasicSsc { base_com_id: 0x07fe, com_ids: 1, range_crossing_fails: false };
    let features = vec![Feature::Locking(LockingFeature::default()), Feature::Enterprise(ssc)];
    let discovery = Discovery { revision: (0, 1), vendor: [0; 32], features }.write();
    let row = |cells: &[(&str, u64)]| {
        let mut to = Encoder::new();
        write_answer(&mut to, |to| {
            to.list(|to| {
                to.list(|to| {
                    for (name, value) in cells {
                        to.token(Token::StartName).bytes(name.as_bytes());
                        if *name == "LockOnReset" {
                            to.list(|to| {
                                to.uint(*value);
                            });
                        } else {
                            to.uint(*value);
                        }
                        to.token(Token::EndName);
                    }
                });
            });
            Ok(())
        });
        to.as_bytes().to_vec()
    };
    let band = row(&[
        ("RangeStart", 8),
        ("RangeLength", 8),
        ("ReadLockEnabled", 1),
        ("WriteLockEnabled", 1),
        ("ReadLocked", 1),
        ("WriteLocked", 1),
        ("LockOnReset", 0),
    ]);
    let properties = call(Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
        to.list(|to| {
            to.token(Token::StartName).bytes(b"MaxComPacketSize").uint(2048).token(Token::EndName);
        });
    });
    let sync = call(Uid::SESSION_MANAGER, method::SYNC_SESSION, |to| {
        to.uint(1).uint(0x1000);
    });
    let master = row(&[("Enabled", 1)]);
    let end = vec![0xfa];
    let answers =
        [properties, sync, row(&[("MaxRanges", 1)]), band.clone(), master.clone(), band, master, end];
    let mut input = Vec::new();
    let mut piece = |bytes: &[u8]| {
        input.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
        input.extend_from_slice(bytes);
    };
    piece(&discovery);
    answers.iter().for_each(|answer| piece(&[&[1], answer.as_slice()].concat()));
    input
}

/// Makes another input of those that are kept, of so many bytes at most.
pub(crate) fn mutate(random: &mut Random, kept: &[Vec<u8>], longest: usize, input: &mut Vec<u8>) {
    let from =
        |random: &mut Random| kept.get(random.below(kept.len())).map(Vec::as_slice).unwrap_or_default();
    input.clear();
    input.extend_from_slice(from(random));
    for _ in 0..=random.below(5) {
        let other = from(random);
        change(random, other, input);
    }
    input.truncate(longest);
}

/// Bytes that mean something: tokens, lengths, the ends of numbers.
const TELLING: [u8; 24] = [
    0x00, 0x01, 0x02, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0x88, 0xa0, 0xa8, 0xbf, 0xc0, 0xd0, 0xe0, 0xe3, 0xf0,
    0xf1, 0xf2, 0xf3, 0xf8, 0xf9, 0xfa, 0xff,
];

fn change(random: &mut Random, other: &[u8], input: &mut Vec<u8>) {
    let len = input.len();
    if len == 0 {
        input.extend_from_slice(other);
        return;
    }
    let at = random.below(len);
    let end = (at + 1 + random.below(32)).min(len);
    let telling = TELLING.get(random.below(TELLING.len())).copied().unwrap_or(0);
    match random.below(9) {
        0 => input[at] ^= 1 << random.below(8),
        1 => input[at] = telling,
        2 => input[at] = random.next() as u8,
        3 => input[at] = input[at].wrapping_add(if random.below(2) == 0 { 1 } else { 255 }),
        // A number of two or four bytes, at its ends.
        4 => {
            let value = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, len as u32].get(random.below(6)).copied();
            let bytes = value.unwrap_or(0).to_be_bytes();
            let bytes = if random.below(2) == 0 { &bytes[..] } else { &bytes[2..] };
            input.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
        }
        5 => drop(input.drain(at..end)),
        6 => {
            let again = input[at..end].to_vec();
            input.splice(at..at, again);
        }
        7 => input.insert(at, telling),
        // A piece of another one.
        _ if !other.is_empty() => {
            let from = random.below(other.len());
            let piece = other[from..(from + 1 + random.below(300)).min(other.len())].to_vec();
            if random.below(2) == 0 {
                input.splice(at..at, piece);
            } else {
                input.splice(at..end, piece);
            }
        }
        _ => {}
    }
}
