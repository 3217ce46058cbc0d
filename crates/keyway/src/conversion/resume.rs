//! What was paused or interrupted goes on.

use super::claim::{claim_to_resume, is_under_way, refuse_if_used};
use super::ending::{forget, nothing_left, recovery_password_with};
use super::examined::Examined;
use super::job::{Job, Next, Prepared, With};
use super::outcome::{ConversionOutcome, Made};
use super::plan::{Contents, ConversionPlan};
use super::request::{ConversionRequest, read_twice};
use crate::error::{Error, Misuse};
use crate::progress::{Note, Progress};
use crate::protectors::{SecretChange, SecretProtector};
use crate::secret_role::SecretRole;
use crate::secrets::{
    PasswordSource, Question, Secrets as Asked, Sources, Subject, Wanted, one_standard_input,
};
use crate::under_way::{
    ConversionError, ConversionRefusal, Found, JournalFile, is_paused_volume, not_the_same, percentage,
};
use crate::unlock::VolumeFormat;
use keyway_convert::bitlocker::{self as convert, Next as NextRun, Proof};
use keyway_convert::cross_format::{self, BothSecrets, Direction};
use keyway_convert::veracrypt::{self, ResumeSecrets};
use keyway_convert::{ConversionKind, ConvertError, PlannedConversion};
use keyway_error::{Explain, Fault, Kind};
use keyway_fs::FoundFileSystem;
use keyway_secret::SecretBytes;
use keyway_store::{FileStore, Store};
use keyway_volume::bitlocker::{self, EncryptionState, UnlockRequest};
use keyway_volume::{Secrets, VolumeError};
use std::sync::Arc;

/// What there is to go on with, claimed: from now on nobody else does.
struct Resumption {
    store: FileStore,
    /// What the marker says; a BitLocker volume that was paused has none.
    found: Option<Found>,
    /// Its journal, or why that can't be had: where the medium is whole, that is no reason to give up.
    journal: Result<Option<JournalFile>, Error>,
}

/// Looks what there is, and claims it. The marks on a medium are anybody's: what there is to open must have opened before
/// anything is written or removed.
pub(super) fn resumption(
    request: &ConversionRequest,
    medium: &Examined<'_>,
) -> Result<(ConversionPlan, Box<dyn Job>), Error> {
    let path = medium.path;
    let before = is_under_way(&*medium.store).map_err(|e| not_the_same(path, e))?;
    refuse_if_used(path)?;
    let store = claim_to_resume(path)?;
    // Looked for again, now that nobody else can write to it.
    if before && !is_under_way(&store)? {
        return Err(ConversionError::EndedMeanwhile(path.to_owned()).into());
    }
    let found = Found::find(&store)?;
    check(request, found.as_ref())?;
    if found.is_none() && !is_paused_volume(&store)? {
        return Err(ConversionError::NotUnderWay(path.to_owned()).into());
    }
    let named = request.journal.as_deref();
    let journal = found.as_ref().map_or(Ok(None), |found| found.journal(path, named));
    if named.is_some() && matches!(journal, Ok(None)) && found.as_ref().is_some_and(Found::in_front) {
        return Err(ConversionError::JournalOnVolume(path.to_owned()).into());
    }
    let journal = match &found {
        Some(Found::BitLocker(found)) if !found.in_front => journal,
        _ => Ok(journal?),
    };
    if let Some(Found::VeraCrypt(found)) = &found {
        refuse_if_grown(request, found, &store)?;
    }
    let plan = plan(request, &store, found.as_ref(), &journal)?;
    Ok((plan, Box::new(Resumption { store, found, journal })))
}

/// What was named must be something that this conversion has.
fn check(request: &ConversionRequest, found: Option<&Found>) -> Result<(), Error> {
    let reencrypts = found.is_some_and(|found| found.kind() == ConversionKind::Reencryption);
    match found {
        Some(Found::VeraCrypt(_)) if request.sources.names_bitlocker() => {
            return Err(ConversionRefusal::NotBitLockers.into());
        }
        Some(Found::CrossFormat(_)) if request.online.is_some() => {
            return Err(PlannedConversion::cross_format_in_use().into());
        }
        // A BitLocker volume that is re-encrypted keeps what opens it.
        Some(Found::BitLocker(_)) | None if request.new.is_given() => {
            return Err(ConversionRefusal::NoNewSecret.into());
        }
        _ if request.new.is_given() && !reencrypts => return Err(ConversionRefusal::NoNewSecret.into()),
        _ => {}
    }
    Ok(())
}

