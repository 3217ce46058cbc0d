//! What a person gives to open a volume, and how keyfiles are mixed into the password.
//!
//! Source: VeraCrypt's documentation, "Keyfiles: technical details"; the 128-byte pool for long
//! passwords is that of VeraCrypt 1.24 and later.

use crate::veracrypt::{Format, LARGEST_PIM};
use crate::{KeyfileFault, VolumeError};
use keyway_secret::SecretBytes;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zeroize::Zeroize;

/// Only this much of a keyfile counts: its first 1,048,576 bytes.
const KEYFILE_LIMIT: u64 = 1 << 20;

/// The pool for passwords up to 64 bytes, and their limit before VeraCrypt 1.24.
const SHORT_POOL: usize = 64;

/// The pool for longer passwords.
const LONG_POOL: usize = 128;

/// A password with its keyfiles and PIM.
pub struct Secrets {
    /// UTF-8 bytes of the password; may be empty when there are keyfiles.
    pub password: SecretBytes,
    /// Files whose contents count, in any order. A folder means the regular files right in it
    /// that are not hidden.
    pub keyfiles: Vec<PathBuf>,
    /// The personal iterations multiplier; `None` and 0 mean the format's default.
    pub pim: Option<u32>,
}

impl From<SecretBytes> for Secrets {
    /// A password alone.
    fn from(password: SecretBytes) -> Self {
        Self { password, keyfiles: Vec::new(), pim: None }
    }
}

impl Secrets {
    /// The same without files: what is in the keyfiles is in the password already, so that a search for the key opens nothing.
    /// `None` where there are no files to begin with.
    ///
    /// # Errors
    /// The password is too long for the format, or a keyfile can't be used.
    pub fn with_files_read(&self, format: Option<Format>) -> Result<Option<Self>, VolumeError> {
        if self.keyfiles.is_empty() {
            return Ok(None);
        }
        let password = self.header_password(format.unwrap_or(Format::VeraCrypt))?;
        Ok(Some(Self { password, keyfiles: Vec::new(), pim: self.pim }))
    }

    /// The bytes that go into the key derivation: the password, with the keyfiles mixed in.
    ///
    /// # Errors
    /// Nothing was given at all, the password is too long for the format, or a keyfile can't be
    /// used.
    pub(crate) fn header_password(&self, format: Format) -> Result<SecretBytes, VolumeError> {
        let bytes = self.password.len();
        let limit = format.password_limit();
        if bytes > limit {
            return Err(VolumeError::PasswordTooLong { bytes, limit });
        }
        if self.keyfiles.is_empty() {
            if bytes == 0 {
                return Err(VolumeError::NoSecret);
            }
            return Ok(SecretBytes::copy_of(&self.password));
        }
        let mut pool = SecretBytes::zeroed(if bytes <= SHORT_POOL { SHORT_POOL } else { LONG_POOL });
        for (slot, byte) in pool.iter_mut().zip(self.password.iter()) {
            *slot = *byte;
        }
        for path in &self.keyfiles {
            let fault = |fault| VolumeError::Keyfile { path: path.clone(), fault };
            for file in files_of(path).map_err(fault)? {
                stir(&mut pool, &file).map_err(|fault| VolumeError::Keyfile { path: file.clone(), fault })?;
            }
        }
        keyway_secret::wipe_stack();
        Ok(pool)
    }
}

/// Looks whether a keyfile, or a folder of them, can be used: before anybody is asked for the password beside it.
///
/// # Errors
/// It isn't there, can't be read, or is empty.
pub fn check_keyfile(path: &Path) -> Result<(), VolumeError> {
    let fault = |path: &Path, fault| VolumeError::Keyfile { path: path.to_owned(), fault };
    for file in files_of(path).map_err(|e| fault(path, e))? {
        let about = std::fs::metadata(&file).map_err(|e| fault(&file, e.into()))?;
        #[cfg(unix)]
        if std::os::unix::fs::FileTypeExt::is_socket(&about.file_type()) {
            return Err(fault(&file, KeyfileFault::Socket));
        }
        // A pipe gives what it has once.
        if about.is_file() {
            File::open(&file).map_err(|e| fault(&file, e.into()))?;
            if about.len() == 0 {
                return Err(fault(&file, KeyfileFault::Empty));
            }
        }
    }
    Ok(())
}

