//! A medium lies at every operation of everything that writes a VeraCrypt volume's headers. Whatever was said holds
//! afterwards: done, then both copies are right; failed, then a copy opens, with the secret that was promised.
//!
//! `KEYWAY_SLOW=1 cargo test -p keyway-volume --test lying_veracrypt --test lying_bitlocker -- --nocapture` prints how many
//! lies each verb was told: operations, lies, and what it said: done, as before, changed, failed.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

mod filled_support;
mod lying_support;

use filled_support::fill;
use keyway_engine::{Access, Device, Layout};
use keyway_secret::SecretBytes;
use keyway_store::{MemStore, Store};
use keyway_testkit::Rng;
use keyway_volume::veracrypt::{
    ChangeError, Fill, HeaderChoice, HeaderState, Headers, KeysGuard, NewVolume, RestoreFrom, UnlockRequest,
    change, check, create, create_hidden, header_backup, header_restore, resize, unlock,
};
use keyway_volume::{Format, HashName, Secrets};
use lying_support::{LyingStore, Said, Verb};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

const SIZE: usize = 512 << 10;
/// What a hidden volume's size is here.
const HIDDEN_SIZE: u64 = 128 << 10;
const OUTER: &str = "the password of the outer volume";
const HIDDEN: &str = "the password of the hidden volume";
const NEW: &str = "the new password, of either";

/// Where the four headers are, by the format's specification.
const PLACES: [u64; 4] = [0, 65_536, SIZE as u64 - 131_072, SIZE as u64 - 65_536];

fn secrets(password: &str) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
}

fn quick(secrets: &Secrets) -> NewVolume<'_> {
    let cipher = "aes".parse().expect("a cipher");
    NewVolume { secrets, cipher, hash: HashName::Sha256, fill: Fill::Quick }
}

fn request(secrets: &Secrets) -> UnlockRequest<'_> {
    let (format, hash) = (Some(Format::VeraCrypt), Some(HashName::Sha256));
    UnlockRequest { format, hash, ..UnlockRequest::new(secrets) }
}

/// An outer volume with a hidden one in it.
fn pair() -> Vec<u8> {
    static PAIR: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let store = Arc::new(MemStore::from_vec(Rng::new(3).bytes(SIZE)));
        create(&store, &quick(&secrets(OUTER)), &()).expect("created");
        create_hidden(&store, HIDDEN_SIZE, &quick(&secrets(HIDDEN)), None, &()).expect("created");
        [OUTER, HIDDEN].into_iter().for_each(|password| fill(&store, &request(&secrets(password))));
        store.snapshot()
    });
    PAIR.clone()
}

/// By what lies in the places of headers, the password, and which copy is asked.
type Known = HashMap<(Vec<u8>, String, u8), Option<Layout>>;

/// Opens volumes; what the same headers gave before is not derived again.
#[derive(Default)]
struct Opener(Mutex<Known>);

impl Opener {
    fn layout(&self, store: &Arc<LyingStore>, password: &str, choice: HeaderChoice) -> Option<Layout> {
        let headers = PLACES.into_iter().filter(|at| at + 512 <= store.size());
        let mut headers: Vec<u8> = headers.flat_map(|at| store.bytes(at, 512)).collect();
        for from_end in [131_072, 65_536] {
            headers.extend(store.bytes(store.size() - from_end, 512));
        }
        let mut known = self.0.lock().expect("no panic");
        let key = (headers, password.to_owned(), choice as u8);
        let found = known.entry(key).or_insert_with(|| {
            let secrets = secrets(password);
            let request = UnlockRequest { header: choice, ..request(&secrets) };
            unlock(store.as_ref(), &request).ok().map(|unlocked| unlocked.layout)
        });
        found.clone()
    }

