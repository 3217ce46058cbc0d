//! A tour on a fresh machine: volumes are made in a folder of its own, opened, written through, read back, and removed.

use crate::create::{Chain, FileSystem, NewPlace, VeraCryptOptions};
use crate::error::Error;
use crate::session::{Attachment, Lack, NbdAddress, Need, Session, SessionPlan, SessionSecrets, Wish};
use crate::told::facts;
use crate::unlock::{Key, UnlockArguments};
use crate::volume::{OpenOptions, Volume};
use keyway_attach::nbd::Client;
use keyway_engine::Access;
use keyway_error::{enum_table, explain};
use keyway_lab::bench::{self, BenchError, CipherRow};
use keyway_lab::{Document, ExperimentRequest, LabError, Target, Watch};
use keyway_secret::SecretBytes;
use keyway_store::Caching;
use keyway_volume::{Info, Secrets as VeraCryptSecret};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions as FileOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Bytes that are written into each volume and read back.
pub const DATA_BYTES: usize = 4 << 20;
/// Size of a volume's file in bytes.
pub const VOLUME_BYTES: u64 = 16 << 20;
/// Bytes written or read by one request.
const PIECE: usize = 256 << 10;
/// Size of the hidden volume in bytes.
const HIDDEN_BYTES: u64 = 6 << 20;
/// The tour's password; the volumes live for a minute.
const PASSWORD: &[u8] = b"a tour through the keyway";
/// The hidden volume's.
const HIDDEN_PASSWORD: &[u8] = b"what the tour does not show";
/// What is written into a mounted file system.
const LETTER: &[u8] = b"Dear reader\n";

enum_table! {
    /// A stop of the tour.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum TourStep {
        /// A volume as VeraCrypt makes it.
        Create("create"),
        /// It is unlocked, and everything about it found out.
        Unlock("unlock"),
        /// A process of its own shows it as a file, which is written and read.
        Fuse("fuse"),
        /// The same over a socket.
        Nbd("nbd"),
        /// What was written is in it, and its file shows nothing of it.
        Verify("verify"),
        /// Three ciphers one inside the other, written over a socket.
        Cascade("cascade"),
        /// A hidden volume in the free space of another.
        Hidden("hidden"),
        /// The outer one is written full while the hidden one is protected.
        Protect("protect"),
        /// A file system inside, mounted, twice.
        Mount("mount"),
    }
    /// Its word, for scripts.
    pub name: &'static str,
}

/// Why a stop is left out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TourLack {
    /// This machine or this user lacks something.
    #[error("{0}")]
    Need(Lack),
    /// A program of this file system's is missing.
    #[error("mkfs.{} is missing", .0.name())]
    Program(FileSystem),
}

explain! { TourLack, through Need {
    Self::Program(fs) => [MissingProgram Machine, InstallPackage { package: fs.package().to_owned() }],
} }

/// What a stop found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TourFound {
    /// It did what it should.
    Done,
    /// What a volume's header says.
    Header(Info),
    /// The file through which it was written.
    File(PathBuf),
    /// What was written, which is what was read.
    Data(Vec<u8>),
    /// Writing was refused at this byte.
    RefusedAt(u64),
}

impl TourFound {
    /// What is said of it.
    pub fn facts(&self) -> Value {
        let more = match self {
            Self::Header(info) => {
                let (cipher, mode, hash, room) = (info.cipher(), info.mode(), info.hash(), info.data_bytes());
                json!({"cipher": cipher, "mode": mode, "hash": hash, "data_bytes": room})
            }
            Self::File(file) => json!({"file": file.display().to_string()}),
            Self::Data(data) => {
                let sum = Sha256::digest(data);
                json!({"sha256": sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>()})
            }
            Self::RefusedAt(at) => json!({ "refused_at": at }),
            Self::Done => Value::Null,
        };
        facts(&json!({"volume_bytes": VOLUME_BYTES, "written_bytes": DATA_BYTES}), more)
    }
}

/// Why the tour ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TourError {
    /// Something that is done otherwise as well.
    #[error(transparent)]
    Keyway(#[from] Error),
    /// Two things differ that must not.
    #[error("{0} differ")]
    Differ(&'static str),
    /// Stopped by the user.
    #[error("the tour was stopped; everything is cleaned up")]
    Stopped,
}

explain! { TourError, through Keyway {
    Self::Differ(_) => [Verify Ours, ReportWithDoctor],
    Self::Stopped => [Interrupted Stopped],
} }

/// What one core does, for comparison with a drive.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct CoreSpeeds {
    /// Some ciphers, by the kernel that would be chosen.
    pub ciphers: Vec<CipherRow>,
    /// Copying memory alone, 10^6 bytes a second.
    pub memcpy_mb_s: f64,
}

