//! A volume that isn't open yet: where it is, what it is looked for as, what was named to open it.

use crate::confining::Confining;
use crate::detect;
use crate::disk::{self, DiskError, Meant, Part};
use crate::error::{Error, Misuse};
use crate::medium;
use crate::progress::Progress;
use crate::sandbox::{Prepared, Sandbox};
use crate::secrets::{PasswordSource, Secrets, Sources, Subject, Wanted, one_standard_input};
use crate::session::{self, SessionError, naming_the_open_one, refuse_if_open, refuse_if_written};
use crate::system_drive::SystemDrive;
use crate::unlock::{Family, Key, UnlockArguments};
use crate::volume::{OpenOptions, Volume};
use keyway_engine::Access;
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{Locked, Secret};
use keyway_volume::{NotAVolume, Secrets as VeraCryptSecret};
use std::path::PathBuf;

/// What opens a volume, and the hidden one in it that is to be protected.
pub(crate) type Keys = (Key, Option<VeraCryptSecret>);

/// A volume that isn't open yet.
#[derive(Clone)]
#[non_exhaustive]
pub struct LockedVolume<'a> {
    /// Its file or device.
    pub path: PathBuf,
    /// What it is looked for as.
    pub arguments: UnlockArguments,
    /// What was named to open it.
    pub sources: Sources,
    /// What was named to open the hidden volume in it, where that is to be protected.
    pub protect: Option<PasswordSource>,
    /// What this process gives up before the key is searched for, or as soon as it is open; nothing if there is none.
    pub sandbox: Option<Sandbox>,
    /// Who is asked for what was not.
    pub secrets: &'a dyn Secrets,
    /// Who is told how far the search for the key is, and one for lost metadata.
    pub progress: &'a dyn Progress,
    /// The partition that it was taken to be, where the path was a disk's.
    pub(crate) meant: Option<Meant>,
}

impl<'a> LockedVolume<'a> {
    /// Everything is found out, or asked for.
    pub fn new(path: impl Into<PathBuf>, secrets: &'a dyn Secrets) -> Self {
        let (arguments, sources) = (UnlockArguments::new(), Sources::new());
        let (protect, sandbox, meant) = (None, None, None);
        Self { path: path.into(), arguments, sources, protect, sandbox, secrets, progress: &(), meant }
    }

    /// The same, in that sandbox at the latest when it is open: whoever asked for it opens nothing else by a path afterwards.
    #[must_use]
    pub fn within(self, sandbox: Sandbox) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// Which formats' code is to look at it.
    ///
    /// # Errors
    /// It isn't there, can't be read, or is half converted.
    pub fn family(&self) -> Result<Family, Error> {
        medium::must_exist(&self.path)?;
        detect::family(&self.path, &self.arguments)
    }

    /// Refuses what is plainly no volume that what was named could open, and what was named and isn't there.
    ///
    /// # Errors
    /// As [`Sources::family`] and [`Sources::check`].
    pub fn must_be_one(&self) -> Result<(), Error> {
        self.sources.check()?;
        self.protect.as_ref().map_or(Ok(()), PasswordSource::check)?;
        self.sources.family(&self.path, &self.arguments).map(drop)
    }

    /// Refuses, before anyone is asked for a secret, a volume that is open: to read what is in it where that may change
    /// meanwhile, or to write to it.
    ///
    /// # Errors
    /// It is open or somebody else has it; it isn't there, or this user may not have it.
    pub fn must_be_free(&self, access: Access) -> Result<(), Error> {
        medium::must_exist(&self.path)?;
        if access == Access::ReadWrite {
            self.must_be_sure()?;
        }
        let free = match access {
            Access::ReadOnly => refuse_if_written(&self.path),
            Access::ReadWrite => {
                session::must_be_writable(&self.path)?;
                refuse_if_open(&self.path, access)
            }
        };
        // Whoever converts it has it, too: what helps then is to let that end.
        if matches!(&free, Err(Error::Session(SessionError::Taken { .. })))
            && let Err(half @ (Error::HalfConverted { .. } | Error::PartitionHalfConverted { .. })) =
                detect::family(&self.path, &self.arguments)
        {
            return Err(half);
        }
        free.map_err(|refused| match detect::plain_and_mounted(&self.path, &self.arguments) {
            Some(plain) => plain,
            None => naming_the_open_one(&self.path, self.arguments.partition, refused),
        })
    }

