//! Changing what opens a volume: protectors come, go and are replaced, protection is suspended and
//! taken up again.
//!
//! Every change is one new block in the place of the three copies ([`super::rewrite`]): after a
//! power cut the volume has all of it or nothing of it.

use super::block::Block;
use super::codes::{Protection, role};
use super::entry::{Entry, Protector, Value};
use super::guid::Guid;
use super::protect::{ProtectError, ProtectorMaker};
use super::recovery::RecoveryPassword;
use super::rewrite::RewriteError;
use super::seal::SecretKey;
use super::startup_key::StartupKey;
use super::unlock::OpenedKeys;
use keyway_error::explain;
use keyway_secret::SecretBytes;
use keyway_store::Store;

/// What a protector shall ask for.
pub enum NewProtector<'a> {
    /// A password in UTF-8.
    Password(&'a SecretBytes),
    /// A recovery password.
    RecoveryPassword(&'a RecoveryPassword),
    /// A startup key.
    StartupKey(&'a StartupKey),
    /// Nothing: the key lies beside it, protection is suspended.
    ClearKey,
}

/// Whether a volume may be left without any protector that opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastProtector {
    /// No.
    Keep,
    /// Yes: what is not open then stays closed for ever.
    Remove,
}

/// Protectors that could not be changed. Unless the message says otherwise, everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The protector could not be made.
    #[error(transparent)]
    Make(#[from] ProtectError),
    /// The metadata could not be written.
    #[error(transparent)]
    Write(#[from] RewriteError),
    /// There is none with that identifier.
    #[error("the volume has no protector {0}")]
    NoSuchProtector(Guid),
    /// There is one already.
    #[error("{}", has_one(*.0))]
    HasOne(Protection),
    /// Nothing would open the volume any more.
    #[error("{0} is the last protector that opens this volume: without it nobody can ever open it again")]
    LastProtector(Guid),
    /// Only the clear key would open the volume any more.
    #[error(
        "{0} is the last protector but the clear key of the suspended protection: without it the volume stays open to \
         everybody"
    )]
    LastSecret(Guid),
    /// Protection is not suspended.
    #[error("the volume's protection is not suspended")]
    NotSuspended,
    /// The volume has no protector to go back to.
    #[error("the volume has no protector but its clear key")]
    NothingToResume,
    /// Another kind of protector than the one it shall replace.
    #[error("the protector {id} is a {}, which can't become a {}", .has.name(), .wanted.name())]
    OtherKind {
        /// Which protector.
        id: Guid,
        /// What it is.
        has: Protection,
        /// What it should become.
        wanted: Protection,
    },
}

fn has_one(protection: Protection) -> String {
    match protection {
        Protection::ClearKey => "the volume's protection is suspended already".to_owned(),
        other => format!("the volume has a {} protector already", other.name()),
    }
}

explain! { ChangeError, through Make | Write {
    Self::NoSuchProtector(_) => [NoSuchProtector Request, ListProtectors],
    Self::HasOne(Protection::ClearKey) => [Exists State, ResumeProtection],
    Self::HasOne(_) => [Exists Request, ChangeThatOne],
    Self::LastProtector(_) => [LastProtector Request, AddAnotherOrErase],
    Self::LastSecret(_) => [LastProtector Request, AddAnother],
    Self::NotSuspended => [NotSuspended State, ListProtectors],
    Self::NothingToResume => [LastProtector State, AddProtector],
    Self::OtherKind { .. } => [Request, AddThenRemove],
} }

impl NewProtector<'_> {
    /// What it asks for.
    pub const fn protection(&self) -> Protection {
        match self {
            Self::Password(_) => Protection::Password,
            Self::RecoveryPassword(_) => Protection::RecoveryPassword,
            Self::StartupKey(_) => Protection::StartupKey,
            Self::ClearKey => Protection::ClearKey,
        }
    }

    /// The identifier it will have: a startup key's file carries its own, others take `id`.
    fn id(&self, id: Guid) -> Guid {
        if let Self::StartupKey(key) = self { key.id } else { id }
    }

    fn make(&self, id: Guid, maker: &mut ProtectorMaker<'_>) -> Result<Entry, ProtectError> {
        match self {
            Self::Password(password) => maker.password(id, password),
            Self::RecoveryPassword(recovery) => maker.recovery_password(id, recovery),
            Self::StartupKey(key) => maker.startup_key(key),
            Self::ClearKey => maker.clear_key(id),
        }
    }
}

/// Whether a protector is a way in that its owner must prove to have: one that this program, or at
/// least Windows, can use, and no clear key.
fn opens(protector: &Protector) -> bool {
    !matches!(protector.protection, Protection::ClearKey | Protection::Other(_))
}