impl CoreSpeeds {
    /// Measures for a second.
    ///
    /// # Errors
    /// A cipher can't be made.
    pub fn measure() -> Result<Self, BenchError> {
        const BUFFER: usize = 1 << 20;
        const TIME: Duration = Duration::from_millis(90);
        let row = |name: &&str| {
            let row = name.parse().and_then(|cipher| bench::chosen_row(cipher, BUFFER, TIME));
            row.map_err(BenchError::from).transpose()
        };
        let names = ["aes", "serpent", "twofish", "aes-twofish-serpent"];
        let ciphers = names.iter().filter_map(row).collect::<Result<_, _>>()?;
        Ok(Self { ciphers, memcpy_mb_s: (bench::memcpy(BUFFER, TIME) * 10.0).round() / 10.0 })
    }

    /// In words: ciphers against copying memory.
    pub fn words(&self) -> String {
        let rows = self.ciphers.iter().map(|row| {
            let (cipher, encrypts, decrypts) = (&row.cipher, row.encrypt_mb_s, row.decrypt_mb_s);
            format!("\n   {cipher:<20} encrypts {encrypts:>6.0}  decrypts {decrypts:>6.0}  ({})", row.kernel)
        });
        let rows: String = rows.collect();
        format!("What one core does, in MB/s (copying memory alone: {:.0}):{rows}\n\n", self.memcpy_mb_s)
    }
}

/// Starts a process that serves a volume, as [`SessionPlan::start`] does.
pub type StartSession<'a> = dyn Fn(&SessionPlan, &SessionSecrets) -> Result<Session, Error> + 'a;

/// The tour. What it made is removed with it.
pub struct Tour<'a> {
    folder: TempDir,
    data: Vec<u8>,
    start: &'a StartSession<'a>,
    stop: &'a AtomicBool,
}

/// An open volume, closed when it is dropped.
struct Opened(Option<Session>);

impl Opened {
    fn close(mut self) -> Result<(), Error> {
        self.0.take().map_or(Ok(()), |session| session.close().map(drop))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // The error that brought us here is the one to tell.
        let _ = self.0.take().map(|session| session.close());
    }
}

impl TourStep {
    /// What is missing for it here.
    pub fn lack(self) -> Option<TourLack> {
        let needs: &[Need] = match self {
            Self::Fuse => &[Need::Fuse],
            Self::Mount => &[Need::Fuse, Need::LoopDevice],
            _ => &[],
        };
        let lack = needs.iter().find_map(|need| need.check(Wish::default()).err()).map(TourLack::Need);
        let program = || {
            let missing = self == Self::Mount && FileSystem::Ext4.find_program().is_none();
            missing.then_some(TourLack::Program(FileSystem::Ext4))
        };
        lack.or_else(program)
    }
}

impl<'a> Tour<'a> {
    /// Begins in a folder that only this user may enter. Between two pieces of work it is looked whether to stop.
    ///
    /// # Errors
    /// There is no room for it, no folder for what is open, or the system gives no random numbers.
    pub fn begin(start: &'a StartSession<'a>, stop: &'a AtomicBool) -> Result<Self, Error> {
        // All that a later stop needs of this machine, so that nothing is measured in vain.
        keyway_attach::session::runtime_folder()?;
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("keyway-demo-").permissions(private).tempdir();
        let folder = folder.map_err(|e| Error::system("make", &std::env::temp_dir(), e))?;
        // Bytes that nothing else in a volume looks like.
        let mut data = vec![0; DATA_BYTES];
        getrandom::fill(&mut data)?;
        Ok(Self { folder, data, start, stop })
    }