    /// Refuses, before anyone is asked for a secret, a volume that can't be read from that offset on: the file or device
    /// ends before it.
    ///
    /// # Errors
    /// It does; or as [`LockedVolume::must_be_free`].
    pub fn must_reach(&self, offset: u64) -> Result<(), Error> {
        self.must_be_free(Access::ReadOnly)?;
        let size = medium::look(&self.path)?.size();
        if offset > size { Err(Misuse::PastEnd { offset, size }.into()) } else { Ok(()) }
    }

    /// Finds out which partition is meant where the path is a disk's, and means that from now on: by its own device, where
    /// the kernel has one. Nothing where it is no disk, or can't be looked at: whoever opens it says why.
    ///
    /// # Errors
    /// Several may be meant, or none; or there is none of the number that was named.
    pub fn find_partition(&mut self) -> Result<Option<Meant>, Error> {
        let meant = match disk::meant(&self.path, &self.arguments) {
            Ok(Some(meant)) => meant,
            Err(error @ Error::Disk(_)) => return Err(error),
            Ok(None) | Err(_) => return Ok(None),
        };
        self.arguments.partition = Some(meant.partition.number);
        if let Some(device) = &meant.device {
            (self.path, self.arguments.partition) = (device.clone(), None);
        }
        self.meant = Some(meant.clone());
        Ok(Some(meant))
    }

    /// Refuses to change a partition that nobody can tell from noise, and nobody has named.
    fn must_be_sure(&self) -> Result<(), Error> {
        let meant = match &self.meant {
            Some(meant) => Some(meant.clone()),
            None => disk::meant(&self.path, &self.arguments)?,
        };
        meant.filter(|meant| meant.guessed).map_or(Ok(()), |Meant { volume: path, partition, .. }| {
            Err(DiskError::Guessed { path, number: partition.number }.into())
        })
    }

    /// Refuses a partition of a disk: what is done takes a whole file or device.
    pub(crate) fn must_be_whole(&self) -> Result<(), Error> {
        match self.arguments.partition {
            Some(1..) => Err(DiskError::Whole(self.path.clone()).into()),
            Some(_) => Ok(()),
            None => disk::refuse(&self.path),
        }
    }

    /// That there is less of the volume than there was: the reason, as a rule, why something did not come to its end. What
    /// is in it can't tell.
    pub fn cut_off(&self) -> Option<String> {
        self.seen_of_bitlocker().and_then(|seen| detect::cut_off(&seen.warnings))
    }

    /// The same in bytes: those that it had, and those that there are. Nothing is searched for that.
    pub(crate) fn lengths_of_cut(&self) -> Option<(u64, u64)> {
        let seen = if self.arguments.searches() { None } else { self.seen_of_bitlocker() };
        detect::lengths_of_cut(&seen?.warnings)
    }

    /// Whether a BitLocker volume has free space that was never encrypted, as it says without a secret.
    pub(crate) fn leaves_free_space(&self) -> bool {
        self.seen_of_bitlocker().is_some_and(|seen| seen.info.used_space_only)
    }

    fn seen_of_bitlocker(&self) -> Option<Locked> {
        match self.family() {
            Ok(Family::BitLocker) => {
                detect::look_at_bitlocker(&self.path, &self.arguments, self.progress).ok()
            }
            _ => None,
        }
    }

    /// Refuses, before anyone is asked for a secret, to change a BitLocker volume whose first sector is lost.
    pub(crate) fn must_have_first_sector(&self) -> Result<(), Error> {
        // What is half converted has another one for now.
        self.family()?;
        detect::must_have_first_sector(&self.path, &self.to_look()?, &self.arguments)
    }

    /// What opens it.
    ///
    /// # Errors
    /// As [`Sources::key`].
    pub fn key(&self) -> Result<Key, Error> {
        self.sources.key(&self.path, &self.arguments, self.secrets, self.progress)
    }

