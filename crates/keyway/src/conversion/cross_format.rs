//! A volume of one format becomes a volume of the other, with the same content.

use super::claim::{allocate, claim, set_len};
use super::examined::{Examined, file_system_within};
use super::free_room::{may_begin, must_be_there};
use super::job::{Job, Next, With};
use super::outcome::{Made, NewKeys};
use super::plan::{Contents, ConversionLoss, ConversionPlan, HeaderSpace};
use super::request::{ConversionRequest, NewVolume, read_twice};
use super::space::{PAGE, elsewhere, end_of, not_smaller};
use crate::create::description;
use crate::error::Error;
use crate::medium;
use crate::progress::{Progress, Stage, tell_weakness};
use crate::resize::inside::{Attached, must_go_on, restored};
use crate::secrets::{PasswordSource, SecretRole, Secrets};
use crate::session::SessionSecrets;
use crate::under_way::ConversionRefusal;
use crate::unlock::{Family, Key, UnlockArguments, VolumeFormat};
use keyway_cipher::Chain;
use keyway_convert::cross_format::{self, CrossFormatPlan};
use keyway_convert::{ConversionKind, ConvertError, PlannedConversion};
use keyway_engine::{Access, Device};
use keyway_error::Advice;
use keyway_fs::FoundFileSystem;
use keyway_volume::bitlocker::{self, InPlace, Method, Secret, UnlockRequest};
use keyway_volume::veracrypt::{self, Fill, unlock};
use keyway_volume::{HashName, Secrets as VeraCryptSecret, Weakness};
use std::path::PathBuf;
use std::sync::Arc;

/// Looks whether a volume of that family can become one of the other. The room that a VeraCrypt volume's headers need is
/// found within the BitLocker volume: that is opened for it.
pub(super) fn conversion(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
    old: Family,
    asked: (&dyn Secrets, &dyn Progress),
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    if request.online.is_some() {
        return Err(PlannedConversion::cross_format_in_use().into());
    }
    let file = request.journal()?.ok_or(ConversionRefusal::NeedsJournalFile)?;
    match old {
        Family::VeraCrypt => to_bitlocker(request, new, medium, file, asked),
        Family::BitLocker => to_veracrypt(request, new, medium, file, asked),
    }
}

struct ToBitLocker {
    new: NewVolume,
    method: Method,
    password: PasswordSource,
    /// What opened the volume, and its key derivation: by these its file system was looked at.
    key: Option<(VeraCryptSecret, HashName)>,
}

fn to_bitlocker(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
    file: PathBuf,
    asked: (&dyn Secrets, &dyn Progress),
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    if new.hash.is_some() {
        return Err(ConversionRefusal::NewOnesHash.into());
    }
    new.must_suit_bitlocker()?;
    if new.grow {
        return Err(ConversionRefusal::RoomEnough.into());
    }
    let (own, no_password) = (&request.sources.password, !new.protectors.password);
    // A BitLocker volume has no keyfiles and no PIM: where there are some it gets a password of its own.
    let needs_own = !no_password && (!own.keyfiles.is_empty() || own.pim.is_some());
    let password = match request.new.is_given() {
        false if needs_own && !asked.0.can_answer() => return Err(ConversionRefusal::NotItsSecret.into()),
        false if needs_own => PasswordSource { role: SecretRole::New, ..PasswordSource::new() },
        false if no_password => PasswordSource::new(),
        _ => request.new_or_own().clone(),
    };
    new.protectors.check_in_place(medium.path, &password)?;
    read_twice(own, &password)?;
    let method = new.method()?;
    let from = Contents::volume(VolumeFormat::VeraCrypt);
    let to = Contents::encrypted_by(VolumeFormat::BitLocker, method.name());
    let kind = ConversionKind::Reencryption;
    let mut plan = ConversionPlan::new(request, medium.size(), kind, [from, to], Some(file));
    let (path, least) = (medium.path, bitlocker::SMALLEST_VOLUME);
    if path.is_file() && plan.size_bytes < least {
        let (path, size) = (path.to_owned(), plan.size_bytes);
        return Err(ConversionRefusal::TooSmallForBitLocker { path, size, least }.into());
    }
    medium.must_hold_bitlocker()?;
    plan.bytes = Some(cross_format::content_capacity(plan.size_bytes));
    plan.lost = vec![ConversionLoss::HiddenVolume, ConversionLoss::HeaderBackups];
    may_begin(&plan, request)?;
    let key = look_within(&mut plan, request, medium, asked)?;
    Ok((plan, Box::new(ToBitLocker { new: new.clone(), method, password, key })))
}