/// How many keyfiles these are: a folder stands for its files. What can't be looked at counts as one.
pub fn count_keyfiles(paths: &[PathBuf]) -> usize {
    paths.iter().map(|path| files_of(path).map_or(1, |files| files.len())).sum()
}

/// Looks whether a PIM is one.
///
/// # Errors
/// It is too large.
pub fn check_pim(pim: Option<u32>) -> Result<(), VolumeError> {
    pim.filter(|pim| *pim > LARGEST_PIM).map_or(Ok(()), |pim| Err(VolumeError::PimTooLarge(pim)))
}

/// The file itself, or a folder's regular files that are not hidden.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, KeyfileFault> {
    if !std::fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Through links, as VeraCrypt does; a dangling one is no regular file.
        if !hidden && std::fs::metadata(entry.path()).is_ok_and(|m| m.is_file()) {
            files.push(entry.path());
        }
    }
    if files.is_empty() { Err(KeyfileFault::EmptyFolder) } else { Ok(files) }
}

/// Adds a keyfile to the pool: the running CRC-32 after each byte, most significant byte first,
/// to four bytes of the pool, round and round.
fn stir(pool: &mut SecretBytes, path: &Path) -> Result<(), KeyfileFault> {
    let mut reader = File::open(path)?.take(KEYFILE_LIMIT);
    let mut piece = SecretBytes::zeroed(16 * 1024);
    let mut crc = !0u32;
    let mut at = 0;
    let mut any = false;
    loop {
        let n = match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e.into()),
        };
        any = true;
        for byte in piece.iter().take(n) {
            crc = crc_step(crc, *byte);
            for (i, part) in crc.to_be_bytes().into_iter().enumerate() {
                if let Some(slot) = pool.get_mut(at + i) {
                    *slot = slot.wrapping_add(part);
                }
            }
            at = (at + 4) % pool.len();
        }
    }
    crc.zeroize();
    if any { Ok(()) } else { Err(KeyfileFault::Empty) }
}

