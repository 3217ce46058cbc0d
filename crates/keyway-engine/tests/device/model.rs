//! Random layouts and random requests against a vector of bytes.

use crate::cipher;
use keyway_engine::{Access, Device, DeviceError, Layout, Mapping, Segment};
use keyway_store::{MemStore, Store};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Zero,
    Encrypted,
}

#[derive(Debug, Clone)]
struct Plan {
    sector: u32,
    unit: u32,
    /// Kind and length in units of the larger of sector and unit.
    segments: Vec<(Kind, u64)>,
    /// The segments lie in the store in reverse, this many bytes apart.
    gap: u64,
    first_unit: u64,
}

#[derive(Debug, Clone)]
enum Request {
    Read(u64, u64),
    Write(u64, u64, u8),
    Zero(u64, u64),
    Discard(u64, u64),
    Flush,
}

fn plan() -> impl Strategy<Value = Plan> {
    let kind = prop_oneof![2 => Just(Kind::Encrypted), 1 => Just(Kind::Plain), 1 => Just(Kind::Zero)];
    (
        prop_oneof![Just(512u32), Just(1024), Just(4096)],
        prop_oneof![Just(512u32), Just(4096)],
        prop::collection::vec((kind, 1u64..20), 1..5),
        prop_oneof![Just(0u64), Just(512), Just(77_824)],
        prop_oneof![Just(0u64), Just(256), Just(1 << 40)],
    )
        .prop_map(|(sector, unit, segments, gap, first_unit)| Plan {
            sector,
            unit,
            segments,
            gap,
            first_unit,
        })
}

/// Offsets and lengths in 65,536ths of the volume, so that they suit every size.
fn request() -> impl Strategy<Value = Request> {
    let place = || (0u64..=65_536, 0u64..=65_536, any::<bool>());
    let place = move || place().prop_map(|(at, len, small)| if small { (at, len / 64) } else { (at, len) });
    prop_oneof![
        4 => place().prop_map(|(at, len)| Request::Read(at, len)),
        4 => (place(), any::<u8>()).prop_map(|((at, len), byte)| Request::Write(at, len, byte)),
        1 => place().prop_map(|(at, len)| Request::Zero(at, len)),
        1 => place().prop_map(|(at, len)| Request::Discard(at, len)),
        1 => Just(Request::Flush),
    ]
}

struct Built {
    device: Device,
    medium: Arc<MemStore>,
    segments: Vec<Segment>,
    size: u64,
}

fn build(plan: &Plan) -> Built {
    let step = u64::from(plan.sector.max(plan.unit));
    let cipher = cipher(3, plan.unit);
    let total: u64 = plan.segments.iter().map(|(_, n)| n * step + plan.gap).sum();
    let (mut at, mut below) = (0, total);
    let mut segments = Vec::new();
    for (kind, units) in &plan.segments {
        let len = units * step;
        below -= len + plan.gap;
        let mapping = match kind {
            Kind::Plain => Mapping::Plain { store_offset: below },
            Kind::Zero => Mapping::Zero,
            Kind::Encrypted => Mapping::Encrypted {
                store_offset: below,
                first_unit: plan.first_unit,
                cipher: cipher.clone(),
            },
        };
        segments.push(Segment { start: at, len, mapping });
        at += len;
    }
    let medium = Arc::new(MemStore::new(total as usize));
    let layout = Layout::new(plan.sector, segments.clone()).unwrap();
    let device = Device::new(Box::new(medium.clone()), layout, Access::ReadWrite).unwrap();
    Built { device, medium, segments, size: at }
}

impl Built {
    fn place(&self, at: u64, len: u64) -> (u64, usize) {
        let at = at * self.size / 65_536;
        (at, (len * self.size / 65_536).min(self.size - at) as usize)
    }

    /// Where the device must refuse to write.
    fn zeros(&self) -> impl Iterator<Item = Range<u64>> {
        self.segments.iter().filter(|s| matches!(s.mapping, Mapping::Zero)).map(|s| s.start..s.start + s.len)
    }

    fn read_all(&self) -> Vec<u8> {
        let mut all = vec![0xee; self.size as usize];
        self.device.read_at(&mut all, 0).unwrap();
        all
    }

    /// What lies on the medium, decrypted segment by segment without the device.
    fn medium_says(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for segment in &self.segments {
            let mut bytes = vec![0; segment.len as usize];
            match &segment.mapping {
                Mapping::Zero => {}
                Mapping::Plain { store_offset } => self.medium.read_at(&mut bytes, *store_offset).unwrap(),
                Mapping::Encrypted { store_offset, first_unit, cipher } => {
                    self.medium.read_at(&mut bytes, *store_offset).unwrap();
                    cipher.decrypt_sectors(&mut bytes, *first_unit);
                }
            }
            all.extend(bytes);
        }
        all
    }
}