/// Where the marker is not in front the conversion begins anew, and what it needs lies behind the file system as that
/// was. Whoever has used it since may have made it larger.
fn refuse_if_grown(
    request: &ConversionRequest,
    found: &keyway_convert::FoundVeraCrypt,
    store: &FileStore,
) -> Result<(), Error> {
    if found.in_front || found.marker.kind != ConversionKind::Encryption {
        return Ok(());
    }
    match FoundFileSystem::find(store)? {
        Some(now) if now.bytes > found.marker.moved => {
            Err(ConversionRefusal::Grown { path: request.path.clone(), bytes: found.marker.moved }.into())
        }
        _ => Ok(()),
    }
}

fn plan(
    request: &ConversionRequest,
    store: &FileStore,
    found: Option<&Found>,
    journal: &Result<Option<JournalFile>, Error>,
) -> Result<ConversionPlan, Error> {
    let journal = journal.as_ref().ok().and_then(Option::as_ref);
    let volume = |format| Contents::volume(format);
    let format = match found {
        Some(Found::VeraCrypt(_)) => VolumeFormat::VeraCrypt,
        _ => VolumeFormat::BitLocker,
    };
    let kind = found.map_or_else(|| paused_kind(store), |found| Ok(found.kind()))?;
    let both = match (found, kind) {
        (Some(Found::CrossFormat(found)), _) => match found.mark.direction {
            Direction::ToBitLocker => [volume(VolumeFormat::VeraCrypt), volume(VolumeFormat::BitLocker)],
            Direction::ToVeraCrypt => [volume(VolumeFormat::BitLocker), volume(VolumeFormat::VeraCrypt)],
        },
        (_, ConversionKind::Encryption) => [Contents::of(None), volume(format)],
        (_, ConversionKind::Decryption) => [volume(format), Contents::of(None)],
        (_, ConversionKind::Reencryption) => [volume(format), volume(format)],
    };
    let place = match found {
        Some(_) => journal.map(|journal| journal.path().to_owned()),
        None => request.journal()?,
    };
    let mut plan = ConversionPlan::new(request, store.size(), kind, both, place);
    // What is damaged is told by whoever opens it.
    if let Some(found) = found.filter(|found| found.in_front())
        && let Ok((done, total)) = found.how_far(store, journal.map(JournalFile::store))
    {
        plan.percentage_done = Some(percentage(done, total));
        plan.bytes = Some(total.saturating_sub(done));
    }
    if let Some(Found::VeraCrypt(found)) = found {
        (plan.free_space, plan.used_space_only) = (found.marker.used, found.marker.used.is_some());
    }
    Ok(plan)
}

/// What goes on with a BitLocker volume that was paused.
fn paused_kind(store: &FileStore) -> Result<ConversionKind, Error> {
    Ok(match bitlocker::look(store)?.metadata.block().next_state {
        EncryptionState::Decrypted => ConversionKind::Decryption,
        _ => ConversionKind::Encryption,
    })
}

impl Job for Resumption {
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error> {
        let Self { store, found, journal } = *self;
        match found {
            Some(Found::VeraCrypt(found)) => resume_veracrypt(with, store, *found, journal?),
            Some(Found::CrossFormat(found)) => {
                let journal = journal?.ok_or(ConvertError::NoJournal)?;
                resume_cross_format(with, store, *found, journal)
            }
            Some(Found::BitLocker(found)) => resume_bitlocker(with, store, Some(&found), journal),
            None => resume_bitlocker(with, store, None, Ok(None)),
        }
    }
}

fn go_on(
    planned: PlannedConversion,
    store: Arc<dyn Store>,
    journal: Option<JournalFile>,
    made: Made,
) -> Result<Next, Error> {
    let journal = journal.map(JournalFile::for_writing).transpose()?;
    Ok(Next::Convert(Box::new(Prepared { planned, store, journal, made })))
}

