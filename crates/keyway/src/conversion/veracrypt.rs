//! A file system becomes a VeraCrypt volume, one becomes a file system again, or gets new keys.

use super::claim::{allocate, allocate_ranges, claim};
use super::examined::Examined;
use super::job::{Job, Next, With};
use super::outcome::{EncryptedSpace, Made};
use super::plan::{Contents, ConversionLoss, ConversionPlan, HeaderSpace, Kept};
use super::request::{ConversionRequest, NewVolume};
use super::space::{MakingRoom, elsewhere, end_in, end_of};
use crate::error::Error;
use crate::progress::tell_weakness;
use crate::protectors::{SecretChange, SecretProtector};
use crate::secrets::one_standard_input;
use crate::under_way::ConversionRefusal;
use crate::unlock::VolumeFormat;
use keyway_cipher::Chain;
use keyway_convert::{ConversionKind, FreeSpace, PlannedConversion, veracrypt};
use keyway_error::{Advice, Explain, Kind};
use keyway_fs::FoundFileSystem;
use keyway_store::FileStore;
use keyway_volume::veracrypt::{BACKUP_GROUP_BYTES, Fill, HEADERS_BYTES, Unlocked, unlock};
use keyway_volume::{HashName, Secrets, Weakness};
use std::sync::Arc;

const VERACRYPT: VolumeFormat = VolumeFormat::VeraCrypt;

struct Encryption {
    fs: FoundFileSystem,
    new: NewVolume,
    cipher: Chain,
}

/// Looks whether the file system can become a volume.
pub(super) fn encryption(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    let cipher = checked(request, new)?;
    if request.new.is_given() {
        return Err(ConversionRefusal::NothingEncrypted.into());
    }
    new.check_free_space(request)?;
    let fs = medium.file_system()?;
    fs.kind.check(medium.path).map_err(|e| request.said(e))?;
    let [from, to] = [Contents::of(Some(&fs)), Contents::veracrypt(Some(cipher), Some(new.hash()))];
    let (kind, journal) = (ConversionKind::Encryption, request.named_journal()?);
    let mut plan = ConversionPlan::new(request, medium.size(), kind, [from, to], journal);
    plan.space = room(request, new, &fs, plan.size_bytes)?;
    plan.full_journal |= medium.is_slow_to_scatter;
    plan.used_space_only = new.used_space_only;
    plan.free_space = new.used_space_only.then_some(new.free_space);
    plan.bytes = Some(match new.used_space_only {
        false => end_in(plan.space, &fs),
        true => {
            let used = veracrypt::used_stretches(&*medium.store, end_of(&fs));
            used.map_err(|e| request.said(e))?.iter().map(|range| range.end - range.start).sum()
        }
    });
    Ok((plan, Box::new(Encryption { fs, new: new.clone(), cipher })))
}

/// The cipher; what only BitLocker volumes have is refused.
fn checked(request: &ConversionRequest, new: &NewVolume) -> Result<Chain, Error> {
    if new.is_bitlockers() || request.sources.names_bitlocker() {
        return Err(ConversionRefusal::NotBitLocker.into());
    }
    let cipher = new.veracrypt_cipher()?;
    one_standard_input([&request.sources.password, &request.new])?;
    Ok(cipher)
}

/// Where the room for headers and journal comes from.
fn room(
    request: &ConversionRequest,
    new: &NewVolume,
    fs: &FoundFileSystem,
    size: u64,
) -> Result<HeaderSpace, Error> {
    let on_medium = request.journal.is_none();
    let most_of = |size| match new.used_space_only && request.online.is_some() {
        true => veracrypt::capacity_in_use(size, on_medium),
        false => veracrypt::content_capacity(size, on_medium),
    };
    let (moved, most) = (end_of(fs), most_of(size));
    if moved <= most {
        return Ok(HeaderSpace::Enough);
    }
    elsewhere(&request.path, fs, most, new.grow, || {
        let mut larger = size.next_multiple_of(4096);
        while most_of(larger) < moved {
            larger += (moved - most_of(larger)).next_multiple_of(4096);
        }
        larger
    })
}

/// The new volume as its format's code wants it.
fn new_volume(hash: HashName, cipher: Chain, secrets: &Secrets) -> keyway_volume::veracrypt::NewVolume<'_> {
    keyway_volume::veracrypt::NewVolume { secrets, cipher, hash, fill: Fill::Quick }
}

impl Job for Encryption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let (request, space) = (with.request, with.plan.space);
        let path = &*request.path;
        let source = &request.sources.password;
        let derived = source.derived_by(self.new.hash());
        let secrets = source.read_new(derived, &request.subject(), with.secrets)?;
        tell_weakness(with.progress, Weakness::of_secrets(&secrets, self.new.hash()));
        let new = new_volume(self.new.hash(), self.cipher, &secrets);
        let free = with.plan.free_space;
        let whole = free.is_none_or(|free| free == FreeSpace::Fill);
        let used =
            |store: &FileStore, end| veracrypt::used_stretches(store, end).map_err(|e| request.said(e));
        let room = MakingRoom { path, fs: &self.fs, space, whole };
        room.around(
            with.progress,
            |store| {
                // Whether its map can be read; which it will be when the file system has its size.
                free.map(|_| used(store, end_of(&self.fs))).transpose()?;
                let planned =
                    veracrypt::encryption(store, end_in(space, &self.fs), &new, with.plan.journal.file());
                planned.map_err(|e| request.said(e))
            },
            |store, mut planned| {
                if let Some(free) = free {
                    let stretches = used(&store, planned.marker.moved)?;
                    planned = planned.of_used(stretches, free).map_err(|e| request.said(e))?;
                }
                let planned = with.as_asked(planned)?;
                if let (PlannedConversion::VeraCrypt(plan), Some(_)) = (&planned, free) {
                    allocate_ranges(path, &plan.written())?;
                }
                let space = Some(EncryptedSpace::from(free));
                let secret = Some(SecretProtector::from(&secrets));
                with.begin(planned, Arc::new(store), Made { space, secret, ..Made::default() })
            },
        )
    }
}

