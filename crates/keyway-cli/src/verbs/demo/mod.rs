//! `demo`: a tour that makes volumes in a temporary folder, uses them, measures and cleans up.

mod volumes;

use super::{bench, lab};
use crate::failure::Failure;
use crate::output::{Output, bytes};
use crate::volume;
use keyway::session::{Attachment, NbdAddress, Need, Wish};
use keyway_engine::{Access, Device};
use keyway_fs::mkfs::{self, FileSystem};
use keyway_store::Caching;
use keyway_volume::veracrypt::{self, Fill, Target};
use lab::OutputFile;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use volumes::{
    Folder, compare, create, differs, new_volume, noise, open, secrets, through_file, through_nbd, which,
};

/// Bytes that are written into each volume and read back.
const DATA_BYTES: usize = 4 << 20;
/// Bytes written or read by one request.
const PIECE: usize = 256 << 10;
/// Size of a volume's file in bytes.
const VOLUME_BYTES: u64 = 16 << 20;
/// Size of the hidden volume in bytes.
const HIDDEN_BYTES: u64 = 6 << 20;
/// The tour's password; the volumes live for a minute.
const PASSWORD: &[u8] = b"a tour through the keyway";
/// The hidden volume's.
const HIDDEN_PASSWORD: &[u8] = b"what the tour does not show";

/// Take the tour: make volumes in a temporary folder, open, write, verify, measure, clean up
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway demo
  $ keyway demo --report /tmp/report.html --json")]
pub(crate) struct Args {
    /// Where the page with the measurements goes [default: report.html]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What the tour tells with `--json`.
#[derive(Serialize)]
struct Document {
    steps: Vec<Step>,
    skipped: Vec<Skipped>,
    unlock_ms: Option<f64>,
    ciphers: Vec<keyway_lab::bench::CipherRow>,
    memcpy_mb_s: f64,
    /// What encryption costs on the drive under the temporary folder, as `lab compare` tells it.
    laboratory: Option<keyway_lab::Document>,
    report: Option<PathBuf>,
}

#[derive(Serialize)]
struct Step {
    name: &'static str,
    ms: f64,
    found: String,
}

#[derive(Serialize)]
struct Skipped {
    what: &'static str,
    why: String,
}

/// The tour so far.
struct Tour {
    out: Output,
    folder: Folder,
    document: Document,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let began = Instant::now();
    let document = Document {
        steps: Vec::new(),
        skipped: Vec::new(),
        unlock_ms: None,
        ciphers: Vec::new(),
        memcpy_mb_s: 0.0,
        laboratory: None,
        report: None,
    };
    // Before anything is made: a page of somebody else's is not replaced unasked.
    let report = args.report.as_deref().unwrap_or(Path::new("report.html"));
    let place = match OutputFile::at(report, out) {
        // Whoever names a place wants the page; nobody waits for it in vain.
        Err(failure)
            if args.report.is_some()
                && failure.kind != keyway_error::Kind::Declined
                && failure.kind != keyway_error::Kind::Usage =>
        {
            return Err(failure.hint("name a place that can be written to with --report"));
        }
        Err(failure)
            if failure.kind == keyway_error::Kind::Usage || failure.kind == keyway_error::Kind::Declined =>
        {
            return Err(failure.hint("name another place with --report, or add --yes"));
        }
        place => place,
    };
    let mut tour = Tour { out, folder: Folder::new()?, document };
    tour.say(&format!(
        "A tour of Keyway. Everything happens in {} and is removed at the end.\n\n",
        tour.folder.0.display()
    ))?;
    tour.ordinary()?;
    tour.cascade()?;
    tour.hidden()?;
    tour.mounted()?;
    tour.speed()?;
    tour.laboratory(report, place)?;
    let Tour { folder, document, .. } = tour;
    drop(folder);
    out.result(&document, || {
        let mut text =
            format!("Done in {:.0} s, and everything is cleaned up.\n", began.elapsed().as_secs_f64());
        for skipped in &document.skipped {
            text.push_str(&format!("Skipped: {}, because {}.\n", skipped.what, skipped.why));
        }
        text + "Next: `keyway create --help`, `keyway open --help`, `keyway doctor`."
    })
}

impl Tour {
    fn say(&self, words: &str) -> Result<(), Failure> {
        self.out.say(words)
    }