/// One byte of CRC-32 (IEEE 802.3, reflected), without the final inversion: the mixing wants the
/// register after every byte, which no checksum crate shows.
fn crc_step(crc: u32, byte: u8) -> u32 {
    let mut low = (crc ^ u32::from(byte)) & 0xff;
    for _ in 0..8 {
        low = if low & 1 == 1 { (low >> 1) ^ 0xedb8_8320 } else { low >> 1 };
    }
    (crc >> 8) ^ low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(password: &[u8], keyfiles: Vec<PathBuf>) -> Secrets {
        Secrets { password: SecretBytes::copy_of(password), keyfiles, pim: None }
    }

    #[test]
    fn the_crc_is_the_usual_one() {
        let crc = b"123456789".iter().fold(!0, |crc, byte| crc_step(crc, *byte));
        assert_eq!(!crc, crc32fast::hash(b"123456789"));
        assert_eq!(!crc, 0xcbf4_3926);
    }

    #[test]
    fn without_keyfiles_the_password_is_taken_as_it_is() {
        let long = [b'x'; 100];
        assert!(secrets(&long, vec![]).header_password(Format::VeraCrypt).expect("fits").same_as(&long));
        assert!(matches!(
            secrets(&long, vec![]).header_password(Format::TrueCrypt),
            Err(VolumeError::PasswordTooLong { bytes: 100, limit: 64 })
        ));
        assert!(matches!(
            secrets(b"", vec![]).header_password(Format::VeraCrypt),
            Err(VolumeError::NoSecret)
        ));
    }

    #[test]
    fn a_folder_means_its_visible_files_and_the_order_does_not_matter() {
        let dir = tempfile::tempdir().expect("temp");
        let folder = dir.path().join("keys");
        std::fs::create_dir_all(folder.join("sub")).expect("mkdir");
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).expect("write");
            path
        };
        let a = write("a", b"first");
        let b = write("b", b"second keyfile");
        write(".hidden", b"not counted");
        write("sub/deep", b"not counted either");
        let mixed = |files: Vec<PathBuf>| {
            secrets(b"pw", files).header_password(Format::VeraCrypt).expect("mixes").to_vec()
        };
        assert_eq!(mixed(vec![folder.clone()]), mixed(vec![b.clone(), a.clone()]));
        assert_eq!(count_keyfiles(&[folder.clone(), a.clone(), dir.path().join("gone")]), 2 + 1 + 1);
        assert_ne!(mixed(vec![a.clone()]), mixed(vec![b]));
        assert_eq!(mixed(vec![a.clone()]).len(), 64);
        let long = secrets(&[b'x'; 65], vec![a]).header_password(Format::VeraCrypt).expect("mixes");
        assert_eq!(long.len(), 128);
        std::fs::create_dir(dir.path().join("none")).expect("mkdir");
        let empty = secrets(b"pw", vec![dir.path().join("none")]).header_password(Format::VeraCrypt);
        assert!(matches!(empty, Err(VolumeError::Keyfile { fault: KeyfileFault::EmptyFolder, .. })));
        let nothing = write("nothing", b"");
        let empty = secrets(b"pw", vec![nothing]).header_password(Format::VeraCrypt);
        assert!(matches!(empty, Err(VolumeError::Keyfile { fault: KeyfileFault::Empty, .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_is_no_keyfile_and_is_told_before_it_is_opened() {
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let told = check_keyfile(&path);
        assert!(matches!(told, Err(VolumeError::Keyfile { fault: KeyfileFault::Socket, .. })), "{told:?}");
    }

    #[test]
    fn what_was_read_is_what_the_files_gave() {
        let dir = tempfile::tempdir().expect("temp");
        let key = dir.path().join("key");
        for password in [b"".as_slice(), b"pw", &[b'x'; 64], &[b'x'; 65]] {
            std::fs::write(&key, b"a keyfile").expect("write");
            let with = secrets(password, vec![key.clone()]);
            let expected = with.header_password(Format::VeraCrypt).expect("mixes");
            let read = with.with_files_read(None).expect("reads").expect("it has a file");
            std::fs::remove_file(&key).expect("removed");
            assert!(read.header_password(Format::VeraCrypt).expect("no file").same_as(&expected));
            let old = read.header_password(Format::TrueCrypt);
            assert_eq!(old.is_ok_and(|old| old.same_as(&expected)), password.len() <= SHORT_POOL);
            let gone = with.with_files_read(None);
            assert!(matches!(gone, Err(VolumeError::Keyfile { fault: KeyfileFault::Unreadable(_), .. })));
        }
        assert!(secrets(b"pw", vec![]).with_files_read(None).expect("nothing to read").is_none());
        let long = secrets(&[b'x'; 65], vec![key]).with_files_read(Some(Format::TrueCrypt));
        assert!(matches!(long, Err(VolumeError::PasswordTooLong { bytes: 65, limit: 64 })));
    }

    #[test]
    fn bytes_after_the_first_mebibyte_do_not_count() {
        let dir = tempfile::tempdir().expect("temp");
        let (short, long) = (dir.path().join("short"), dir.path().join("long"));
        let mut bytes = vec![7u8; 1 << 20];
        std::fs::write(&short, &bytes).expect("write");
        bytes.extend_from_slice(b"more");
        std::fs::write(&long, &bytes).expect("write");
        let mixed =
            |file| secrets(b"pw", vec![file]).header_password(Format::VeraCrypt).expect("mixes").to_vec();
        assert_eq!(mixed(short), mixed(long));
    }
}
