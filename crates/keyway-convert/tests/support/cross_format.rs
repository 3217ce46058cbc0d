//! Conversions from one format to the other: what they begin with, and what is right in the end.

use super::bitlocker::{Case as BitLocker, key, opened as bitlocker_opened, startup_key};
use super::case::{NEW, OLD, opened as veracrypt_opened, secrets, wish};
use super::{Medium, Part};
use keyway_convert::cross_format::{
    BothSecrets, CrossFormatMedium, CrossFormatPlan, Direction, find, how_far, settle,
};
use keyway_convert::{ConvertError, Progress, Stopped};
use keyway_engine::{Access, Device, Layout};
use keyway_store::{MemStore, Store, StoreError, pass_on};
use keyway_testkit::Rng;
use keyway_volume::bitlocker::{InPlace, Method, NewProtectors, StartupKey, UnlockRequest};
use keyway_volume::veracrypt::create;
use std::collections::HashSet;
use std::sync::Arc;

/// A conversion, and what it begins and ends with.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) plan: CrossFormatPlan,
    /// The medium, and behind it the journal's file.
    pub(crate) image: Vec<u8>,
    pub(crate) size: usize,
    /// What is in it.
    pub(crate) plain: Vec<u8>,
    /// What opens the BitLocker volume.
    pub(crate) key: Vec<u8>,
    /// Beginnings of the content's sectors.
    sectors: HashSet<[u8; 16]>,
}

fn read_all(store: &Arc<dyn Store>, layout: &Layout) -> Vec<u8> {
    let device = Device::new(Box::new(store.clone()), layout.clone(), Access::ReadOnly).expect("fits");
    let mut content = vec![0; device.size() as usize];
    device.read_at(&mut content, 0).expect("read");
    content
}

/// The password of the VeraCrypt volume: it has another when it is new.
fn password(direction: Direction) -> &'static str {
    if direction == Direction::ToBitLocker { OLD } else { NEW }
}

impl Case {
    /// A VeraCrypt volume of that size becomes a BitLocker volume.
    pub(crate) fn to_bitlocker(name: &'static str, size: usize, method: Method) -> Self {
        let store = Arc::new(MemStore::from_vec(Rng::new(2).bytes(size)));
        create(&store, &wish(&secrets(OLD), "aes"), &()).expect("created");
        let unlocked = veracrypt_opened(&store, OLD);
        let device = Device::new(Box::new(store.clone()), unlocked.layout.clone(), Access::ReadWrite);
        let device = device.expect("fits");
        let plain = Rng::new(3).bytes(device.size() as usize);
        device.write_at(&plain, 0).expect("written");
        let key = StartupKey::random().expect("random").to_bytes().to_vec();
        let protectors = NewProtectors { startup_key: Some(startup_key(&key)), ..NewProtectors::default() };
        let new = InPlace { protectors: &protectors, method, used_space_only: false, description: "a test" };
        let plan =
            CrossFormatPlan::to_bitlocker(&store, &unlocked, &new, "the journal".into()).expect("planned");
        Self::of(name, plan, store.snapshot(), plain, key)
    }

    /// A BitLocker volume on that medium becomes a VeraCrypt volume with so many bytes of it.
    pub(crate) fn to_veracrypt(name: &'static str, image: Vec<u8>, content: u64, key: Vec<u8>) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(image.clone()));
        let unlocked = bitlocker_opened(&store, &key);
        let mut plain = read_all(&store, &unlocked.layout);
        plain.truncate(content as usize);
        let new = secrets(NEW);
        let wish = wish(&new, "serpent");
        let plan = CrossFormatPlan::to_veracrypt(&store, unlocked, content, &wish, "the journal".into());
        Self::of(name, plan.expect("planned"), image, plain, key)
    }

    fn of(
        name: &'static str,
        plan: CrossFormatPlan,
        mut image: Vec<u8>,
        plain: Vec<u8>,
        key: Vec<u8>,
    ) -> Self {
        let size = image.len();
        image.resize(size + plan.mark().place().file_bytes() as usize, 0);
        let sectors = plain.chunks(512).filter_map(|sector| sector.first_chunk().copied());
        let sectors = sectors.filter(|start| *start != [0; 16]).collect();
        Self { name, plan, image, size, plain, key, sectors }
    }

    /// All that differ: sizes of whole pages and odd ones, metadata in front, in the middle and behind the content.
    pub(crate) fn all() -> Vec<Self> {
        let there = Self::to_bitlocker("to BitLocker", 1 << 20, Method::Xts128);
        let whole = MemStore::from_vec(there.image.clone());
        assert_eq!(there.begin(&whole, &()).expect("nothing fails"), Stopped::Done);
        let mut encrypted = whole.snapshot();
        encrypted.truncate(there.size);
        let (content, key) = (there.plain.len() as u64, there.key.clone());
        let back = Self::to_veracrypt("and back", encrypted, content, key);
        let odd = Self::to_bitlocker("to BitLocker, an odd size", (1 << 20) + 3 * 512, Method::Cbc256);
        let behind = BitLocker::decryption("", false, false).expect("needs no tool");
        let content = behind.file_system_bytes.next_multiple_of(4096);
        let behind =
            Self::to_veracrypt("to VeraCrypt, metadata at the end", behind.image, content, behind.key);
        let inside = BitLocker::decryption("", true, false).map(|case| {
            let mut image = case.image;
            image.resize(image.len() + (256 << 10), 0);
            Self::to_veracrypt("to VeraCrypt, metadata in a FAT, larger", image, 4 << 20, case.key)
        });
        [there, back, odd, behind].into_iter().chain(inside).collect()
    }

