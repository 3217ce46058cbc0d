//! A volume that is open in this process, and how it is opened.

use crate::detect::{What, detect};
use crate::disk;
use crate::error::{Error, Misuse};
use crate::log_file;
use crate::logged_store::LoggedStore;
use crate::medium;
use crate::progress::Progress;
use crate::sandbox::Prepared;
use crate::searching::Searched;
use crate::secrets::{Secrets, Sources};
use crate::shown::shown;
use crate::system_drive::SystemDrive;
use crate::told::naming;
use crate::unlock::{KeyRef, UnlockArguments};
use keyway_engine::{Access, Device, LayerSecrets};
use keyway_fs::Superblock;
use keyway_fs::files::Files;
use keyway_store::{Caching, Store};
use keyway_volume::looks::Looks;
use keyway_volume::{Info, Opened, Secrets as VeraCryptSecret, VolumeError, bitlocker};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// A volume that is open in this process.
#[non_exhaustive]
pub struct Volume {
    /// Its sectors.
    pub device: Device,
    /// What its header says.
    pub info: Info,
    /// What its owner should know.
    pub warnings: Vec<String>,
    /// The bytes that it had, where what it lies on has fewer now.
    pub whole_bytes: Option<u64>,
}

impl Volume {
    /// What a file or device looks like without a secret.
    ///
    /// # Errors
    /// It can't be read.
    pub fn detect(path: impl AsRef<Path>) -> Result<What, Error> {
        detect(path.as_ref(), &UnlockArguments::new(), &())
    }

    /// Opens a volume for reading, and asks for what opens it. [`OpenOptions`] has the other ways.
    ///
    /// # Errors
    /// It can't be read, is no volume, or nothing that was answered opens it.
    pub fn open(path: impl AsRef<Path>, secrets: &dyn Secrets) -> Result<Self, Error> {
        OpenOptions::new().open(path, secrets)
    }

    /// The file system inside, to read its files with no mount.
    ///
    /// # Errors
    /// There is none that is known, or it is damaged.
    pub fn into_files(self) -> Result<Files, Error> {
        files_in(Arc::new(self.device))
    }

    /// How many bytes there are from an offset on, `length` at most.
    ///
    /// # Errors
    /// The offset is past the end.
    pub fn available(&self, offset: u64, length: Option<u64>) -> Result<u64, Error> {
        available(self.device.size(), offset, length)
    }
}

/// The file system on a volume's sectors.
pub(crate) fn files_in(device: Arc<Device>) -> Result<Files, Error> {
    let kind = Superblock::read(&device).ok().flatten().map(|found| found.type_name());
    Ok(Files::open(device, kind).map_err(|error| error.checked_by(kind.unwrap_or_default()))?)
}

fn available(size: u64, offset: u64, length: Option<u64>) -> Result<u64, Error> {
    let rest = size.checked_sub(offset).ok_or(Misuse::PastEnd { offset, size })?;
    Ok(length.unwrap_or(rest).min(rest))
}