/// Opens the VeraCrypt volume, and puts into the plan what that shows. Where nothing was named and nobody can be asked there is
/// only what is known without.
fn look_within(
    plan: &mut ConversionPlan,
    request: &ConversionRequest,
    medium: &Examined<'_>,
    (secrets, progress): (&dyn Secrets, &dyn Progress),
) -> Result<Option<(VeraCryptSecret, HashName)>, Error> {
    let own = &request.sources.password;
    if own.password.is_none() && own.keyfiles.is_empty() && !secrets.can_answer() {
        return Ok(None);
    }
    let secret = request.sources.veracrypt_key(medium.path, &request.arguments, secrets, progress)?;
    let unlock_request = request.arguments.veracrypt_request(&secret, None, None, &progress);
    let opened = unlock(&medium.store, &unlock_request).map_err(|e| request.said(e))?;
    let (cipher, hash) = (opened.opened().suite.chain, opened.opened().hash);
    plan.from = Contents::veracrypt(Some(cipher), Some(hash));
    let device = Device::new(Box::new(medium.store.clone()), opened.layout, Access::ReadOnly)?;
    plan.within = FoundFileSystem::find(&device)?.map(|fs| fs.kind.name());
    Ok(Some((secret, hash)))
}

impl Job for ToBitLocker {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let (request, choice) = (with.request, &self.new.protectors);
        let path = &*request.path;
        let mut arguments = request.arguments.clone();
        let secrets = match self.key {
            // Nobody waits for the search a second time.
            Some((secrets, hash)) => {
                arguments.hash = Some(hash);
                secrets
            }
            None => request.sources.veracrypt_key(path, &arguments, with.secrets, with.progress)?,
        };
        let store = claim(path)?;
        let unlock_request = arguments.veracrypt_request(&secrets, None, None, &with.progress);
        let opened = unlock(&store, &unlock_request).map_err(|e| request.said(e))?;
        let protectors = choice.make(&self.password, path, &request.subject(), with.secrets)?;
        tell_weakness(with.progress, protectors.password.as_deref().and_then(Weakness::of_password));
        let mut files = choice.claim_files(&protectors)?;
        let wish = InPlace {
            protectors: &protectors,
            method: self.method,
            used_space_only: false,
            description: &description(path, None),
        };
        let planned = CrossFormatPlan::to_bitlocker(&store, &opened, &wish, journal_of(with.plan));
        let planned = planned.map_err(|e| request.said(e))?;
        let cipher_before = Some(opened.info.cipher.clone());
        drop((opened, secrets));
        allocate(path)?;
        // Before anything is changed: nobody shall have a volume whose keys could not be kept.
        if let Some(block) = planned.new_block() {
            files.write(&protectors, block)?;
        }
        let cipher = Some(self.method.name().to_owned());
        let made = Made { cipher, cipher_before, ..Made::default() };
        let begun = with.begin(planned.into(), Arc::new(store), made)?;
        Ok(begun.made(|planned, made| {
            if let PlannedConversion::CrossFormat(plan) = planned
                && let Some(block) = plan.new_block()
            {
                made.keys = Some(NewKeys::of(protectors, block, files, choice.recovery_file.clone()));
            }
        }))
    }
}

/// The journal's file: there is one for certain.
fn journal_of(plan: &ConversionPlan) -> PathBuf {
    plan.journal.file().unwrap_or_default()
}

struct ToVeraCrypt {
    new: NewVolume,
    cipher: Chain,
    /// What opens the volume, by which its file system was looked at.
    key: Vec<Secret>,
    fs: Option<FoundFileSystem>,
    /// Bytes of content.
    needed: u64,
}