/// Whether a protector gives the master key to whoever has its secret here, or to everybody: a certificate's and the
/// network's need a Windows that is set up for them, and one of which a part is missing gives nothing.
fn gives_the_key(protector: &Protector) -> bool {
    let entries = &protector.entries;
    let sealed = entries.sealed(role::PROPERTY).is_some();
    match protector.protection {
        Protection::Password | Protection::RecoveryPassword => sealed && entries.stretch_key().is_some(),
        Protection::StartupKey => sealed,
        Protection::ClearKey => sealed && entries.key().is_some(),
        Protection::Certificate | Protection::TpmNetwork | Protection::Other(_) => false,
        _ => true,
    }
}

fn protector_of(entry: &Entry) -> Option<&Protector> {
    match &entry.value {
        Value::Protector(protector) if entry.role == role::PROTECTOR => Some(protector),
        _ => None,
    }
}

/// Whether a protector may go, as its volume's metadata says, which needs no secret.
///
/// # Errors
/// As [`OpenedKeys::may_remove`].
pub fn may_remove_from(block: &Block, id: Guid, last: LastProtector) -> Result<(), ChangeError> {
    let all = || block.dataset.entries.protectors();
    let removed = all().find(|p| p.id == id).ok_or(ChangeError::NoSuchProtector(id))?;
    let mut left = all().filter(|p| p.id != id && gives_the_key(p)).peekable();
    if !gives_the_key(removed) || last == LastProtector::Remove {
        return Ok(());
    }
    if left.peek().is_none() {
        return Err(ChangeError::LastProtector(id));
    }
    match left.all(|p| p.protection == Protection::ClearKey) {
        true => Err(ChangeError::LastSecret(id)),
        false => Ok(()),
    }
}

impl ChangeError {
    /// That the last protector, or the last but a clear key, would go.
    pub const fn is_of_the_last(&self) -> bool {
        matches!(self, Self::LastProtector(_) | Self::LastSecret(_))
    }
}

impl OpenedKeys {
    /// Adds a protector with the identifier `id`, which should be random; a startup key's has the
    /// key's own. Windows knows one password and one clear key per volume, and any number of the
    /// others.
    pub fn add_protector(
        &mut self,
        store: &dyn Store,
        id: Guid,
        new: &NewProtector<'_>,
    ) -> Result<Guid, ChangeError> {
        self.may_add(new.protection())?;
        let mut block = self.metadata.block().clone();
        let entry = new.make(id, &mut ProtectorMaker::new(&self.master, &mut block.dataset))?;
        self.add_entry(store, block, entry)
    }

    /// Whether there may be one more of that kind: of some Windows knows but one. Nothing is changed.
    ///
    /// # Errors
    /// [`ChangeError::HasOne`].
    pub fn may_add(&self, wanted: Protection) -> Result<(), ChangeError> {
        may_add_beside(self.protectors().map(|protector| protector.protection), wanted)
    }

