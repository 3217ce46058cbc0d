//! The tour's volumes: made, opened as `keyway open` does, written through and read back.

use super::{DATA_BYTES, PIECE, VOLUME_BYTES};
use crate::failure::{Exit, Failure};
use crate::given::Given;
use crate::nbd_client::NbdClient;
use crate::session_words;
use crate::temporary::private_folder;
use crate::volume::Which;
use keyway::session::{Attachment, Session};
use keyway_engine::Device;
use keyway_secret::SecretBytes;
use keyway_volume::veracrypt::{self, Created, Existing, Fill, NewVolume, Space, Target};
use keyway_volume::{HashName, HeaderChoice, Secrets};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A folder that only this user may enter, removed at the end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self(private_folder("demo")?))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing in it is of any use to anybody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An open volume, closed when it is dropped.
pub(super) struct Opened {
    pub(super) session: Session,
    closed: bool,
}

impl Opened {
    pub(super) fn close(mut self) -> Result<(), Failure> {
        self.closed = true;
        self.session.close()?;
        Ok(())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if !self.closed {
            // The error that brought us here is the one to tell.
            let _ = self.session.close();
        }
    }
}

pub(super) fn secrets(password: &[u8], pim: Option<u32>) -> Secrets {
    Secrets { password: SecretBytes::copy_of(password), keyfiles: Vec::new(), pim }
}

pub(super) fn which(path: &Path) -> Which {
    Which {
        path: path.to_owned(),
        format: None,
        hash: None,
        header: HeaderChoice::Auto,
        system: false,
        system_header: None,
    }
}

pub(super) fn new_volume<'a>(
    cipher: &str,
    secrets: &'a Secrets,
    fill: Fill,
) -> Result<NewVolume<'a>, Failure> {
    Ok(NewVolume { secrets, cipher: cipher.parse()?, hash: HashName::Sha512, fill })
}

pub(super) fn create(path: &Path, cipher: &str, secrets: &Secrets, fill: Fill) -> Result<Created, Failure> {
    let target = Target::new_file(path, VOLUME_BYTES, Existing::Refuse, Space::Sparse)?;
    let made = veracrypt::create(target.store(), &new_volume(cipher, secrets, fill)?, &())?;
    target.keep()?;
    Ok(made)
}

/// The very way that `keyway open` goes.
pub(super) fn open(
    path: &Path,
    attachment: Attachment,
    mountpoint: Option<PathBuf>,
    own: Secrets,
) -> Result<Opened, Failure> {
    let mut plan = which(path).to_serve(attachment)?;
    plan.mount = mountpoint;
    let session = session_words::start(&plan, &Given::VeraCrypt(own).into())?;
    Ok(Opened { session, closed: false })
}

/// Bytes that nothing else in the volume looks like.
pub(super) fn noise() -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![0; DATA_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|e| Failure::new(Exit::Failed, format!("the system gives no random bytes: {e}"), ""))?;
    Ok(bytes)
}

pub(super) fn through_file(path: &Path, data: &[u8]) -> Result<(), Failure> {
    let fail = |doing: &'static str| move |e: io::Error| Failure::io(doing, path, &e);
    let file: File = OpenOptions::new().read(true).write(true).open(path).map_err(fail("open"))?;
    for (piece, at) in data.chunks(PIECE).zip((0..).step_by(PIECE)) {
        file.write_all_at(piece, at).map_err(fail("write"))?;
    }
    file.sync_all().map_err(fail("flush"))?;
    let mut got = vec![0; data.len()];
    for (piece, at) in got.chunks_mut(PIECE).zip((0..).step_by(PIECE)) {
        file.read_exact_at(piece, at).map_err(fail("read"))?;
    }
    same(&got, data)
}

pub(super) fn through_nbd(socket: &Path, data: &[u8]) -> Result<(), Failure> {
    let fail = |doing: &'static str| move |e: io::Error| Failure::io(doing, socket, &e);
    let mut client = NbdClient::connect(socket).map_err(fail("connect to"))?;
    for (piece, at) in data.chunks(PIECE).zip((0..).step_by(PIECE)) {
        client.write_at(piece, at).map_err(fail("write through"))?;
    }
    client.flush().map_err(fail("flush through"))?;
    let mut got = vec![0; data.len()];
    for (piece, at) in got.chunks_mut(PIECE).zip((0..).step_by(PIECE)) {
        client.read_at(piece, at).map_err(fail("read through"))?;
    }
    same(&got, data)
}

pub(super) fn compare(device: &Device, at: u64, data: &[u8]) -> Result<(), Failure> {
    let mut got = vec![0; data.len()];
    device.read_at(&mut got, at)?;
    same(&got, data)
}

pub(super) fn same(got: &[u8], want: &[u8]) -> Result<(), Failure> {
    if got == want { Ok(()) } else { Err(differs("what was written and what was read")) }
}

pub(super) fn differs(what: &str) -> Failure {
    Failure::new(
        Exit::Failed,
        format!("{what} differ"),
        "please report this with the output of `keyway doctor --json`",
    )
    .kind(keyway_error::Kind::Verify)
}