struct Reencryption {
    new: NewVolume,
}

/// Looks whether the volume can get new keys.
pub(super) fn reencryption(
    request: &ConversionRequest,
    new: &NewVolume,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    let cipher = checked(request, new)?;
    new.check_free_space(request)?;
    medium.must_be_convertible()?;
    let cipher = new.cipher.is_some().then_some(cipher);
    let both = [Contents::volume(VERACRYPT), Contents::veracrypt(cipher, new.hash)];
    let (kind, journal) = (ConversionKind::Reencryption, request.journal()?);
    let mut plan = ConversionPlan::new(request, medium.size(), kind, both, journal);
    plan.keeps.extend(cipher.is_none().then_some(Kept::Cipher));
    plan.keeps.extend(new.hash.is_none().then_some(Kept::Hash));
    plan.bytes = Some(veracrypt_bytes(plan.size_bytes));
    plan.lost = vec![ConversionLoss::HiddenVolume, ConversionLoss::HeaderBackups];
    Ok((plan, Box::new(Reencryption { new: new.clone() })))
}

/// Bytes of the data area of a volume that fills so many.
fn veracrypt_bytes(size: u64) -> u64 {
    size.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES)
}

/// Claims the volume and opens it.
fn open(with: &With<'_>, secret: &Secrets) -> Result<(FileStore, Unlocked), Error> {
    let request = with.request;
    let store = claim(&request.path)?;
    let unlock_request = request.arguments.veracrypt_request(secret, None, None, &with.progress);
    let opened = unlock(&store, &unlock_request).map_err(|e| request.said(e))?;
    Ok((store, opened))
}

impl Job for Reencryption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let (request, subject) = (with.request, with.request.subject());
        let old =
            request.sources.veracrypt_key(&request.path, &request.arguments, with.secrets, with.progress)?;
        let (store, opened) = open(with, &old).map_err(|e| match (self.new.hash, e.explain().kind) {
            (Some(_), Kind::WrongSecret) => e.leaving(Advice::HashIsNew),
            _ => e,
        })?;
        let (cipher, hash) = self.new.in_place_of(opened.opened().suite.chain, opened.info.hash)?;
        let other = match request.new.is_given() {
            true => Some(SecretChange::from(&request.new).set_over(&old, hash, &subject, with.secrets)?),
            false => None,
        };
        let weakness = other.as_ref().and_then(|new| Weakness::of_secrets(new, hash));
        tell_weakness(with.progress, weakness);
        allocate(&request.path)?;
        let opens = other.as_ref().unwrap_or(&old);
        let new = new_volume(hash, cipher, opens);
        let planned = veracrypt::reencryption(&store, &opened, &new, with.plan.journal.file());
        let planned = with.as_asked(planned.map_err(|e| request.said(e))?)?;
        let made = Made {
            cipher: Some(cipher.to_string()),
            hash: Some(hash),
            cipher_before: Some(opened.info.cipher.clone()),
            hash_before: Some(opened.info.hash),
            space: Some(None.into()),
            secret: Some(SecretProtector::from(opens)),
            ..Made::default()
        };
        drop(opened);
        with.begin(planned, Arc::new(store), made)
    }
}

struct Decryption;

/// Looks whether the volume can become the file system in it.
pub(super) fn decryption(
    request: &ConversionRequest,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    medium.must_be_convertible()?;
    let both = [Contents::volume(VERACRYPT), Contents::of(None)];
    let (kind, journal) = (ConversionKind::Decryption, request.journal()?);
    let mut plan = ConversionPlan::new(request, medium.size(), kind, both, journal);
    plan.full_journal |= medium.is_slow_to_scatter;
    plan.bytes = Some(veracrypt_bytes(plan.size_bytes));
    plan.lost = vec![ConversionLoss::Secrecy, ConversionLoss::HiddenVolume];
    Ok((plan, Box::new(Decryption)))
}

impl Job for Decryption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let request = with.request;
        let secrets =
            request.sources.veracrypt_key(&request.path, &request.arguments, with.secrets, with.progress)?;
        let (store, opened) = open(with, &secrets)?;
        allocate(&request.path)?;
        let planned = veracrypt::decryption(&store, &opened, with.plan.journal.file());
        let planned = with.as_asked(planned.map_err(|e| request.said(e))?)?;
        drop(opened);
        with.begin(planned, Arc::new(store), Made { space: Some(None.into()), ..Made::default() })
    }
}