fn resume_veracrypt(
    with: &With<'_>,
    store: FileStore,
    found: keyway_convert::FoundVeraCrypt,
    journal: Option<JournalFile>,
) -> Result<Next, Error> {
    let (request, subject) = (with.request, with.request.subject());
    let (own, new) = (&request.sources.password, &request.new);
    one_standard_input([own, new])?;
    let mut old = own.read(Wanted::Password, &subject, with.secrets)?;
    let other = match new.is_given() {
        // As when it began: what isn't named is what it was.
        true => Some(SecretChange::from(new).over(&old, Wanted::Password, &subject, with.secrets)?),
        false => None,
    };
    let file = journal.as_ref().map(JournalFile::store);
    let opens = |password| {
        let old = Secrets { password, keyfiles: old.keyfiles.clone(), pim: old.pim };
        let Some(found) = keyway_convert::find(&store)? else { return Ok(()) };
        let secrets = ResumeSecrets { old: &old, new: other.as_ref() };
        veracrypt::VeraCryptPlan::resume(found, &store, file, &secrets).map(drop).map_err(Error::from)
    };
    if let Some(password) = request.sources.spelled_for(&old.password, &opens, with.progress)? {
        old.password = password;
    }
    let secrets = ResumeSecrets { old: &old, new: other.as_ref() };
    // The marker and the file are anybody's until the headers open.
    let planned =
        veracrypt::VeraCryptPlan::resume(found, &store, file, &secrets).map_err(|e| as_begun(request, e))?;
    let planned = with.as_asked(planned)?;
    let space = Some(planned.free_space().into());
    let secret = Some(SecretProtector::from(other.as_ref().unwrap_or(&old)));
    go_on(planned, Arc::new(store), journal, Made { space, secret, ..Made::default() })
}

