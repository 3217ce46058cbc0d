//! A conversion of a small volume: what it begins with, and how its end is judged.

use keyway_convert::veracrypt::{self, Plan};
use keyway_convert::{ConvertError, Kind, Marker, Stopped, find};
use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    Fill, HEADERS_BYTES, HashName, NewVolume, Place, UnlockRequest, Unlocked, create, unlock,
};
use keyway_volume::{Format, Secrets};
use std::sync::Arc;

pub(crate) const SIZE: usize = 1 << 20;
pub(crate) const OLD: &str = "the old password of the volume";
pub(crate) const NEW: &str = "the new password of the volume";

pub(crate) fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
}

pub(crate) fn wish<'a>(secrets: &'a Secrets, cipher: &str) -> NewVolume<'a> {
    let cipher = cipher.parse().expect("a cipher");
    NewVolume { secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick }
}

pub(crate) fn opened(store: &dyn Store, password: &str) -> Unlocked {
    let secrets = secrets(password);
    let (format, hash) = (Some(Format::VeraCrypt), Some(HashName::Sha512));
    unlock(store, &UnlockRequest { format, hash, ..UnlockRequest::new(&secrets) }).expect("opens")
}

/// A conversion, what it begins with, and what its content is.
pub(crate) struct Case {
    pub(crate) plan: Plan,
    pub(crate) image: Vec<u8>,
    pub(crate) plain: Vec<u8>,
}

impl Case {
    pub(crate) fn new(kind: Kind) -> Self {
        let plan = match kind {
            Kind::Encryption => Self::encryption(),
            Kind::Decryption => Self::of_a_volume(|store, opened| veracrypt::decryption(store, opened, None)),
            Kind::Reencryption => Self::of_a_volume(|store, opened| {
                let new = secrets(NEW);
                veracrypt::reencryption(store, opened, &wish(&new, "serpent"), None)
            }),
        };
        // Small segments, so that there are many of them.
        let mut plan = plan;
        plan.plan.marker.place.segment_bytes = 48 << 10;
        plan
    }

    fn encryption() -> Self {
        let moved = veracrypt::room(SIZE as u64, true);
        let image = Rng::new(1).bytes(SIZE);
        let plain = image[..moved as usize].to_vec();
        let (store, new) = (MemStore::from_vec(image.clone()), secrets(NEW));
        let plan = veracrypt::encryption(&store, moved, &wish(&new, "aes"), None).expect("planned");
        Self { plan, image, plain }
    }

    fn of_a_volume(plan: impl Fn(&dyn Store, &Unlocked) -> Result<Plan, ConvertError>) -> Self {
        let store = Arc::new(MemStore::from_vec(Rng::new(2).bytes(SIZE)));
        create(&store, &wish(&secrets(OLD), "aes"), &()).expect("created");
        let unlocked = opened(&store, OLD);
        let device = Device::new(Box::new(store.clone()), unlocked.layout.clone(), Access::ReadWrite);
        let device = device.expect("fits");
        let plain = Rng::new(3).bytes(device.size() as usize);
        device.write_at(&plain, 0).expect("written");
        let plan = plan(&store, &unlocked).expect("planned");
        Self { plan, image: store.snapshot(), plain }
    }

    /// From the beginning to wherever it ends.
    pub(crate) fn begin(&self, store: &dyn Store) -> Result<Stopped, ConvertError> {
        let conversion = self.plan.conversion(store, None)?;
        self.plan.begin(&conversion)?;
        conversion.run(false, &())
    }

    /// Goes on with what is found; `None` where nothing is.
    pub(crate) fn resume(&self, store: &dyn Store) -> Option<Result<Stopped, ConvertError>> {
        let found = match find(store) {
            Ok(found) => found?,
            Err(e) => return Some(Err(e.into())),
        };
        assert_eq!(found.marker.to_bytes(), self.plan.marker.to_bytes());
        let conversion = self.plan.conversion(store, None).expect("random");
        Some(conversion.run(found.in_front, &()))
    }

    /// Whether it is as it was before, data and headers.
    pub(crate) fn is_untouched(&self, medium: &[u8]) -> bool {
        // What the journal is in was nobody's: padding, or behind the file system.
        let kept = match self.plan.marker.kind {
            Kind::Encryption => 0..self.plain.len(),
            Kind::Decryption => 0..SIZE - 131_072 + 512,
            Kind::Reencryption => HEADERS_BYTES as usize..SIZE - 131_072 + 512,
        };
        medium[kept.clone()] == self.image[kept] && medium[..512] == self.image[..512]
    }

    /// Its content when everything is converted.
    pub(crate) fn content(&self, medium: &[u8]) -> Vec<u8> {
        let Some(key) = &self.plan.keys.new else { return medium[..self.plain.len()].to_vec() };
        let mut content = medium[HEADERS_BYTES as usize..][..self.plain.len()].to_vec();
        key.cipher.decrypt_sectors(&mut content, key.first_unit);
        content
    }

    /// Everything is converted, and nothing of the conversion is left.
    pub(crate) fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        if self.content(medium) != self.plain {
            return Err("the content is wrong".to_owned());
        }
        self.is_clean(medium)
    }

    /// Nothing of the conversion is left around the content.
    pub(crate) fn is_clean(&self, medium: &[u8]) -> Result<(), String> {
        let Marker { kind, new, .. } = &self.plan.marker;
        let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        if *kind == Kind::Decryption {
            let (_, rest) = medium.split_at(self.plain.len());
            let (rest, last) = rest.split_at(rest.len() - 4096);
            check(rest.iter().all(|byte| *byte == 0), "something is left behind the content")?;
            return check(Marker::parse(last).is_none(), "the conversion is still found");
        }
        for (place, header) in [Place::Primary, Place::BackupPrimary].into_iter().zip(new) {
            let at = place.offset(SIZE as u64).expect("large enough") as usize;
            check(medium[at..at + 512] == *header.bytes(), &format!("the {place} is wrong"))?;
        }
        // A last page that was torn while it was wiped is found by nobody and tells nothing.
        let found = find(&MemStore::from_vec(medium.to_vec())).expect("read");
        check(found.is_none(), "the conversion is still found")?;
        let id = &self.plan.marker.id;
        check(medium[..4096].windows(16).all(|w| w != id), "something of the marker is left in front")?;
        self.is_secret(medium)
    }

    /// No sector of the content, and none of the noise that was around it, lies open anywhere.
    fn is_secret(&self, medium: &[u8]) -> Result<(), String> {
        let starts = |bytes: &[u8]| {
            bytes
                .chunks(512)
                .filter_map(|s| s.first_chunk::<16>().copied())
                .collect::<std::collections::HashSet<_>>()
        };
        let plain = starts(&self.plain);
        let open = medium.chunks(512).position(|s| s.first_chunk::<16>().is_some_and(|s| plain.contains(s)));
        open.map_or(Ok(()), |at| Err(format!("sector {at} lies open")))
    }
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Encryption, Kind::Decryption, Kind::Reencryption];