/// How a volume is opened. As it is made: for reading, and everything is found out or asked for.
#[derive(Clone)]
pub struct OpenOptions<'a> {
    arguments: UnlockArguments,
    sources: Sources,
    access: Access,
    caching: Caching,
    protect: Option<&'a VeraCryptSecret>,
    progress: &'a dyn Progress,
    sandbox: Option<&'a Prepared>,
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> OpenOptions<'a> {
    /// For reading; everything is found out or asked for.
    pub fn new() -> Self {
        Self {
            arguments: UnlockArguments::new(),
            sources: Sources::new(),
            access: Access::ReadOnly,
            caching: Caching::Buffered,
            protect: None,
            progress: &(),
            sandbox: None,
        }
    }

    /// What the volume is looked for as.
    #[must_use]
    pub fn arguments(self, arguments: UnlockArguments) -> Self {
        Self { arguments, ..self }
    }

    /// What was named to open it, and need not be asked for.
    #[must_use]
    pub fn sources(self, sources: Sources) -> Self {
        Self { sources, ..self }
    }

    /// Whether it is written, too.
    #[must_use]
    pub fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Whether its medium's bytes go through the system's page cache.
    #[must_use]
    pub fn caching(self, caching: Caching) -> Self {
        Self { caching, ..self }
    }

    /// The secret of the hidden volume in it that writes must not damage.
    #[must_use]
    pub fn protect_hidden(self, protect: Option<&'a VeraCryptSecret>) -> Self {
        Self { protect, ..self }
    }

    /// Who is told how far the search for the key is, and one for lost metadata.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// A sandbox in which the key is searched for: it is entered when the medium is open.
    pub(crate) fn confined(self, sandbox: Option<&'a Prepared>) -> Self {
        Self { sandbox, ..self }
    }

    /// Opens the volume in a file or on a device, and asks for what opens it and wasn't named.
    ///
    /// # Errors
    /// It can't be read, is no volume, or nothing that was named or answered opens it.
    pub fn open(&self, path: impl AsRef<Path>, secrets: &dyn Secrets) -> Result<Volume, Error> {
        let path = path.as_ref();
        medium::must_exist(path)?;
        let key = self.sources.key(path, &self.arguments, secrets, self.progress)?;
        self.open_with(path, &key)
    }

    /// The same with a key in hand.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_with<'k>(&self, path: &Path, key: impl Into<KeyRef<'k>>) -> Result<Volume, Error> {
        self.unlock(path, key.into(), false).map(|(volume, _)| volume)
    }

    /// The same, with the ciphers' own keys: for somebody else who does the work, as the kernel's dm-crypt.
    pub(crate) fn open_for_hand_over<'k>(
        &self,
        path: &Path,
        key: impl Into<KeyRef<'k>>,
    ) -> Result<(Volume, Vec<LayerSecrets>), Error> {
        self.unlock(path, key.into(), true)
    }

    /// Opens the volume in a store of one's own, which need not be a file.
    ///
    /// # Errors
    /// It can't be read, is no volume, or the key doesn't open it.
    pub fn open_store<'k>(&self, store: Box<dyn Store>, key: impl Into<KeyRef<'k>>) -> Result<Volume, Error> {
        let (opened, _) = self.unlock_store(&*store, key.into(), None, false)?;
        self.over(store, opened)
    }

    fn unlock(
        &self,
        path: &Path,
        key: KeyRef<'_>,
        keys_too: bool,
    ) -> Result<(Volume, Vec<LayerSecrets>), Error> {
        log::info!("unlock {}: {} secret(s) tried", shown(path), key.count());
        let unlocked = self.unlock_medium(path, key, keys_too);
        log_file::outcome("unlock", path, &unlocked, |(volume, _)| {
            let known = serde_json::json!(volume.info);
            let facts = ["format", "cipher", "hash", "encryption_method"].map(|name| known[name].as_str());
            facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        });
        unlocked
    }

    fn unlock_medium(
        &self,
        path: &Path,
        key: KeyRef<'_>,
        keys_too: bool,
    ) -> Result<(Volume, Vec<LayerSecrets>), Error> {
        let store = disk::open(path, &self.arguments, self.access, self.caching)?;
        let drive = match key {
            KeyRef::VeraCrypt(_) => self.arguments.system_drive(path)?,
            KeyRef::BitLocker(_) => None,
        };
        let unlocked = match self.sandbox {
            Some(sandbox) => self.unlock_within(sandbox, &store, key, drive.as_ref(), keys_too),
            None => self.unlock_store(&store, key, drive.as_ref(), keys_too),
        };
        let unlocked = unlocked.map_err(|e| self.told_of_metadata(e, &store));
        let (mut opened, keys) = unlocked.map_err(|e| store.counted_on_disk(e).at(path))?;
        let (store, layout) = store.placing(opened.layout)?;
        opened.layout = layout;
        let store: Box<dyn Store> = match log_file::logged_to() {
            Some(_) => Box::new(LoggedStore::new(Box::new(store), path.to_owned())),
            None => Box::new(store),
        };
        let mut volume = self.over(store, opened)?;
        let number = self.arguments.partition.map(|number| OsString::from(number.to_string()));
        // What they name as the next step is about this one.
        let about =
            |warning: &mut String| *warning = naming(warning, path.as_os_str(), number.as_deref(), "");
        volume.warnings.iter_mut().for_each(about);
        Ok((volume, keys))
    }

    /// Enters the sandbox first, and before that reads the keyfiles: nothing is opened from there on.
    fn unlock_within(
        &self,
        sandbox: &Prepared,
        store: &dyn Store,
        key: KeyRef<'_>,
        drive: Option<&SystemDrive>,
        keys_too: bool,
    ) -> Result<(Opened, Vec<LayerSecrets>), Error> {
        let format = self.arguments.veracrypt_format();
        let protect = self.protect.map(|secret| secret.with_files_read(format)).transpose()?.flatten();
        let options = OpenOptions { protect: protect.as_ref().or(self.protect), ..self.clone() };
        match key {
            KeyRef::VeraCrypt(secret) => {
                let read = secret.with_files_read(format)?;
                sandbox.enter()?;
                let key = KeyRef::VeraCrypt(read.as_ref().unwrap_or(secret));
                let unlocked = options.unlock_store(store, key, drive, keys_too);
                unlocked.map_err(|error| told_of_looks(error, secret))
            }
            KeyRef::BitLocker(_) => {
                sandbox.enter()?;
                options.unlock_store(store, key, drive, keys_too)
            }
        }
    }

    /// Nothing opened what nobody said was VeraCrypt's: perhaps it is another format's, which does not show in front.
    fn told_of_metadata(&self, error: Error, store: &dyn Store) -> Error {
        let mut error = error;
        if let Error::VeraCrypt(VolumeError::WrongSecret { has_metadata, .. }) = &mut error {
            *has_metadata = self.arguments.finds_out() && bitlocker::has_metadata(store);
        }
        error
    }

    fn over(&self, store: Box<dyn Store>, opened: Opened) -> Result<Volume, Error> {
        let access = if opened.read_only { Access::ReadOnly } else { self.access };
        let device = Device::new(store, opened.layout, access)?;
        let Opened { info, warnings, whole_bytes, .. } = opened;
        Ok(Volume { device, info, warnings, whole_bytes })
    }

    fn unlock_store(
        &self,
        store: &dyn Store,
        key: KeyRef<'_>,
        drive: Option<&SystemDrive>,
        keys_too: bool,
    ) -> Result<(Opened, Vec<LayerSecrets>), Error> {
        match key {
            KeyRef::VeraCrypt(secret) => {
                let request = self.arguments.veracrypt_request(secret, self.protect, drive, &self.progress);
                let unlocked = keyway_volume::unlock(store, &request)?;
                let keys = if keys_too { unlocked.layer_secrets()? } else { Vec::new() };
                Ok((unlocked.into(), keys))
            }
            KeyRef::BitLocker(_) if self.protect.is_some() => Err(Misuse::NothingHidden.into()),
            KeyRef::BitLocker(secrets) => {
                let searched = Searched::new(store, self.progress);
                let request = self.arguments.bitlocker_request(secrets);
                let unlocked = bitlocker::unlock(&searched, &request).map_err(Error::from);
                let unlocked = searched.unless_stopped(unlocked)?;
                let keys = if keys_too { unlocked.layer_secrets()? } else { Vec::new() };
                Ok((unlocked.into(), keys))
            }
        }
    }
}

/// What a wrong password looks like is told of what was given, not of what keyfiles made of it.
fn told_of_looks(error: Error, given: &VeraCryptSecret) -> Error {
    let mut error = error;
    if let Error::VeraCrypt(VolumeError::WrongSecret { looks, .. }) = &mut error {
        *looks = Looks::of(&given.password);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_the_volume() {
        assert_eq!(available(10, 0, None).ok(), Some(10));
        assert_eq!(available(10, 4, Some(3)).ok(), Some(3));
        assert_eq!(available(10, 4, Some(30)).ok(), Some(6));
        assert_eq!(available(10, 10, None).ok(), Some(0));
        assert!(matches!(
            available(10, 11, None),
            Err(Error::Misuse(Misuse::PastEnd { offset: 11, size: 10 }))
        ));
    }
}