fn to_veracrypt(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
    file: PathBuf,
    (secrets, progress): (&dyn Secrets, &dyn Progress),
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    let path = medium.path;
    if new.is_bitlockers() {
        return Err(ConversionRefusal::NotVeraCrypts.into());
    }
    let cipher = new.veracrypt_cipher()?;
    let own = &request.sources.password;
    if !own.keyfiles.is_empty() || own.pim.is_some() {
        return Err(ConversionRefusal::NewOnesSecret.into());
    }
    read_twice(&request.sources.password, request.new_or_own())?;
    let to = Contents::veracrypt(Some(cipher), Some(new.hash()));
    let both = [medium.bitlocker().0, to];
    let kind = ConversionKind::Reencryption;
    let mut plan = ConversionPlan::new(request, medium.size(), kind, both, Some(file));
    may_begin(&plan, request)?;
    let key = request.sources.bitlocker_key(path, &request.arguments, secrets, progress)?;
    let (size, fs) = (plan.size_bytes, medium.file_system_within(&key)?);
    let most = cross_format::content_capacity(size) / PAGE * PAGE;
    // Where no file system is known, everything is content.
    let needed = fs.as_ref().map_or(size, |fs| end_of(fs).min(size));
    let larger = || size.next_multiple_of(PAGE) + (needed - most).next_multiple_of(PAGE);
    plan.space = match &fs {
        _ if needed <= most => HeaderSpace::Enough,
        Some(fs) => elsewhere(path, fs, most, new.grow, larger)?,
        None if new.grow && path.is_file() => HeaderSpace::LargerFile { bytes: larger() },
        None => return Err(request.said(ConvertError::NoRoom { missing: needed - most })),
    };
    if let HeaderSpace::LargerFile { .. } = plan.space {
        // Room for that is looked for as soon as it is known to be needed.
        must_be_there(&plan)?;
    }
    plan.bytes = Some(needed);
    plan.lost = vec![ConversionLoss::HeaderBackups];
    Ok((plan, Box::new(ToVeraCrypt { new: new.clone(), cipher, key, fs, needed })))
}

impl Job for ToVeraCrypt {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let Self { new, cipher, key, fs, needed } = *self;
        let (request, space) = (with.request, with.plan.space);
        let path = &*request.path;
        // Before anything is changed: who mistypes it has the file system as it was.
        let source = request.new_or_own();
        let derived = source.derived_by(new.hash());
        let secrets = source.read_new(derived, &request.subject(), with.secrets)?;
        tell_weakness(with.progress, Weakness::of_secrets(&secrets, new.hash()));
        let wish = veracrypt::NewVolume { secrets: &secrets, cipher, hash: new.hash(), fill: Fill::Quick };
        let own = SessionSecrets::from(Key::BitLocker(key));
        let Key::BitLocker(key) = &own.key else { return Err(ConversionRefusal::NotBitLocker.into()) };
        let attached = Attached {
            volume: path,
            arguments: &UnlockArguments::new(),
            secrets: &own,
            serving: request.serving.as_ref(),
        };
        let resize =
            |fs: &FoundFileSystem, to| attached.resize(fs.kind, to, |e| not_smaller(path, fs, to, e));
        let content = match (space, &fs) {
            (HeaderSpace::SmallerFileSystem { bytes, .. }, Some(fs)) => {
                with.progress.stage(Stage::Shrinking(fs.kind));
                resize(fs, bytes)?;
                bytes
            }
            _ => needed,
        };
        let begin = || {
            must_go_on()?;
            let now = || file_system_within(medium::look(path)?, key).map_err(|e| request.said(e));
            if content < needed && now()?.is_none_or(|now| end_of(&now) > content) {
                return Err(ConversionRefusal::StillTooLarge(path.to_owned()).into());
            }
            if let HeaderSpace::LargerFile { bytes } = space {
                set_len(path, bytes)?;
            }
            let store = claim(path)?;
            let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(key));
            let unlocked = unlocked.map_err(|e| request.said(e))?;
            let made = Made {
                cipher: Some(cipher.to_string()),
                hash: Some(new.hash()),
                cipher_before: Some(unlocked.info.cipher.name().to_owned()),
                ..Made::default()
            };
            let planned =
                CrossFormatPlan::to_veracrypt(&store, unlocked, content, &wish, journal_of(with.plan));
            let planned = planned.map_err(|e| request.said(e))?;
            allocate(path)?;
            with.begin(planned.into(), Arc::new(store), made)
        };
        begin().map_err(|error: Error| {
            // Nothing has come of it, and everything gets the size back that it had.
            let left = match (space, &fs) {
                (HeaderSpace::LargerFile { .. }, _) => match set_len(path, with.plan.size_bytes) {
                    Ok(()) => Advice::FileSizeRestored,
                    Err(e) => Advice::FileStaysLarger { why: e.to_string() },
                },
                (HeaderSpace::SmallerFileSystem { .. }, Some(fs)) => restored(fs.kind, resize(fs, fs.bytes)),
                _ => return error,
            };
            error.leaving(left)
        })
    }
}