    /// Where everything happens.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Goes to a stop. They are gone to in their order; one that lacks something is left out.
    ///
    /// # Errors
    /// Something does not work here, or not as it should.
    pub fn go(&self, step: TourStep) -> Result<TourFound, TourError> {
        self.go_on()?;
        let path = |name: &str| self.folder.path().join(name);
        let ordinary = (path("ordinary.hc"), secret(PASSWORD, None));
        let cascade = (path("cascade.hc"), secret(PASSWORD, Some(1)));
        let outer = (path("outer.hc"), secret(PASSWORD, Some(1)));
        let hidden = secret(HIDDEN_PASSWORD, Some(1));
        match step {
            TourStep::Create => create(&ordinary, &options("aes", false)?)?,
            TourStep::Unlock => {
                return Ok(TourFound::Header(open(&ordinary.0, &ordinary.1, Access::ReadOnly, None)?.info));
            }
            TourStep::Fuse => {
                let opened = self.serve(ordinary, Attachment::Fuse { loop_device: false }, None)?;
                let file = opened.0.as_ref().and_then(|session| session.state.file.clone());
                let file = file.unwrap_or_default();
                self.through_file(&file)?;
                opened.close()?;
                return Ok(TourFound::File(file));
            }
            TourStep::Nbd => self.through_nbd(ordinary)?,
            TourStep::Verify => return self.verify(&ordinary.0, &ordinary.1),
            TourStep::Cascade => {
                create(&cascade, &options("aes-twofish-serpent", true)?)?;
                let own = secret(PASSWORD, Some(1));
                self.through_nbd((cascade.0.clone(), cascade.1))?;
                let volume = open(&cascade.0, &own, Access::ReadOnly, None)?;
                self.same(&volume)?;
                return Ok(TourFound::Header(volume.info));
            }
            TourStep::Hidden => {
                create(&outer, &options("aes", false)?)?;
                let inner = options("serpent", false)?;
                inner.create_hidden(&outer.0, HIDDEN_BYTES, Some(&outer.1), &hidden, &())?;
                let volume = open(&outer.0, &hidden, Access::ReadWrite, None)?;
                volume
                    .device
                    .write_at(&self.data, 0)
                    .and_then(|()| volume.device.flush())
                    .map_err(Error::from)?;
                return Ok(TourFound::Header(volume.info));
            }
            TourStep::Protect => return self.protect(&outer.0, &outer.1, &hidden),
            TourStep::Mount => self.mount(&path("files.hc"), &path("mnt"))?,
        }
        Ok(TourFound::Done)
    }

    /// What encryption costs on the drive that the folder is on: two formats against the bare drive, for so long at most.
    ///
    /// # Errors
    /// It could not be measured.
    pub fn compare(&self, time: Duration, watch: &dyn Watch) -> Result<Document, LabError> {
        let targets = ["veracrypt:aes", "bitlocker:aes-xts-128"].map(str::parse::<Target>);
        let targets = targets.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut request = ExperimentRequest::against_bare(targets, self.folder().into());
        request.workloads.push("quick".to_owned());
        request.time = Some(time);
        request.command = "keyway demo".to_owned();
        match request.plan()?.run(crate::lab::encrypt_in_place, self.stop, watch)? {
            (document, None) => Ok(document),
            (_, Some(error)) => Err(error),
        }
    }

    /// The very way that any volume is opened.
    fn serve(
        &self,
        (path, own): (PathBuf, VeraCryptSecret),
        attachment: Attachment,
        mount: Option<&Path>,
    ) -> Result<Opened, Error> {
        let mut plan = SessionPlan::new(&path, UnlockArguments::new(), attachment)?;
        plan.mount = mount.map(Path::to_owned);
        Ok(Opened(Some((self.start)(&plan, &Key::VeraCrypt(own).into())?)))
    }

    fn through_file(&self, path: &Path) -> Result<(), TourError> {
        let fail = |doing| move |e| Error::system(doing, path, e);
        let file: File = FileOptions::new().read(true).write(true).open(path).map_err(fail("open"))?;
        self.round(
            |piece, at| file.write_all_at(piece, at).map_err(fail("write")),
            |piece, at| file.read_exact_at(piece, at).map_err(fail("read")),
            || file.sync_all().map_err(fail("flush")),
        )
    }

    fn through_nbd(&self, volume: (PathBuf, VeraCryptSecret)) -> Result<(), TourError> {
        let opened = self.serve(volume, Attachment::Nbd(NbdAddress::Session), None)?;
        let socket = opened.0.as_ref().and_then(|session| session.state.socket.clone());
        let socket = socket.unwrap_or_default();
        let fail = |doing| {
            let socket = socket.clone();
            move |e: io::Error| Error::system(doing, &socket, e)
        };
        let client = std::cell::RefCell::new(Client::connect(&socket).map_err(fail("connect to"))?);
        self.round(
            |piece, at| client.borrow_mut().write_at(piece, at).map_err(fail("write through")),
            |piece, at| client.borrow_mut().read_at(piece, at).map_err(fail("read through")),
            || client.borrow_mut().flush().map_err(fail("flush through")),
        )?;
        drop(client);
        Ok(opened.close()?)
    }

    fn go_on(&self) -> Result<(), TourError> {
        if self.stop.load(Ordering::Relaxed) { Err(TourError::Stopped) } else { Ok(()) }
    }

