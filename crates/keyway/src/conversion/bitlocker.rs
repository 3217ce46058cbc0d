//! A file system becomes a BitLocker volume, one becomes a file system again, or gets another data key.

use super::claim::{allocate, claim};
use super::examined::Examined;
use super::job::{Job, Next, With};
use super::outcome::{EncryptedSpace, Made, NewKeys};
use super::plan::{Contents, ConversionLoss, ConversionPlan, HeaderSpace};
use super::request::{ConversionRequest, NewVolume};
use super::space::{MakingRoom, PAGE, elsewhere, end_in, end_of};
use crate::create::description;
use crate::error::{Error, Misuse};
use crate::progress::tell_weakness;
use crate::under_way::ConversionRefusal;
use crate::unlock::VolumeFormat;
use keyway_convert::bitlocker::{self as convert, EncryptionRequest};
use keyway_convert::{ConversionKind, ConvertError, FreeSpace, PlannedConversion, veracrypt};
use keyway_error::Advice;
use keyway_fs::{FileSystemKind, FoundFileSystem};
use keyway_store::{FileStore, Store};
use keyway_volume::Weakness;
use keyway_volume::bitlocker::{InPlace, Method, NewProtectors, UnlockRequest, Unlocked, unlock};
use std::sync::Arc;

const BITLOCKER: VolumeFormat = VolumeFormat::BitLocker;

struct Encryption {
    fs: FoundFileSystem,
    new: NewVolume,
    method: Method,
}

/// Looks whether the file system can become a volume.
pub(super) fn encryption(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    if request.new.is_given() || request.sources.names_bitlocker() {
        return Err(ConversionRefusal::NothingToOpen.into());
    }
    new.must_suit_bitlocker()?;
    new.protectors.check_in_place(medium.path, &request.sources.password)?;
    let method = new.method()?;
    new.check_free_space(request)?;
    if request.online.is_some() && new.protectors.recovery_file.is_none() && new.protectors.recovery_password
    {
        return Err(ConversionRefusal::ShownToUsers.into());
    }
    let fs = medium.file_system()?;
    let [from, to] = [Contents::of(Some(&fs)), Contents::encrypted_by(BITLOCKER, method.name())];
    let (kind, journal) = (ConversionKind::Encryption, request.journal()?);
    let mut plan = ConversionPlan::new(request, medium.size(), kind, [from, to], journal);
    plan.space = room(request, new, &fs, medium)?;
    fs.kind.check(medium.path).map_err(|e| request.said(e))?;
    plan.used_space_only = new.used_space_only;
    plan.free_space = new.used_space_only.then_some(new.free_space);
    plan.bytes = (!new.used_space_only).then_some(plan.size_bytes);
    Ok((plan, Box::new(Encryption { fs, new: new.clone(), method })))
}

/// Where the room for the metadata comes from: free clusters, or bytes behind the file system.
fn room(
    request: &ConversionRequest,
    new: &NewVolume,
    fs: &FoundFileSystem,
    medium: &Examined<'_>,
) -> Result<HeaderSpace, Error> {
    medium.must_hold_bitlocker()?;
    if fs.kind == FileSystemKind::Xfs {
        let why =
            "XFS becomes no BitLocker volume in place: its own beginning lies where that needs some bytes";
        // It can't be made smaller either, for VeraCrypt's headers.
        let most = veracrypt::content_capacity(medium.size(), request.journal.is_none());
        let (path, bytes) = (request.path.clone(), end_of(fs).saturating_sub(most));
        let advice = Advice::CopyToNewVolume { is_file: path.is_file(), path, bytes };
        return Err(request.said(ConvertError::Unsupported(why, advice)));
    }
    let size = medium.size();
    let (needed, most) = (end_of(fs), convert::content_capacity(size));
    let within = || convert::has_room_within(&*medium.store).map_err(|e| request.said(e));
    if needed <= most || within()? {
        return Ok(HeaderSpace::Enough);
    }
    elsewhere(&request.path, fs, most, new.grow, || {
        let missing = (needed - most).next_multiple_of(PAGE);
        size.next_multiple_of(PAGE) + missing + PAGE
    })
}

impl Encryption {
    fn plan(
        &self,
        with: &With<'_>,
        store: &FileStore,
        protectors: &NewProtectors,
    ) -> Result<PlannedConversion, Error> {
        let request = with.request;
        let wanted = EncryptionRequest {
            volume: InPlace {
                protectors,
                method: self.method,
                used_space_only: self.new.used_space_only,
                description: &description(&request.path, None),
            },
            file_system_bytes: end_in(with.plan.space, &self.fs).min(store.size()),
            journal: with.plan.journal.file(),
            in_use: request.online.is_some(),
        };
        let planned = convert::BitLockerPlan::encryption(store, &wanted);
        let planned = planned.and_then(|plan| plan.of_free(self.new.free_space));
        with.as_asked(planned.map_err(|e| request.said(e))?)
    }
}

