//! A password with its keyfiles and PIM: from a file, a descriptor, or somebody who is asked.

use super::question::{Derived, Question, Secrets, Subject, Wanted};
use crate::error::{Error, Misuse};
use crate::secret_role::SecretRole;
use keyway_attach::session::Inode;
use keyway_secret::SecretBytes;
use keyway_volume::{HashName, Secrets as VeraCryptSecret, check_keyfile, check_pim};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Longest password that is read, in bytes. Formats have limits of their own (VeraCrypt: 128).
const PASSWORD_LIMIT: usize = 4096;

/// A place that holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretFrom {
    /// A file's content.
    File(PathBuf),
    /// What comes from standard input.
    StandardInput,
    /// What comes from this open descriptor.
    Descriptor(u32),
}

/// Where a volume's password comes from, with its keyfiles and PIM.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PasswordSource {
    /// The password; asked for when left out.
    pub password: Option<SecretFrom>,
    /// Keyfiles and folders of keyfiles.
    pub keyfiles: Vec<PathBuf>,
    /// It was said that there are none: of a new secret, that those go which there were.
    pub no_keyfiles: bool,
    /// VeraCrypt's personal iterations multiplier.
    pub pim: Option<u32>,
    /// Which of several it is.
    pub role: SecretRole,
}

impl PasswordSource {
    /// Nothing was named.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these keyfiles, as they were written: several in one word, between commas, where all of them are there and no file
    /// has the whole word for its name; and an empty word for none, both as VeraCrypt has it.
    #[must_use]
    pub fn with_keyfiles(mut self, written: &[OsString]) -> Self {
        self.no_keyfiles = !written.is_empty() && written.iter().all(|word| word.is_empty());
        for word in written.iter().filter(|word| !word.is_empty()) {
            let parts = || word.to_str().into_iter().flat_map(|word| word.split(','));
            let are_there = parts().count() > 1 && parts().all(|part| Path::new(part).exists());
            match are_there && !Path::new(word).exists() {
                true => self.keyfiles.extend(parts().map(PathBuf::from)),
                false => self.keyfiles.push(word.into()),
            }
        }
        self
    }

    /// Whether anything was named.
    pub fn is_given(&self) -> bool {
        self.password.is_some() || !self.keyfiles.is_empty() || self.pim.is_some()
    }

    /// Whether the password comes from standard input.
    pub fn uses_stdin(&self) -> bool {
        matches!(self.password, Some(SecretFrom::StandardInput | SecretFrom::Descriptor(0)))
    }

    /// The keyfiles, as a process with another working folder finds them.
    ///
    /// # Errors
    /// There is no working folder.
    pub fn absolute_keyfiles(&self) -> Result<Vec<PathBuf>, Error> {
        let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|e| Error::system("find", path, e));
        self.keyfiles.iter().map(absolute).collect()
    }

    /// Looks whether what it names is there: the password's file, keyfiles, and a PIM that there can be.
    ///
    /// # Errors
    /// It isn't, or can't be read.
    pub fn check(&self) -> Result<(), Error> {
        self.keyfiles.iter().try_for_each(|path| check_keyfile(path))?;
        check_pim(self.pim)?;
        match &self.password {
            Some(from @ SecretFrom::File(path)) if !gives_once(path) => self.not_empty(from, &from.read()?),
            _ => Ok(()),
        }
    }

    /// Refuses an empty password from a place that should hold one: keyfiles alone need none.
    pub(super) fn not_empty(&self, from: &SecretFrom, password: &[u8]) -> Result<(), Error> {
        let is_all = password.is_empty() && self.keyfiles.is_empty();
        if is_all { Err(Misuse::EmptyPassword(from.place()).into()) } else { Ok(()) }
    }

    /// Reads it. A password that wasn't named is asked for; where nobody answers, keyfiles alone will do.
    ///
    /// # Errors
    /// It can't be read, is too long, or nobody answers.
    pub fn read(
        &self,
        wanted: Wanted,
        subject: &Subject,
        secrets: &dyn Secrets,
    ) -> Result<VeraCryptSecret, Error> {
        let may_be_empty = !self.keyfiles.is_empty();
        self.answered(&Question { may_be_empty, ..Question::new(wanted, subject) }, secrets)
    }

    /// A new one, of which a key is derived so: whoever types it hears what that is worth.
    ///
    /// # Errors
    /// As [`PasswordSource::read`].
    pub(crate) fn read_new(
        &self,
        derived: Derived,
        subject: &Subject,
        secrets: &dyn Secrets,
    ) -> Result<VeraCryptSecret, Error> {
        let (may_be_empty, derived) = (!self.keyfiles.is_empty(), Some(derived));
        let question = Question { may_be_empty, derived, ..Question::new(Wanted::NewPassword, subject) };
        self.answered(&question, secrets)
    }

    /// What its own PIM and keyfiles, and that key derivation, make of its password.
    pub(crate) fn derived_by(&self, hash: HashName) -> Derived {
        Derived { hash, pim: self.pim, keyfiles: !self.keyfiles.is_empty() }
    }

    /// [`PasswordSource::check`], and refuses keyfiles among which the volume is itself: what opens it would change with it.
    ///
    /// # Errors
    /// As that, and [`Misuse::OwnKeyfile`].
    pub(crate) fn check_for(&self, subject: &Subject) -> Result<(), Error> {
        self.check()?;
        let Some(volume) = subject.volume() else { return Ok(()) };
        match self.keyfiles.iter().find(|keyfile| holds(keyfile, volume)) {
            Some(keyfile) => Err(Misuse::OwnKeyfile(keyfile.clone()).into()),
            None => Ok(()),
        }
    }

    fn answered(&self, question: &Question<'_>, secrets: &dyn Secrets) -> Result<VeraCryptSecret, Error> {
        self.check_for(question.subject)?;
        let password = match &self.password {
            Some(from) => {
                let password = from.read()?;
                self.not_empty(from, &password)?;
                password
            }
            None => match secrets.answer(question)? {
                Some(password) => password,
                None if !self.keyfiles.is_empty() => SecretBytes::zeroed(0),
                None => return Err(Misuse::NoPassword(self.role.of(question.wanted)).into()),
            },
        };
        Ok(VeraCryptSecret { password, keyfiles: self.absolute_keyfiles()?, pim: self.pim })
    }
}