/// `own` and what else was named open the old volume, `new` the new one where that has another secret; of a BitLocker
/// volume that is to be made what else was named may be that, too.
fn resume_cross_format(
    with: &With<'_>,
    store: FileStore,
    found: cross_format::FoundCrossFormat,
    file: JournalFile,
) -> Result<Next, Error> {
    let (request, mark) = (with.request, found.mark);
    let (own, same, other) = (&request.sources.password, PasswordSource::new(), PasswordSource::new());
    let more_than_a_password = own.pim.is_some() || !own.keyfiles.is_empty();
    let (veracrypt, bitlocker) = match mark.direction {
        Direction::ToBitLocker if request.new.is_given() => (own, &request.new),
        // What the recovery password or startup key opens needs no password besides.
        Direction::ToBitLocker if request.sources.names_bitlocker() => (own, &same),
        // No BitLocker volume was begun with these: its password is another one.
        Direction::ToBitLocker if more_than_a_password => (own, &other),
        _ => (request.new_or_own(), own),
    };
    if !request.new.is_given() && more_than_a_password && mark.direction == Direction::ToVeraCrypt {
        return Err(ConversionError::NewKeyfiles(request.path.clone()).into());
    }
    read_twice(veracrypt, bitlocker)?;
    let (of_veracrypt, of_bitlocker) = (std::ptr::eq(veracrypt, own), std::ptr::eq(bitlocker, own));
    let sources = Sources { password: bitlocker.clone(), ..request.sources.clone() };
    let is_other = std::ptr::eq(bitlocker, &other);
    let named = |format: &str, becomes: bool| {
        let which = if becomes { "becomes" } else { "was" };
        Subject::Named(format!("the {format} volume that {} {which}", request.name()))
    };
    let to_bitlocker = mark.direction == Direction::ToBitLocker;
    let subject = named("VeraCrypt", !to_bitlocker);
    let asked = AskedAs { secrets: with.secrets, subject: named("BitLocker", to_bitlocker) };
    let bitlockers = || -> Result<Vec<bitlocker::Secret>, Error> {
        let key = sources.bitlocker_key_of(&request.path, &asked, || {
            cross_format::look(&mark, &store, file.store()).map_err(|e| request.said(e))
        });
        key.map_err(|error| match error.explain().kind {
            Kind::NoSecret if is_other => Misuse::NoPassword(SecretRole::New).into(),
            _ => error,
        })
    };
    let veracrypts = || veracrypt.read(Wanted::Password, &subject, with.secrets);
    // What it was comes before what it becomes.
    let (mut veracrypt, mut bitlocker) = if to_bitlocker {
        (veracrypts()?, bitlockers()?)
    } else {
        let old = bitlockers()?;
        (veracrypts()?, old)
    };
    let opens = |password: SecretBytes| {
        let typed = [bitlocker::Secret::Password(SecretBytes::copy_of(&password))];
        let bitlocker = UnlockRequest::new(if of_bitlocker { &typed } else { &bitlocker });
        let password = if of_veracrypt { password } else { SecretBytes::copy_of(&veracrypt.password) };
        let veracrypt = Secrets { password, keyfiles: veracrypt.keyfiles.clone(), pim: veracrypt.pim };
        let both = BothSecrets { veracrypt: &veracrypt, bitlocker: &bitlocker };
        let resumed = cross_format::CrossFormatPlan::resume(&store, file.store(), mark.clone(), &both);
        resumed.map(drop).map_err(Error::from)
    };
    let given = match bitlocker.as_slice() {
        [bitlocker::Secret::Password(password)] if of_bitlocker => SecretBytes::copy_of(password),
        _ => SecretBytes::copy_of(&veracrypt.password),
    };
    if let Some(other) = request.sources.spelled_for(&given, &opens, with.progress)? {
        if of_bitlocker {
            bitlocker = vec![bitlocker::Secret::Password(SecretBytes::copy_of(&other))];
        }
        if of_veracrypt {
            veracrypt.password = other;
        }
    }
    let both = BothSecrets { veracrypt: &veracrypt, bitlocker: &UnlockRequest::new(&bitlocker) };
    // The marker and the file are anybody's until both volumes open.
    let direction = mark.direction;
    let planned = cross_format::CrossFormatPlan::resume(&store, file.store(), mark, &both);
    let planned = planned.map_err(|e| of_which(request, direction, e))?;
    let file = file.for_writing()?;
    if !found.in_front {
        use cross_format::CrossFormatMedium as Left;
        let [_, to] = planned.mark().direction.formats();
        let left = cross_format::settle(&store, file.store(), planned.mark()).map_err(|e| request.said(e))?;
        if left != Left::HalfConverted {
            forget(file, with.progress);
            let (conversion, new_format) = (ConversionKind::Reencryption, Some(to));
            return match left {
                Left::Untouched => Err(request.said(ConversionRefusal::NotBegun { conversion, new_format })),
                _ => Ok(ended(request, (&store, true), Some(conversion), to)),
            };
        }
    }
    Ok(Next::Convert(Box::new(Prepared {
        planned: planned.into(),
        store: Arc::new(store),
        journal: Some(file),
        made: Made::default(),
    })))
}

/// Somebody who is asked for the secret of one of the two volumes, by a name that says which.
struct AskedAs<'a> {
    secrets: &'a dyn Asked,
    subject: Subject,
}

impl Asked for AskedAs<'_> {
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        self.secrets.answer(&Question { subject: &self.subject, ..*question })
    }
}

/// Which of the two secrets it was that opened nothing.
fn of_which(request: &ConversionRequest, direction: Direction, error: ConvertError) -> Error {
    let is_new = matches!(
        (&error, direction),
        (ConvertError::Volume(_), Direction::ToVeraCrypt)
            | (ConvertError::BitLocker(_), Direction::ToBitLocker)
    );
    match is_new && error.explain().fault == Fault::Secret {
        true => ConversionError::NewSecret { path: request.path.clone(), error: Box::new(error) }.into(),
        false => as_begun(request, error),
    }
}