    /// Tells what comes, does it, tells what was found and how long it took.
    fn step<T>(
        &mut self,
        name: &'static str,
        what: &str,
        work: impl FnOnce() -> Result<(T, String), Failure>,
    ) -> Result<T, Failure> {
        self.say(&format!("{}. {what}", self.document.steps.len() + 1))?;
        let began = Instant::now();
        let (value, found) = work()?;
        let ms = (began.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        self.say(&format!("   {found} ({ms:.0} ms)\n\n"))?;
        self.document.steps.push(Step { name, ms, found });
        Ok(value)
    }

    fn skip(&mut self, what: &'static str, why: impl Into<String>) -> Result<(), Failure> {
        let why = why.into();
        self.say(&format!("-  Skipped: {what}, because {why}.\n\n"))?;
        self.document.skipped.push(Skipped { what, why });
        Ok(())
    }

    /// An ordinary volume, through a file where FUSE works, through a socket anywhere.
    fn ordinary(&mut self) -> Result<(), Failure> {
        let path = self.folder.0.join("ordinary.hc");
        let secrets = || secrets(PASSWORD, None);
        self.step(
            "create",
            "Make a volume as VeraCrypt makes it: AES, SHA-512 with 500,000 iterations, filled with random bytes.",
            || {
                create(&path, "aes", &secrets(), Fill::Random)?;
                Ok(((), format!("{} of noise; the key is in the noise, under the password", bytes(VOLUME_BYTES))))
            },
        )?;
        let data = noise()?;
        let began = Instant::now();
        self.step("unlock", "Unlock it without saying which cipher or hash it has.", || {
            let open = volume::open(&which(&path), Access::ReadOnly, Caching::Buffered, &secrets(), None)?;
            Ok((
                (),
                format!("found {} in {} mode, {}", open.info.cipher(), open.info.mode(), open.info.hash()),
            ))
        })?;
        self.document.unlock_ms = Some((began.elapsed().as_secs_f64() * 1e4).round() / 10.0);
        match Need::Fuse.check(Wish::default()) {
            Ok(()) => self.step(
                "fuse",
                "Open it: a process of its own holds the key and shows the plain bytes as a file. Write, flush, close.",
                || {
                    let opened = open(&path, Attachment::Fuse { loop_device: false }, None, secrets())?;
                    let shown = opened.session.state.file.clone().unwrap_or_default();
                    through_file(&shown, &data)?;
                    opened.close()?;
                    Ok(((), format!("{} written to {} and read back", bytes(DATA_BYTES as u64), shown.display())))
                },
            )?,
            Err(why) => self.skip("the volume as a file", why.to_string())?,
        }
        self.step(
            "nbd",
            "Open it as a network block device on a socket, as a virtual machine would use it. Write, flush, close.",
            || {
                let opened = open(&path, Attachment::Nbd(NbdAddress::Session), None, secrets())?;
                let socket = PathBuf::from(opened.session.state.socket.clone().unwrap_or_default());
                through_nbd(&socket, &data)?;
                opened.close()?;
                Ok(((), format!("{} written through the socket and read back", bytes(DATA_BYTES as u64))))
            },
        )?;
        self.verify(&path, &data)
    }

    /// What was written is in the volume, and not to be seen in its file.
    fn verify(&mut self, path: &Path, data: &[u8]) -> Result<(), Failure> {
        self.step(
            "verify",
            "Unlock it again and compare by SHA-256; look for the plain bytes in the file.",
            || {
                let want = Sha256::digest(data);
                let open = volume::open(
                    &which(path),
                    Access::ReadOnly,
                    Caching::Buffered,
                    &secrets(PASSWORD, None),
                    None,
                )?;
                let mut got = vec![0; data.len()];
                open.device.read_at(&mut got, 0)?;
                if Sha256::digest(&got) != want {
                    return Err(differs("what was written and what the volume holds"));
                }
                let raw = std::fs::read(path).map_err(|e| Failure::io("read", path, &e))?;
                let needle = data.get(..16).unwrap_or_default();
                if raw.windows(needle.len()).any(|window| window == needle) {
                    return Err(differs("the volume's file shows plain bytes, which noise and the volume"));
                }
                let short: String = want.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                Ok(((), format!("SHA-256 {short}… on both sides; the file itself shows only noise")))
            },
        )
    }

    /// Three ciphers one inside the other.
    fn cascade(&mut self) -> Result<(), Failure> {
        let path = self.folder.0.join("cascade.hc");
        let data = noise()?;
        self.step(
            "cascade",
            "A volume with three ciphers, each with keys of its own; PIM 1 makes it quick to open, and weak.",
            || {
                let secrets = || secrets(PASSWORD, Some(1));
                create(&path, "aes-twofish-serpent", &secrets(), Fill::Quick)?;
                let opened = open(&path, Attachment::Nbd(NbdAddress::Session), None, secrets())?;
                let socket = PathBuf::from(opened.session.state.socket.clone().unwrap_or_default());
                through_nbd(&socket, &data)?;
                opened.close()?;
                let open =
                    volume::open(&which(&path), Access::ReadOnly, Caching::Buffered, &secrets(), None)?;
                compare(&open.device, 0, &data)?;
                Ok(((), format!("{}: written through a socket, closed, verified", open.info.cipher())))
            },
        )
    }

    /// A volume in the free space of another.
    fn hidden(&mut self) -> Result<(), Failure> {
        let path = self.folder.0.join("outer.hc");
        let data = noise()?;
        self.step(
            "hidden",
            "A hidden volume in the free space of another; nobody can show that it is there.",
            || {
                let (outer, inner) = (secrets(PASSWORD, Some(1)), secrets(HIDDEN_PASSWORD, Some(1)));
                create(&path, "aes", &outer, Fill::Random)?;
                let target = Target::existing(&path)?;
                let new = new_volume("serpent", &inner, Fill::Random)?;
                veracrypt::create_hidden(target.store(), HIDDEN_BYTES, &new, Some(&outer), &())?;
                drop(target);
                let write = volume::open(&which(&path), Access::ReadWrite, Caching::Direct, &inner, None)?;
                write.device.write_at(&data, 0)?;
                write.device.flush()?;
                Ok((
                    (),
                    format!(
                        "the same file opens as {} or {}, as the password says",
                        bytes(write.info.data_bytes()),
                        "as the outer volume"
                    ),
                ))
            },
        )?;
        self.step(
            "protect",
            "Open the outer volume with the hidden one protected and write over all of it.",
            || {
                let (outer, inner) = (secrets(PASSWORD, Some(1)), secrets(HIDDEN_PASSWORD, Some(1)));
                let open =
                    volume::open(&which(&path), Access::ReadWrite, Caching::Direct, &outer, Some(&inner))?;
                let mut refused = None;
                let mut at = 0;
                while at < open.device.size() && refused.is_none() {
                    let piece = data.get(..PIECE.min((open.device.size() - at) as usize)).unwrap_or_default();
                    match open.device.write_at(piece, at) {
                        Ok(()) => at += piece.len() as u64,
                        Err(_) => refused = Some(at),
                    }
                }
                let Some(refused) = refused else {
                    return Err(differs("a protected volume and one that takes every write"));
                };
                let hidden = volume::open(&which(&path), Access::ReadOnly, Caching::Buffered, &inner, None)?;
                compare(&hidden.device, 0, &data)?;
                Ok(((), format!("refused at {}; the hidden volume is unharmed", bytes(refused))))
            },
        )
    }

    /// A file system inside, mounted: needs root.
    fn mounted(&mut self) -> Result<(), Failure> {
        const WHAT: &str = "mounting the file system inside";
        if let Err(why) = [Need::Fuse, Need::LoopDevice].iter().try_for_each(|n| n.check(Wish::default())) {
            return self.skip(WHAT, why.to_string());
        }
        if FileSystem::Ext4.find_program().is_none() {
            return self.skip(WHAT, "mkfs.ext4 is missing; install the package e2fsprogs");
        }
        let (path, at) = (self.folder.0.join("files.hc"), self.folder.0.join("mnt"));
        self.step("mount", "A volume with ext4 inside, opened and mounted in one step, as root can.", || {
            let secrets = || secrets(PASSWORD, Some(1));
            let made = create(&path, "aes", &secrets(), Fill::Quick)?;
            let store = volume::store(&path, Access::ReadWrite, Caching::Direct)?;
            let device = Device::new(Box::new(store), made.layout, Access::ReadWrite)?;
            mkfs::format_into(&device, FileSystem::Ext4, Some("tour"), &mkfs::silent)
                .map_err(veracrypt::CreateError::FileSystem)?;
            drop(device);
            std::fs::create_dir(&at).map_err(|e| Failure::io("make", &at, &e))?;
            let letter = at.join("letter.txt");
            for round in 0..2 {
                let opened =
                    open(&path, Attachment::Fuse { loop_device: true }, Some(at.clone()), secrets())?;
                if round == 0 {
                    std::fs::write(&letter, "Dear reader\n")
                        .map_err(|e| Failure::io("write", &letter, &e))?;
                } else {
                    let text = std::fs::read(&letter).map_err(|e| Failure::io("read", &letter, &e))?;
                    if text != b"Dear reader\n" {
                        return Err(differs("the letter that was written and the one that was read"));
                    }
                }
                opened.close()?;
            }
            Ok(((), "a letter written, closed, opened again, read".to_owned()))
        })
    }

    /// Ciphers against copying memory.
    fn speed(&mut self) -> Result<(), Failure> {
        const BUFFER: usize = 1 << 20;
        let time = Duration::from_millis(90);
        let memcpy = keyway_lab::bench::memcpy(BUFFER, time);
        self.document.memcpy_mb_s = (memcpy * 10.0).round() / 10.0;
        let mut lines = format!("What one core does, in MB/s (copying memory alone: {memcpy:.0}):");
        for name in ["aes", "serpent", "twofish", "aes-twofish-serpent"] {
            let row = bench::chosen_row(name.parse()?, BUFFER, time)?;
            lines.push_str(&format!(
                "\n   {name:<20} encrypts {:>6.0}  decrypts {:>6.0}  ({})",
                row.encrypt_mb_s, row.decrypt_mb_s, row.kernel
            ));
            self.document.ciphers.push(row);
        }
        self.say(&format!("{lines}\n\n"))
    }

    /// What encryption costs on the drive under the temporary folder.
    fn laboratory(&mut self, report: &Path, place: Result<OutputFile, Failure>) -> Result<(), Failure> {
        let with = ["veracrypt:aes", "bitlocker:aes-xts-128"];
        let folder = self.folder.0.clone();
        let out = self.out;
        let (document, table) = self.step(
            "laboratory",
            "Compare encrypted volumes with a plain one on this drive, taking turns (A B B A).",
            || {
                let (document, table) = lab::quick(&folder, &with, out)?;
                let found = format!("{} tests", lab::tests_of(&document));
                Ok(((document, table), found))
            },
        )?;
        self.say(&format!("{table}\n"))?;
        let written = place.and_then(|place| lab::write_report(place, &document));
        self.document.laboratory = Some(document);
        match written {
            Ok(()) => {
                let shown = std::path::absolute(report).unwrap_or_else(|_| report.to_owned());
                self.say(&format!("The same as charts: {}\n\n", shown.display()))?;
                self.document.report = Some(shown);
                Ok(())
            }
            // The tour was taken all the same.
            Err(failure) => {
                self.skip("writing the report", format!("{}; name a place with --report", failure.message))
            }
        }
    }
}