impl SecretFrom {
    /// The place that is named: a file, where `-` is standard input, or an open descriptor.
    pub fn named(file: Option<&Path>, descriptor: Option<u32>) -> Option<Self> {
        match file {
            Some(dash) if dash == Path::new("-") => Some(Self::StandardInput),
            Some(file) => Some(Self::File(file.to_owned())),
            None => descriptor.map(Self::Descriptor),
        }
    }

    /// Its name.
    fn place(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::StandardInput => "standard input".into(),
            Self::Descriptor(number) => format!("descriptor {number}").into(),
        }
    }

    /// Reads it into locked memory; one newline at its end is dropped.
    ///
    /// # Errors
    /// It can't be read, or is too long.
    pub fn read(&self) -> Result<SecretBytes, Error> {
        match self {
            Self::StandardInput => {
                let name = Path::new("standard input");
                read_password(standard_input().map_err(|e| Error::system("read", name, e))?, name)
            }
            Self::File(path) => read_password(open_secret(path)?, path),
            Self::Descriptor(descriptor) => {
                // Opened again by name: a bare number can't be turned into a descriptor safely.
                let path = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
                let file = File::open(&path)
                    .map_err(|source| Misuse::Descriptor { descriptor: *descriptor, source })?;
                read_password(file, &path)
            }
        }
    }
}

/// Whether a keyfile is that volume, or a folder with it among its files; one that is not there yet will be.
fn holds(keyfile: &Path, volume: &Path) -> bool {
    let is_it = |path: &Path| Inode::is_one(path, volume);
    let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    if !keyfile.is_dir() {
        return is_it(keyfile);
    }
    let is_made_there = || {
        let folder = volume.parent().map(|at| if at.as_os_str().is_empty() { Path::new(".") } else { at });
        !volume.exists()
            && folder.is_some_and(|folder| Inode::is_one(folder, keyfile))
            && !volume.file_name().is_some_and(is_hidden)
    };
    let entries = std::fs::read_dir(keyfile).into_iter().flatten().flatten();
    let mut entries = entries.filter(|entry| !is_hidden(&entry.file_name()));
    entries.any(|entry| is_it(&entry.path())) || is_made_there()
}

/// Whether a pipe or a device is there, which gives what it has once.
fn gives_once(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.file_type().is_fifo() || about.file_type().is_char_device())
}

/// Opens a file that a secret is read from.
pub(super) fn open_secret(path: &Path) -> Result<File, Error> {
    // What the system says of one sounds as if a drive had failed.
    if path.metadata().is_ok_and(|about| about.file_type().is_socket()) {
        return Err(Misuse::Socket(path.to_owned()).into());
    }
    File::open(path).map_err(|e| Error::system("open", path, e))
}

/// Not `std::io::stdin`: its buffer would keep a copy.
pub(super) fn standard_input() -> io::Result<File> {
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

/// Refuses two secrets from one standard input, and any that can't be read: before anybody is asked for one.
///
/// # Errors
/// There are two, or as [`PasswordSource::check`]. Which comes from where is looked at first.
pub fn one_standard_input<'a>(
    sources: impl IntoIterator<Item = &'a PasswordSource> + Clone,
) -> Result<(), Error> {
    if sources.clone().into_iter().filter(|source| source.uses_stdin()).count() > 1 {
        return Err(Misuse::OneStandardInput.into());
    }
    sources.into_iter().try_for_each(PasswordSource::check)
}