    /// What the volume holds, if it opens.
    fn data(&self, store: &Arc<LyingStore>, password: &str, choice: HeaderChoice) -> Option<Vec<u8>> {
        let layout = self.layout(store, password, choice)?;
        let device = Device::new(Box::new(store.clone()), layout, Access::ReadOnly).expect("fits");
        let mut data = vec![0; device.size() as usize];
        device.read_at(&mut data, 0).expect("read");
        Some(data)
    }

    /// Whether this copy opens, and the volume begins with this.
    fn holds(&self, store: &Arc<LyingStore>, password: &str, choice: HeaderChoice, data: &[u8]) -> bool {
        self.data(store, password, choice).is_some_and(|found| found.starts_with(data))
    }
}

use HeaderChoice::{Auto, Backup, Primary};

fn must(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn said<T>(result: Result<T, ChangeError>) -> Said {
    match result {
        Ok(_) => Said::Done,
        Err(e @ ChangeError::Half { .. }) => Said::Changed(e.to_string()),
        Err(e @ ChangeError::Only { .. }) => Said::Failed(e.to_string()),
        Err(e) => Said::AsBefore(e.to_string()),
    }
}

/// A volume whose secret changes, and one beside it whose secret stays.
struct Changing<'a> {
    opener: Opener,
    before: &'a str,
    after: &'a str,
    other: &'a str,
    data: Vec<u8>,
    others: Vec<u8>,
}

impl<'a> Changing<'a> {
    fn new(image: &[u8], before: &'a str, after: &'a str, other: &'a str) -> Self {
        let opener = Opener::default();
        let store = Arc::new(LyingStore::new(Arc::new(image.to_vec()), 512, None));
        let data = opener.data(&store, before, Auto).expect("opens");
        let others = opener.data(&store, other, Auto).expect("opens");
        Self { opener, before, after, other, data, others }
    }

    fn judge(&self, store: &Arc<LyingStore>, said: &Said) -> Result<(), String> {
        let holds = |password, choice| self.opener.holds(store, password, choice, &self.data);
        let is_old = || must(holds(self.before, Auto), || "the old secret does not open it".to_owned());
        let is_new = || must(holds(self.after, Auto), || "the new secret does not open it".to_owned());
        let other = |choice| self.opener.holds(store, self.other, choice, &self.others);
        match said {
            Said::Done => {
                for choice in [Primary, Backup] {
                    must(holds(self.after, choice), || {
                        format!("{choice:?} does not open with the new secret")
                    })?;
                    let old = self.before != self.after && holds(self.before, choice);
                    must(!old, || format!("{choice:?} opens with the old secret"))?;
                    must(other(choice), || format!("{choice:?} of the other volume does not open"))?;
                }
                let secrets = secrets(self.after);
                let checks = check(store.as_ref(), &request(&secrets)).map_err(|e| e.to_string())?;
                let good = checks.len() == 2 && checks.iter().all(|c| matches!(c.state, HeaderState::Good));
                must(good, || format!("`header check` says {checks:?}"))
            }
            Said::AsBefore(_) => is_old(),
            Said::Changed(_) => is_new(),
            Said::Failed(_) => is_old().or_else(|_| is_new()),
        }?;
        must(other(Auto), || "the other volume does not open".to_owned())
    }
}

fn changing(name: &str, before: &str, other: &str) {
    let image = pair();
    let volume = Changing::new(&image, before, NEW, other);
    let (old, new) = (secrets(before), secrets(NEW));
    let verb = Verb {
        name,
        image: Arc::new(image),
        elsewhere: &PLACES,
        run: &|store| said(change(store, &request(&old), &new, None)),
        judge: &|store, said| volume.judge(store, said),
    };
    verb.lie_everywhere();
}

#[test]
fn changing_the_outer_volumes_password() {
    changing("change a password", OUTER, HIDDEN);
}

#[test]
fn changing_the_hidden_volumes_password() {
    changing("change a hidden volume's password", HIDDEN, OUTER);
}