/// Applies a write to the model. Of what meets zeros, zeros are nothing to refuse; anything else is refused, its first
/// byte named, and all that lies elsewhere is written nevertheless.
fn applied(
    built: &Built,
    model: &mut [u8],
    at: u64,
    new: &[u8],
    done: Result<(), DeviceError>,
) -> Result<(), TestCaseError> {
    let mut refused = None;
    for (place, byte) in (at..).zip(new) {
        if !built.zeros().any(|zeros| zeros.contains(&place)) {
            model[place as usize] = *byte;
        } else if *byte != 0 {
            refused = refused.or(Some(place));
        }
    }
    match (done, refused) {
        (Ok(()), None) => {}
        (Err(DeviceError::Metadata(first)), Some(place)) => prop_assert_eq!(first, place),
        (done, refused) => prop_assert!(false, "{:?} where {:?} was to be refused", done, refused),
    }
    let end = at as usize + new.len();
    prop_assert!(built.read_all()[..end] == model[..end], "{} bytes at {}", new.len(), at);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_request_on_any_layout_does_what_it_would_on_bytes(
        plan in plan(),
        requests in prop::collection::vec(request(), 1..40),
    ) {
        let built = build(&plan);
        let mut model = built.read_all();
        for request in requests {
            match request {
                Request::Read(at, len) => {
                    let (at, len) = built.place(at, len);
                    let mut got = vec![0xa5; len];
                    built.device.read_at(&mut got, at).unwrap();
                    prop_assert!(got == model[at as usize..at as usize + len], "read {} at {}", len, at);
                }
                Request::Write(at, len, byte) => {
                    let (at, len) = built.place(at, len);
                    let new: Vec<u8> = (0..len).map(|i| byte.wrapping_add(i as u8)).collect();
                    let done = if byte % 2 == 0 {
                        built.device.write_at(&new, at)
                    } else {
                        built.device.write_and_spoil(&mut new.clone(), at)
                    };
                    applied(&built, &mut model, at, &new, done)?;
                }
                Request::Zero(at, len) => {
                    let (at, len) = built.place(at, len);
                    let done = built.device.write_zeroes(at, len as u64);
                    applied(&built, &mut model, at, &vec![0; len], done)?;
                }
                Request::Discard(at, len) => {
                    let (at, len) = built.place(at, len);
                    built.device.discard(at, len as u64).unwrap();
                }
                Request::Flush => built.device.flush().unwrap(),
            }
        }
        prop_assert!(built.read_all() == model);
        prop_assert!(built.medium_says() == model, "the medium disagrees with the device");
    }

    #[test]
    fn a_guarded_range_never_changes_and_one_hit_ends_all_writing(
        at in 0u64..100_000,
        len in 1u64..9000,
        way in 0..3,
    ) {
        const SIZE: u64 = 131_072;
        let guard = 40_960..61_440u64;
        let segment = Mapping::Encrypted { store_offset: 0, first_unit: 256, cipher: cipher(1, 512) };
        let layout = Layout::new(512, vec![Segment { start: 0, len: SIZE, mapping: segment }]).unwrap();
        let medium = Arc::new(MemStore::new(SIZE as usize));
        let layout = layout.guarding(guard.clone());
        let device = Device::new(Box::new(medium.clone()), layout, Access::ReadWrite).unwrap();
        let before = medium.snapshot();
        let done = match way {
            0 => device.write_zeroes(at, len),
            1 => device.write_at(&vec![7; len as usize], at),
            _ => device.write_and_spoil(&mut vec![7; len as usize], at),
        };
        // Whole units are written, so whoever shares a unit with the guard touches it.
        let (from, to) = (at / 512 * 512, (at + len).next_multiple_of(512));
        let hits = from < guard.end && to > guard.start;
        let guarded = guard.start as usize..guard.end as usize;
        prop_assert!(medium.snapshot()[guarded.clone()] == before[guarded]);
        if hits {
            prop_assert!(matches!(done, Err(DeviceError::HiddenVolume)));
            prop_assert!(medium.snapshot() == before, "nothing of a refused write arrives");
            prop_assert!(device.guard_hit() && device.is_read_only());
            prop_assert!(matches!(device.write_at(&[1; 512], 0), Err(DeviceError::HiddenVolume)));
            prop_assert!(matches!(device.discard(0, 512), Err(DeviceError::HiddenVolume)));
        } else {
            prop_assert!(done.is_ok());
            prop_assert!(!device.guard_hit());
            device.write_at(&[1; 512], 0).unwrap();
        }
        device.read_at(&mut [0; 512], guard.start).unwrap();
    }
}