    /// Adds a protector that was made by `make`, for kinds that need more than this module knows: a
    /// TPM's.
    ///
    /// # Errors
    /// See [`ChangeError`]; and what `make` says.
    pub fn add_made<E: From<ChangeError>>(
        &mut self,
        store: &dyn Store,
        make: impl FnOnce(&mut ProtectorMaker<'_>) -> Result<Entry, E>,
    ) -> Result<Guid, E> {
        let mut block = self.metadata.block().clone();
        let entry = make(&mut ProtectorMaker::new(&self.master, &mut block.dataset))?;
        Ok(self.add_entry(store, block, entry)?)
    }

    /// The same in the place of another protector, in one step: the old one opens the volume, or the new one.
    ///
    /// # Errors
    /// See [`ChangeError`]; and what `make` says, which gets the old one.
    pub fn replace_made<E: From<ChangeError>>(
        &mut self,
        store: &dyn Store,
        id: Guid,
        make: impl FnOnce(&mut ProtectorMaker<'_>) -> Result<Entry, E>,
    ) -> Result<Guid, E> {
        let mut block = self.metadata.block().clone();
        let entry = make(&mut ProtectorMaker::new(&self.master, &mut block.dataset))?;
        Ok(self.put_in_place(store, block, id, entry)?)
    }

    fn put_in_place(
        &mut self,
        store: &dyn Store,
        mut block: Block,
        id: Guid,
        entry: Entry,
    ) -> Result<Guid, ChangeError> {
        let kept = protector_of(&entry).map_or(id, |p| p.id);
        let list = &mut block.dataset.entries.list;
        let slot = list.iter_mut().find(|slot| protector_of(slot).is_some_and(|p| p.id == id));
        *slot.ok_or(ChangeError::NoSuchProtector(id))? = entry;
        self.write(store, block)?;
        Ok(kept)
    }

    fn add_entry(&mut self, store: &dyn Store, mut block: Block, entry: Entry) -> Result<Guid, ChangeError> {
        let id = protector_of(&entry).map(|p| p.id).unwrap_or(Guid([0; 16]));
        let list = &mut block.dataset.entries.list;
        // Windows lists protectors before the data key and what follows it.
        let after = list.iter().rposition(|e| protector_of(e).is_some()).map_or(list.len().min(1), |i| i + 1);
        list.insert(after, entry);
        self.write(store, block)?;
        Ok(id)
    }

    /// Takes a protector away.
    ///
    /// # Errors
    /// See [`ChangeError`]; the last one that can be used goes only if `last` says so.
    pub fn remove_protector(
        &mut self,
        store: &dyn Store,
        id: Guid,
        last: LastProtector,
    ) -> Result<(), ChangeError> {
        self.may_remove(id, last)?;
        let mut block = self.metadata.block().clone();
        block.dataset.entries.list.retain(|entry| protector_of(entry).is_none_or(|p| p.id != id));
        self.write(store, block)
    }

    /// Whether that could be done. Nothing is changed.
    ///
    /// # Errors
    /// As [`OpenedKeys::remove_protector`], but of the medium.
    pub fn may_remove(&self, id: Guid, last: LastProtector) -> Result<(), ChangeError> {
        may_remove_from(self.metadata.block(), id, last)
    }

    fn protectors(&self) -> impl Iterator<Item = &Protector> {
        self.metadata.block().dataset.entries.protectors()
    }

    /// Gives a protector another secret of the same kind, in one step. It keeps its place and, but
    /// for a startup key (whose file carries it), its identifier.
    pub fn replace_protector(
        &mut self,
        store: &dyn Store,
        id: Guid,
        new: &NewProtector<'_>,
    ) -> Result<Guid, ChangeError> {
        let mut block = self.metadata.block().clone();
        let has = block.dataset.entries.protectors().find(|p| p.id == id);
        let has = has.ok_or(ChangeError::NoSuchProtector(id))?.protection;
        let wanted = new.protection();
        if has != wanted {
            return Err(ChangeError::OtherKind { id, has, wanted });
        }
        let kept = new.id(id);
        let entry = new.make(kept, &mut ProtectorMaker::new(&self.master, &mut block.dataset))?;
        self.put_in_place(store, block, id, entry)
    }

    /// Suspends protection: the volume opens without a secret until [`OpenedKeys::resume`].
    pub fn suspend(&mut self, store: &dyn Store) -> Result<Guid, ChangeError> {
        let id = Guid::random().map_err(ProtectError::from)?;
        self.add_protector(store, id, &NewProtector::ClearKey)
    }

    /// Ends that.
    pub fn resume(&mut self, store: &dyn Store) -> Result<(), ChangeError> {
        self.may_resume()?;
        let mut block = self.metadata.block().clone();
        let clear = |entry: &Entry| protector_of(entry).is_some_and(|p| p.protection == Protection::ClearKey);
        block.dataset.entries.list.retain(|entry| !clear(entry));
        self.write(store, block)
    }

    /// Whether that could be done. Nothing is changed.
    ///
    /// # Errors
    /// As [`OpenedKeys::resume`], but of the medium.
    pub fn may_resume(&self) -> Result<(), ChangeError> {
        if !self.protectors().any(|p| p.protection == Protection::ClearKey) {
            return Err(ChangeError::NotSuspended);
        }
        if !self.protectors().any(opens) {
            return Err(ChangeError::NothingToResume);
        }
        Ok(())
    }

    /// The recovery password of a protector, which the metadata keeps for those who opened the volume.
    pub fn recovery_password(&self, id: Guid) -> Option<RecoveryPassword> {
        let entries = &self.metadata.block().dataset.entries;
        let protector = entries.protectors().find(|p| p.id == id)?;
        let backup = protector.entries.stretch_key()?.entries.sealed(role::RECOVERY_PASSWORD_BACKUP)?;
        RecoveryPassword::from_bytes(SecretKey::unseal(&self.master.bytes, backup)?.bytes)
    }

    fn write(&mut self, store: &dyn Store, block: Block) -> Result<(), ChangeError> {
        let written = self.metadata.rewrite(store, block, &self.master)?;
        self.metadata.replaced_by(written);
        Ok(())
    }
}

/// Whether there may be one more of that kind beside those that there are.
///
/// # Errors
/// [`ChangeError::HasOne`].
pub fn may_add_beside(
    mut has: impl Iterator<Item = Protection>,
    wanted: Protection,
) -> Result<(), ChangeError> {
    let single = matches!(wanted, Protection::Password | Protection::ClearKey);
    let rival = |has: &Protection| single && *has == wanted || wanted.needs_tpm() && has.needs_tpm();
    has.find(rival).map_or(Ok(()), |other| Err(ChangeError::HasOne(other)))
}