fn backup_of(image: &[u8], to: &Path) {
    let store = MemStore::from_vec(image.to_vec());
    header_backup(&store, &request(&secrets(OUTER)), Some(&secrets(HIDDEN)), to).expect("backed up");
}

#[test]
fn restoring_from_a_file() {
    let folder = tempfile::tempdir().expect("temp");
    let file = folder.path().join("headers");
    let image = pair();
    backup_of(&image, &file);
    let store = MemStore::from_vec(image);
    change(&store, &request(&secrets(OUTER)), &secrets(NEW), None).expect("changed");
    let image = store.snapshot();
    let volume = Changing::new(&image, NEW, OUTER, HIDDEN);
    let old = secrets(OUTER);
    let verb = Verb {
        name: "restore headers from a file",
        image: Arc::new(image),
        elsewhere: &PLACES,
        run: &|store| said(header_restore(store, RestoreFrom::File(&file), &request(&old), KeysGuard::Same)),
        judge: &|store, said| volume.judge(store, said),
    };
    verb.lie_everywhere();
}

#[test]
fn restoring_the_embedded_copy() {
    let mut image = pair();
    image[..512].copy_from_slice(&Rng::new(5).bytes(512));
    let volume = Changing::new(&image, OUTER, OUTER, HIDDEN);
    let old = secrets(OUTER);
    let verb = Verb {
        name: "repair the primary header",
        image: Arc::new(image),
        elsewhere: &PLACES,
        run: &|store| said(header_restore(store, RestoreFrom::Embedded, &request(&old), KeysGuard::Same)),
        judge: &|store, said| volume.judge(store, said),
    };
    verb.lie_everywhere();
}

#[test]
fn backing_headers_up() {
    let folder = tempfile::tempdir().expect("temp");
    let file = folder.path().join("headers");
    let (outer, hidden) = (secrets(OUTER), secrets(HIDDEN));
    let verb = Verb {
        name: "back headers up (reads)",
        image: Arc::new(pair()),
        elsewhere: &[],
        run: &|store| said(header_backup(store, &request(&outer), Some(&hidden), &file)),
        judge: &|_, said| {
            let made = file.exists();
            must(made == (*said == Said::Done), || format!("the file is there: {made}"))?;
            if made {
                // Both volumes come back, where all four headers are lost.
                let mut lost = pair();
                PLACES.iter().for_each(|at| lost[*at as usize..][..512].fill(7));
                let store = MemStore::from_vec(lost);
                for secrets in [&outer, &hidden] {
                    let from = RestoreFrom::File(&file);
                    let restored = header_restore(&store, from, &request(secrets), KeysGuard::Same);
                    restored.map_err(|e| e.to_string())?;
                    unlock(&store, &request(secrets)).map_err(|e| e.to_string())?;
                }
                std::fs::remove_file(&file).map_err(|e| e.to_string())?;
            }
            Ok(())
        },
    };
    verb.lie_everywhere();
}

/// Over an old pair of volumes: none of its headers may be left where it says that it is done.
#[test]
fn making_a_volume() {
    let (new, opener) = (secrets(NEW), Opener::default());
    for (name, fill) in [("create, quick", Fill::Quick), ("create", Fill::Random)] {
        let wish = NewVolume { fill, ..quick(&new) };
        let verb = Verb {
            name,
            image: Arc::new(pair()),
            elsewhere: &PLACES,
            run: &|store| match create(store.as_ref(), &wish, &()) {
                Ok(_) => Said::Done,
                Err(e) => Said::Failed(e.to_string()),
            },
            judge: &|store, said| {
                if *said != Said::Done {
                    return Ok(());
                }
                for choice in [Primary, Backup] {
                    let opens = |password| opener.layout(store, password, choice).is_some();
                    must(opens(NEW), || format!("{choice:?} does not open"))?;
                    must(!opens(OUTER) && !opens(HIDDEN), || format!("{choice:?} of an old volume opens"))?;
                }
                Ok(())
            },
        };
        verb.lie_everywhere();
    }
}