    /// Writes the data, has it put on the medium, and reads it back.
    fn round(
        &self,
        write: impl Fn(&[u8], u64) -> Result<(), Error>,
        read: impl Fn(&mut [u8], u64) -> Result<(), Error>,
        flush: impl Fn() -> Result<(), Error>,
    ) -> Result<(), TourError> {
        let places = || (0..).step_by(PIECE);
        self.data.chunks(PIECE).zip(places()).try_for_each(|(piece, at)| write(piece, at))?;
        flush()?;
        self.go_on()?;
        let mut got = vec![0; self.data.len()];
        got.chunks_mut(PIECE).zip(places()).try_for_each(|(piece, at)| read(piece, at))?;
        same(&got, &self.data)
    }

    /// What was written is in the volume.
    fn same(&self, volume: &Volume) -> Result<(), TourError> {
        let mut got = vec![0; self.data.len()];
        volume.device.read_at(&mut got, 0).map_err(Error::from)?;
        same(&got, &self.data)
    }

    /// What was written is in the volume, and not to be seen in its file.
    fn verify(&self, path: &Path, own: &VeraCryptSecret) -> Result<TourFound, TourError> {
        if self.same(&open(path, own, Access::ReadOnly, None)?).is_err() {
            return Err(TourError::Differ("what was written and what the volume holds"));
        }
        let raw = std::fs::read(path).map_err(|e| Error::system("read", path, e))?;
        let needle = self.data.get(..16).unwrap_or_default();
        if raw.windows(needle.len()).any(|window| window == needle) {
            return Err(TourError::Differ("the volume's file shows plain bytes, which noise and the volume"));
        }
        Ok(TourFound::Data(self.data.clone()))
    }

    /// Writes over all of the outer volume, as far as that is let.
    fn protect(
        &self,
        path: &Path,
        own: &VeraCryptSecret,
        hidden: &VeraCryptSecret,
    ) -> Result<TourFound, TourError> {
        let volume = open(path, own, Access::ReadWrite, Some(hidden))?;
        let size = volume.device.size();
        let refused = (0..size).step_by(PIECE).find(|at| {
            let piece = self.data.get(..PIECE.min((size - at) as usize)).unwrap_or_default();
            volume.device.write_at(piece, *at).is_err()
        });
        drop(volume);
        let Some(at) = refused else {
            return Err(TourError::Differ("a protected volume and one that takes every write"));
        };
        self.same(&open(path, hidden, Access::ReadOnly, None)?)?;
        Ok(TourFound::RefusedAt(at))
    }

    /// A letter is written into a file system inside, and is there when it is mounted again.
    fn mount(&self, path: &Path, at: &Path) -> Result<(), TourError> {
        let mut options = options("aes", true)?;
        (options.filesystem, options.label) = (Some(FileSystem::Ext4), Some("tour".to_owned()));
        create(&(path.to_owned(), secret(PASSWORD, Some(1))), &options)?;
        std::fs::create_dir(at).map_err(|e| Error::system("make", at, e))?;
        let letter = at.join("letter.txt");
        for first in [true, false] {
            let own = (path.to_owned(), secret(PASSWORD, Some(1)));
            let opened = self.serve(own, Attachment::Fuse { loop_device: true }, Some(at))?;
            if first {
                std::fs::write(&letter, LETTER).map_err(|e| Error::system("write", &letter, e))?;
            } else if std::fs::read(&letter).map_err(|e| Error::system("read", &letter, e))? != LETTER {
                return Err(TourError::Differ("the letter that was written and the one that was read"));
            }
            opened.close()?;
        }
        Ok(())
    }
}

fn same(got: &[u8], want: &[u8]) -> Result<(), TourError> {
    if got == want { Ok(()) } else { Err(TourError::Differ("what was written and what was read")) }
}

fn secret(password: &[u8], pim: Option<u32>) -> VeraCryptSecret {
    VeraCryptSecret { password: SecretBytes::copy_of(password), keyfiles: Vec::new(), pim }
}

fn options(cipher: &str, quick: bool) -> Result<VeraCryptOptions, Error> {
    let cipher = cipher.parse::<Chain>().map_err(keyway_volume::VolumeError::from)?;
    Ok(VeraCryptOptions { cipher, quick, ..VeraCryptOptions::default() })
}

fn create((path, own): &(PathBuf, VeraCryptSecret), options: &VeraCryptOptions) -> Result<(), Error> {
    options.create(&NewPlace::file(path, VOLUME_BYTES, false)?, own, &()).map(drop)
}

fn open(
    path: &Path,
    own: &VeraCryptSecret,
    access: Access,
    protect: Option<&VeraCryptSecret>,
) -> Result<Volume, Error> {
    let caching = if access == Access::ReadOnly { Caching::Buffered } else { Caching::Direct };
    OpenOptions::new().access(access).caching(caching).protect_hidden(protect).open_with(path, own)
}