impl Job for Encryption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let (request, choice) = (with.request, &self.new.protectors);
        let protectors =
            choice.make(&request.sources.password, &request.path, &request.subject(), with.secrets)?;
        tell_weakness(with.progress, protectors.password.as_deref().and_then(Weakness::of_password));
        let mut files = choice.claim_files(&protectors)?;
        let whole = !self.new.used_space_only || self.new.free_space == FreeSpace::Fill;
        let room = MakingRoom { path: &request.path, fs: &self.fs, space: with.plan.space, whole };
        let begun = room.around(
            with.progress,
            |store| self.plan(with, store, &protectors).map(drop),
            |store, ()| {
                // A plan holds what it has read, and the file system may have become smaller since the first.
                let planned = self.plan(with, &store, &protectors)?;
                // Before anything is changed: nobody shall have a volume whose keys could not be kept.
                if let PlannedConversion::BitLocker(plan) = &planned {
                    files.write(&protectors, plan.block())?;
                }
                with.begin(planned, Arc::new(store), Made::default())
            },
        )?;
        Ok(begun.made(|planned, made| {
            made.cipher = Some(self.method.name().to_owned());
            made.space = Some(EncryptedSpace {
                used_space_only: self.new.used_space_only,
                free_space: with.plan.free_space,
            });
            if let PlannedConversion::BitLocker(plan) = planned {
                made.keys = Some(NewKeys::of(protectors, plan.block(), files, choice.recovery_file.clone()));
            }
        }))
    }
}

struct Reencryption {
    used_space_only: bool,
    method: Method,
}

/// Looks whether the volume can get another data key.
pub(super) fn reencryption(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    if new.hash.is_some() {
        return Err(Misuse::NoChoiceOfHash.into());
    }
    if request.new.is_given() || new.is_bitlockers() {
        return Err(ConversionRefusal::KeepsProtectors.into());
    }
    if new.free_space != FreeSpace::Leave {
        return Err(ConversionRefusal::FreeIsNoise.into());
    }
    let method = new.method_in_place_of(medium.method())?;
    let to = Contents::encrypted_by(BITLOCKER, method.name());
    let (kind, journal) = (ConversionKind::Reencryption, request.journal()?);
    let mut plan = ConversionPlan::new(request, medium.size(), kind, [medium.bitlocker().0, to], journal);
    plan.used_space_only = new.used_space_only;
    plan.bytes = (!new.used_space_only).then_some(plan.size_bytes);
    plan.lost = vec![ConversionLoss::HeaderBackups];
    Ok((plan, Box::new(Reencryption { used_space_only: new.used_space_only, method })))
}

/// Reads what opens the volume, claims it, and opens it.
fn open(with: &With<'_>) -> Result<(Arc<dyn Store>, Unlocked), Error> {
    let request = with.request;
    let (path, arguments) = (&request.path, &request.arguments);
    let secrets = request.sources.bitlocker_key(path, arguments, with.secrets, with.progress)?;
    let store: Arc<dyn Store> = Arc::new(claim(&request.path)?);
    let unlocked = unlock(&store, &UnlockRequest::new(&secrets)).map_err(|e| request.said(e))?;
    Ok((store, unlocked))
}

impl Job for Reencryption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let request = with.request;
        let (store, unlocked) = open(with)?;
        if !self.used_space_only {
            allocate(&request.path)?;
        }
        let file = with.plan.journal.file();
        let cipher_before = Some(unlocked.info.cipher.name().to_owned());
        let planned =
            convert::BitLockerPlan::reencryption(&store, unlocked, self.method, self.used_space_only, file);
        let planned = with.as_asked(planned.map_err(|e| request.said(e))?)?;
        let cipher = Some(self.method.name().to_owned());
        with.begin(planned, store, Made { cipher, cipher_before, ..Made::default() })
    }
}

struct Decryption;

/// Looks whether the volume can become the file system in it.
pub(super) fn decryption(
    request: &ConversionRequest,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    if !request.sources.password.keyfiles.is_empty() || request.sources.password.pim.is_some() {
        return Err(Misuse::NoKeyfiles.into());
    }
    let (from, bytes) = medium.bitlocker();
    let both = [from, Contents::of(None)];
    let (kind, journal) = (ConversionKind::Decryption, request.journal()?);
    let mut plan = ConversionPlan::new(request, medium.size(), kind, both, journal);
    plan.bytes = bytes;
    plan.lost = vec![ConversionLoss::Secrecy];
    Ok((plan, Box::new(Decryption)))
}

impl Job for Decryption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let request = with.request;
        let (store, unlocked) = open(with)?;
        let kind = ConversionKind::Decryption;
        let planned = convert::BitLockerPlan::of_volume(&store, unlocked, kind, with.plan.journal.file());
        let planned = with.as_asked(planned.map_err(|e| request.said(e))?)?;
        with.begin(planned, store, Made::default())
    }
}
