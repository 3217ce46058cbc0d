//! A volume that Windows made, and a protector with a TPM that is added to it.
#![allow(dead_code, reason = "each test file uses its own part")]

use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_testkit::{Swtpm, Table, unpack_xz, volumes};
use keyway_tpm::{Pcrs, Tpm};
use keyway_volume::bitlocker::tpm::{Pin, TpmProtection, protect};
use keyway_volume::bitlocker::{Entry, FileTime, Nonce, Secret, UnlockRequest, Value, codes::role, unlock};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A volume that Windows encrypted, and the SHA-256 of what is in it.
pub(crate) struct Windows {
    pub(crate) file: tempfile::NamedTempFile,
    pub(crate) sha256: String,
}

/// It, unpacked; `None` after a visible skip.
pub(crate) fn windows() -> Option<Windows> {
    let folder = volumes()?.join("bitlocker");
    let table = Table::read(&folder.join("INDEX.tsv"));
    let row = table.rows().iter().find(|row| row.get("file") == "bitlk-aes-xts-128.img.xz").expect("its row");
    let file = unpack_xz(&folder.join(row.get("file")))?;
    Some(Windows { file, sha256: row.get("sha256_of_decrypted_volume").to_owned() })
}

/// What the added protector asks for besides the TPM.
#[derive(Clone, Copy)]
pub(crate) struct Asks<'a> {
    pub(crate) pcrs: Pcrs,
    pub(crate) pin: Option<&'a str>,
    /// The folder that its startup key is written to, if there is to be one.
    pub(crate) startup_key: Option<&'a Path>,
}

/// Adds a protector to all three copies of the metadata.
pub(crate) fn add_protector(volume: &Windows, swtpm: &Swtpm, asks: Asks<'_>) {
    let path = volume.file.path();
    let store = FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered).expect("opens");
    let secrets = [Secret::Password(SecretBytes::copy_of(b"anaconda"))];
    let opened = unlock(&store, &UnlockRequest::new(&secrets)).expect("unlocks").opened;
    let mut block = opened.metadata.block().clone();
    let time = FileTime::now().0;
    let mut tpm = Tpm::open(&swtpm.address().parse().expect("an address")).expect("a TPM");
    let pin = asks.pin.map(|pin| Pin::new_to_set(pin.as_bytes()).expect("a PIN"));
    let wanted = TpmProtection {
        pcrs: asks.pcrs,
        pin: pin.as_ref(),
        startup_key: asks.startup_key.is_some(),
        name: None,
    };
    let dataset = &mut block.dataset;
    let made = protect(&mut tpm, &opened.master, &wanted, || Nonce { time, counter: dataset.take_nonce() })
        .expect("makes one");
    if let (Some(key), Some(folder)) = (&made.startup_key, asks.startup_key) {
        std::fs::write(folder.join(key.file_name()), &key.to_bytes()[..]).expect("written");
    }
    block.dataset.entries.list.push(Entry::new(role::PROTECTOR, Value::Protector(made.protector)));
    block.validate(&opened.master, time).expect("fits");
    let bytes = block.to_bytes().expect("fits");
    let file = std::fs::File::options().write(true).open(path).expect("opens");
    for offset in block.copies {
        file.write_all_at(&bytes, offset).expect("written");
    }
}