/// Where no header of the VeraCrypt volume opens, nobody is told that it may be none: its conversion is under way.
fn as_begun(request: &ConversionRequest, error: ConvertError) -> Error {
    match error {
        ConvertError::Volume(VolumeError::WrongSecret { .. }) => {
            // Where another secret was named as well, either PIM may be what was meant.
            let pim = [&request.sources.password, &request.new].iter().any(|one| one.pim.is_some());
            ConversionError::WrongSecret { path: request.path.clone(), pim, error: Box::new(error) }.into()
        }
        error => request.said(error),
    }
}

fn resume_bitlocker(
    with: &With<'_>,
    store: FileStore,
    found: Option<&convert::FoundBitLocker>,
    mut journal: Result<Option<JournalFile>, Error>,
) -> Result<Next, Error> {
    use convert::BitLockerMedium as Left;
    let request = with.request;
    let failed = |e: ConvertError| request.said(e);
    let store: Arc<dyn Store> = Arc::new(store);
    let seen = match found {
        Some(found) => convert::seen(&store, found).map_err(failed)?,
        None => Some(bitlocker::look(&store)?),
    };
    let mut secrets = match seen {
        Some(seen) => request.sources.bitlocker_key_of::<Error>(&request.path, with.secrets, || Ok(seen))?,
        None => Vec::new(),
    };
    let opens = |password| -> Result<(), Error> {
        let (typed, store) = ([bitlocker::Secret::Password(password)], &store);
        let request = UnlockRequest::new(&typed);
        match found {
            Some(found) => Ok(convert::prove(store, found, &request).map(drop)?),
            None => Ok(bitlocker::unlock(store, &request).map(drop)?),
        }
    };
    for secret in &mut secrets {
        if let bitlocker::Secret::Password(password) = secret
            && let Some(other) = request.sources.spelled_for(password, &opens, with.progress)?
        {
            *password = other;
        }
    }
    let unlock_request = UnlockRequest::new(&secrets);
    if let Some(found) = found.filter(|found| !found.in_front) {
        let proof = convert::prove(&store, found, &unlock_request).map_err(failed)?;
        let left = convert::clean(&store, &found.mark, proof).map_err(failed)?;
        forget_or_tell(std::mem::replace(&mut journal, Ok(None)), proof, with.progress);
        if left != Left::Volume || !is_paused_volume(&store)? {
            let conversion = found.mark.kind;
            return match left {
                Left::FileSystem | Left::Untouched => {
                    Err(request.said(ConversionRefusal::NotBegun { conversion, new_format: None }))
                }
                Left::Decrypted | Left::Volume => {
                    let is_new = conversion == ConversionKind::Encryption;
                    Ok(ended(request, (&store, is_new), Some(conversion), "bitlocker"))
                }
            };
        }
    }
    match convert::next(&store, &unlock_request, request.journal()?).map_err(failed)? {
        NextRun::Run(planned) => {
            let planned = with.as_asked(*planned)?;
            match journal? {
                Some(journal) => go_on(planned, store, Some(journal), Made::default()),
                None => with.begin(planned, store, Made::default()),
            }
        }
        NextRun::Nothing(_) => Ok(ended(request, (&store, true), None, "bitlocker")),
    }
}

/// Nothing was left to convert.
fn ended(
    request: &ConversionRequest,
    (store, is_new): (&dyn Store, bool),
    conversion: Option<ConversionKind>,
    format: &'static str,
) -> Next {
    let with = recovery_password_with(&request.path, is_new, &Made::default(), store);
    let made = Made { recovery_password_with: with, ..Made::default() };
    Next::Ended(Box::new(ConversionOutcome { made, ..nothing_left(request, conversion, format) }))
}

/// What becomes of the journal of a run that had not begun, or was through. Without a proof it stays: a medium that says
/// the same of itself as the one it belongs to may be another.
fn forget_or_tell(journal: Result<Option<JournalFile>, Error>, proof: Proof, progress: &dyn Progress) {
    match (journal, proof) {
        (Ok(None), _) => {}
        (Ok(Some(journal)), Proof::Opens) => forget(journal, progress),
        (Ok(Some(journal)), Proof::NothingToOpen) => progress.note(&Note::JournalUnproven(journal.path())),
        (Err(e), _) => progress.note(&Note::JournalNotFound(&e)),
    }
}