    /// The same, and what opens the hidden volume that is to be protected.
    ///
    /// # Errors
    /// As [`Sources::key`]; or there can be no hidden volume.
    pub fn keys(&self) -> Result<(Key, Option<VeraCryptSecret>), Error> {
        let Some(protect) = &self.protect else { return Ok((self.key()?, None)) };
        one_standard_input([&self.sources.password, protect])?;
        if self.family()? == Family::BitLocker {
            return Err(Misuse::NothingHidden.into());
        }
        let key = self.key()?;
        // Who has mistyped the first is not asked for the second; other spellings of it were tried on the volume already.
        if protect.password.is_none() && !self.sources.tries_variants {
            let options = OpenOptions::new().arguments(self.arguments.clone()).progress(self.progress);
            options.open_with(&self.path, &key)?;
        }
        let hidden = protect.read(Wanted::Password, &Subject::Hidden(self.path.clone()), self.secrets)?;
        Ok((key, Some(hidden)))
    }

    /// Opens it in this process, which is in the sandbox then: from the search for the key on, unless somebody was asked for a
    /// secret, who may have mistyped it.
    ///
    /// # Errors
    /// Nothing that was named or answered opens it, or it is damaged; the sandbox lacks a layer that is required.
    pub fn open(&self, access: Access, caching: Caching) -> Result<Volume, Error> {
        let confining = self.confining()?;
        let keys = self.asking(&confining).keys()?;
        let open = self.opened(access, caching, &keys, confining.before())?;
        confining.enter()?;
        Ok(open)
    }

    /// The same, with what opened it, and the sandbox that is still to be entered.
    pub(crate) fn open_outside(
        &self,
        access: Access,
        caching: Caching,
    ) -> Result<(Volume, Keys, Option<Prepared>), Error> {
        let sandbox = self.sandbox.as_ref().map(Sandbox::prepare).transpose()?;
        let keys = self.keys()?;
        let open = self.opened(access, caching, &keys, None)?;
        Ok((open, keys, sandbox))
    }

    fn opened(
        &self,
        access: Access,
        caching: Caching,
        (key, protect): &Keys,
        sandbox: Option<&Prepared>,
    ) -> Result<Volume, Error> {
        let options = OpenOptions::new().arguments(self.arguments.clone()).access(access).caching(caching);
        let options = options.protect_hidden(protect.as_ref()).progress(self.progress).confined(sandbox);
        options.open_with(&self.path, key)
    }

    /// What its sandbox needs, while there are paths.
    pub(crate) fn confining(&self) -> Result<Confining<'_>, Error> {
        Confining::new(self.sandbox.as_ref(), self.secrets)
    }

    /// The same volume, of which is noted whether somebody was asked for what opens it.
    pub(crate) fn asking<'s>(&'s self, confining: &'s Confining<'_>) -> LockedVolume<'s> {
        LockedVolume { secrets: confining.secrets(), ..self.clone() }
    }

    pub(crate) fn veracrypt_key(&self) -> Result<VeraCryptSecret, Error> {
        self.sources.veracrypt_key(&self.path, &self.arguments, self.secrets, self.progress)
    }

    pub(crate) fn bitlocker_key(&self) -> Result<Vec<Secret>, Error> {
        self.sources.bitlocker_key(&self.path, &self.arguments, self.secrets, self.progress)
    }

    pub(crate) fn system_drive(&self) -> Result<Option<SystemDrive>, Error> {
        self.arguments.system_drive(&self.path)
    }

    /// That it is plainly no volume, and what helps.
    pub fn not_a_volume(&self, reason: NotAVolume) -> Error {
        self.to_look().map_or_else(|error| error, |store| store.not_a_volume(&self.path, reason))
    }

    /// Its medium, to look at.
    pub(crate) fn to_look(&self) -> Result<Part, Error> {
        disk::open(&self.path, &self.arguments, Access::ReadOnly, Caching::Buffered)
    }

    /// Its medium, to change what opens it: nothing may lie in a cache afterwards.
    pub(crate) fn to_change(&self) -> Result<Part, Error> {
        disk::open(&self.path, &self.arguments, Access::ReadWrite, Caching::Direct)
    }

    /// Puts the volume to an error of a crate below.
    pub(crate) fn said<E: Into<Error>>(&self, error: E) -> Error {
        error.into().at(&self.path)
    }
}