#[test]
fn making_a_hidden_volume() {
    let image = pair();
    let (new, opener) = (secrets(NEW), Opener::default());
    let store = Arc::new(LyingStore::new(Arc::new(image.clone()), 512, None));
    let mut files = opener.data(&store, OUTER, Auto).expect("opens");
    // They lie before the hidden volume.
    files.truncate(96 << 10);
    let verb = Verb {
        name: "create a hidden volume",
        image: Arc::new(image),
        elsewhere: &PLACES,
        run: &|store| match create_hidden(store.as_ref(), HIDDEN_SIZE, &quick(&new), None, &()) {
            Ok(_) => Said::Done,
            Err(e) => Said::Failed(e.to_string()),
        },
        judge: &|store, said| {
            must(opener.holds(store, OUTER, Auto, &files), || "the outer volume does not open".to_owned())?;
            if *said != Said::Done {
                return Ok(());
            }
            for choice in [Primary, Backup] {
                let opens = |password| opener.layout(store, password, choice).is_some();
                must(opens(NEW), || format!("{choice:?} does not open"))?;
                must(opens(OUTER), || format!("{choice:?} of the outer volume does not open"))?;
                must(!opens(HIDDEN), || format!("{choice:?} of the old hidden volume opens"))?;
            }
            Ok(())
        },
    };
    verb.lie_everywhere();
}

#[test]
fn destroying_headers() {
    let (outer, opener) = (secrets(OUTER), Opener::default());
    let verb = Verb {
        name: "destroy the headers",
        image: Arc::new(pair()),
        elsewhere: &PLACES,
        run: &|store| {
            let erased = Headers::find(store.as_ref(), &request(&outer)).map_err(|e| e.to_string());
            match erased.and_then(|headers| headers.erase(store.as_ref()).map_err(|e| e.to_string())) {
                Ok(()) => Said::Done,
                Err(e) => Said::Failed(e),
            }
        },
        judge: &|store, said| {
            let opens = |password| opener.layout(store, password, Auto).is_some();
            let left = *said == Said::Done && (opens(OUTER) || opens(HIDDEN));
            must(!left, || "a header is left that opens".to_owned())
        },
    };
    verb.lie_everywhere();
}

/// In a file that has been made larger for it: the old backup header is in the data area then.
#[test]
fn making_a_volume_larger() {
    let mut image = pair();
    image.resize(2 * SIZE, 0);
    let opener = Opener::default();
    let store = Arc::new(LyingStore::new(Arc::new(image.clone()), 512, None));
    let data = opener.data(&store, OUTER, Auto).expect("opens");
    let (outer, bytes) = (secrets(OUTER), image.len() as u64);
    let verb = Verb {
        name: "make a volume larger",
        image: Arc::new(image),
        // Over the headers in front, and over the old ones at the end: whole areas, with no content in them.
        elsewhere: &[0, SIZE as u64 - 131_072],
        run: &|store| match resize(store.as_ref(), &request(&outer), bytes, false, &()) {
            Ok(_) => Said::Done,
            Err(e) => Said::Failed(e.to_string()),
        },
        judge: &|store, said| {
            let cut = Arc::new(LyingStore::new(Arc::new(store.bytes(0, SIZE)), 512, None));
            // The old backup header opens the file at its old size, where a write has strayed over the front.
            let opens = [store, &cut].iter().any(|store| opener.holds(store, OUTER, Auto, &data));
            must(opens, || "it does not open".to_owned())?;
            if *said != Said::Done {
                return Ok(());
            }
            let size = |choice| opener.layout(store, OUTER, choice).map(|layout| layout.size());
            let wanted = Some(bytes - (256 << 10));
            must(size(Primary) == wanted && size(Backup) == wanted, || "a copy does not open".to_owned())?;
            must(opener.layout(&cut, OUTER, Backup).is_none(), || "the old backup header is left".to_owned())
        },
    };
    verb.lie_everywhere();
}