fn read_password(reader: impl Read, from: &Path) -> Result<SecretBytes, Error> {
    let too_long = || Misuse::PasswordTooLong { path: from.to_owned(), limit: PASSWORD_LIMIT };
    let mut password = SecretBytes::read_from(reader, PASSWORD_LIMIT).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => too_long().into(),
        _ => Error::system("read", from, e),
    })?;
    if password.last() == Some(&b'\n') {
        let len = password.len() - 1;
        password.truncate(len);
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_newline_goes() {
        let read = |text: &[u8]| read_password(text, Path::new("test")).expect("short").to_vec();
        assert_eq!(read(b"secret\n"), b"secret");
        assert_eq!(read(b"secret\n\n"), b"secret\n");
        assert_eq!(read(b"secret"), b"secret");
        assert_eq!(read(b""), b"");
    }

    #[test]
    fn keyfiles_are_taken_as_veracrypt_writes_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["a", "b", "c,d"] {
            std::fs::write(path(name), name).expect("written");
        }
        let of = |word: String| PasswordSource::new().with_keyfiles(&[word.into()]).keyfiles;
        let list = |one: &str, other: &str| format!("{},{}", path(one).display(), path(other).display());
        assert_eq!(of(list("a", "b")), [path("a"), path("b")]);
        assert_eq!(of(path("c,d").display().to_string()), [path("c,d")]);
        assert_eq!(of(list("a", "none")), [PathBuf::from(list("a", "none"))]);
        assert!(of(String::new()).is_empty());
        let says_none = |written: &[OsString]| PasswordSource::new().with_keyfiles(written).no_keyfiles;
        assert!(says_none(&["".into()]) && !says_none(&[]) && !says_none(&["".into(), "a".into()]));
    }

    #[test]
    fn an_endless_password_is_wrong_usage() {
        let error = read_password(io::repeat(7), Path::new("test")).err().expect("too long");
        assert!(matches!(error, Error::Misuse(Misuse::PasswordTooLong { limit: PASSWORD_LIMIT, .. })));
    }

    #[test]
    fn what_no_secret_can_be_read_from_is_told_before_anybody_is_asked() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let from = |path: &Path| PasswordSource {
            password: Some(SecretFrom::File(path.into())),
            ..Default::default()
        };
        let told = from(&path).check();
        assert!(matches!(&told, Err(Error::Misuse(Misuse::Socket(named))) if *named == path), "{told:?}");
        let told = from(folder.path()).check();
        assert!(matches!(&told, Err(Error::System { doing: "read", .. })), "{told:?}");
    }

    #[test]
    fn where_nobody_answers_keyfiles_will_do() {
        let subject = Subject::Named("it".to_owned());
        let key = tempfile::NamedTempFile::new().expect("room");
        std::fs::write(key.path(), "key").expect("written");
        let with = PasswordSource { keyfiles: vec![key.path().into()], ..PasswordSource::new() };
        assert!(with.read(Wanted::Password, &subject, &()).expect("keyfiles").password.is_empty());
        let nothing = PasswordSource::new().read(Wanted::Password, &subject, &());
        assert!(matches!(nothing, Err(Error::Misuse(Misuse::NoPassword(SecretRole::Own)))));
        let new = PasswordSource { role: SecretRole::New, ..PasswordSource::new() };
        let nothing = new.read(Wanted::NewPassword, &subject, &());
        assert!(matches!(nothing, Err(Error::Misuse(Misuse::NoPassword(SecretRole::New)))));
        let answer = SecretBytes::copy_of(b"pw");
        let read = PasswordSource::new().read(Wanted::Password, &subject, &answer).expect("answered");
        assert_eq!(&read.password[..], b"pw");
    }

    /// What is in it changes with what is written to it, or with the header that is made of it.
    #[test]
    fn a_volume_is_no_keyfile_of_its_own() {
        let folder = tempfile::tempdir().expect("temp");
        let [volume, keyfile] = ["volume", "key"].map(|name| folder.path().join(name));
        std::fs::write(&keyfile, "key").expect("room");
        let told = |keyfile: &Path, volume: &Path| {
            let source = PasswordSource { keyfiles: vec![keyfile.into()], ..PasswordSource::new() };
            source.check_for(&Subject::Hidden(volume.to_owned()))
        };
        let refused = |told: Result<(), Error>| matches!(told, Err(Error::Misuse(Misuse::OwnKeyfile(_))));
        // One that is made in it, and one that is there.
        assert!(refused(told(folder.path(), &volume)));
        std::fs::write(&volume, "volume").expect("room");
        assert!(refused(told(folder.path(), &volume)) && refused(told(&volume, &volume)));
        std::fs::hard_link(&volume, folder.path().join("again")).expect("room");
        assert!(refused(told(&folder.path().join("again"), &volume)));
        assert!(told(&keyfile, &volume).is_ok());
        // What is hidden in a folder is none of its keyfiles.
        let [hidden, other] = [".volume", "other"].map(|name| folder.path().join(name));
        assert!(told(folder.path(), &hidden).is_ok() && told(folder.path(), &other.join("new")).is_ok());
    }
}