    pub(crate) fn direction(&self) -> Direction {
        self.plan.mark().direction
    }

    /// What is converted, and the journal's file.
    pub(crate) fn parts<'a>(&self, medium: &'a dyn Medium) -> (Part<'a>, Part<'a>) {
        let part = |range| Part { medium, range };
        (part(0..self.size as u64), part(self.size as u64..medium.size()))
    }

    pub(crate) fn begin(
        &self,
        medium: &dyn Medium,
        progress: &dyn Progress,
    ) -> Result<Stopped, ConvertError> {
        let (store, file) = self.parts(medium);
        self.plan.run(&self.plan.conversion(&store, &file)?, progress)
    }

    /// Goes on with what is found; `None` where nothing is.
    pub(crate) fn resume(&self, medium: &dyn Medium) -> Option<Result<Stopped, ConvertError>> {
        let (store, file) = self.parts(medium);
        let found = match find(&store) {
            Ok(found) => found?,
            Err(e) => return Some(Err(e.into())),
        };
        assert_eq!(&found.mark, self.plan.mark());
        if !found.in_front {
            match settle(&store, &file, &found.mark) {
                Ok(CrossFormatMedium::HalfConverted) => {}
                Ok(CrossFormatMedium::Untouched | CrossFormatMedium::Done) => return Some(Ok(Stopped::Done)),
                Err(e) => return Some(Err(e)),
            }
        }
        if let Err(e) = how_far(&found.mark, &store, &file) {
            return Some(Err(e));
        }
        Some(self.plan.conversion(&store, &file).and_then(|conversion| conversion.run(true, &())))
    }

    /// As a process that knows nothing but the secrets.
    pub(crate) fn resume_anew(&self, medium: &dyn Medium) -> Result<Stopped, ConvertError> {
        let (store, file) = self.parts(medium);
        let found = find(&store)?.expect("there");
        let (own, key) = (secrets(password(self.direction())), key(&self.key));
        let both = BothSecrets { veracrypt: &own, bitlocker: &UnlockRequest::new(&key) };
        let plan = CrossFormatPlan::resume(&store, &file, found.mark, &both)?;
        plan.run(&plan.conversion(&store, &file)?, &())
    }

    /// Everything is converted, every byte of it right, and nothing of the conversion left on the medium.
    pub(crate) fn is_done(&self, medium: &[u8]) -> Result<(), String> {
        let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let store: Arc<dyn Store> = Arc::new(MemStore::from_vec(medium[..self.size].to_vec()));
        check(find(&store).expect("read").is_none(), "the conversion is still found")?;
        let is_bitlocker = keyway_volume::bitlocker::is_volume(&store).expect("read");
        let content = match self.direction() {
            Direction::ToBitLocker => {
                check(is_bitlocker, "it is no BitLocker volume")?;
                let unlocked = bitlocker_opened(&store, &self.key);
                check(unlocked.warnings.is_empty(), "there are warnings")?;
                check(unlocked.info.percentage_encrypted == 100.0, "not all of it is encrypted")?;
                read_all(&store, &unlocked.layout)
            }
            Direction::ToVeraCrypt => {
                check(!is_bitlocker, "it is a BitLocker volume")?;
                read_all(&store, &veracrypt_opened(&store, NEW).layout)
            }
        };
        check(content[..self.plain.len()] == self.plain, "the content is wrong")?;
        let id = &self.plan.mark().id;
        check(medium[..4096].windows(16).all(|w| w != id), "something of the marker is left in front")?;
        self.is_secret(medium)
    }

    /// Whether it is the volume that it was.
    pub(crate) fn is_untouched(&self, medium: &[u8]) -> bool {
        // But for the marker and the heads of the journal's records, where nobody has anything.
        let heads = self.plan.mark().place().heads;
        let (first, end) = (heads[0] as usize, heads[heads.len() - 1] as usize + 4096);
        [0..first, end..self.size - 4096].into_iter().all(|kept| medium[kept.clone()] == self.image[kept])
    }

    /// No sector of the content lies open anywhere, the journal's file included.
    pub(crate) fn is_secret(&self, medium: &[u8]) -> Result<(), String> {
        let open = |sector: &[u8]| sector.first_chunk().is_some_and(|start| self.sectors.contains(start));
        let found = medium.chunks(512).position(open);
        found.map_or(Ok(()), |at| Err(format!("sector {at} lies open")))
    }
}

/// A medium that looks at everything that is written.
pub(crate) struct Eavesdropper<'a> {
    pub(crate) case: &'a Case,
    pub(crate) below: MemStore,
}

impl Medium for Eavesdropper<'_> {}

impl Store for Eavesdropper<'_> {
    pass_on! { [below] read_at flush discard size sector_bytes is_read_only }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.case.is_secret(buf).unwrap_or_else(|open| panic!("written at {offset}: {open}"));
        self.below.write_at(buf, offset)
    }
}
