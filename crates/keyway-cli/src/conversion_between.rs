//! Conversions from one format to the other, as `encrypt`, `resume`, `pause`, `status` and `info` tell of them.

use crate::conversion::{self, HowArgs};
use crate::failure::{Exit, Failure};
use crate::given::{KeyArgs, bitlocker_secrets_of};
use crate::narrow::NarrowArgs;
use crate::new_protectors::key_rows;
use crate::output::{Output, bytes, pairs};
use crate::secrets_in::{SecretSource, one_stdin};
use crate::shown::shown;
use crate::verbs::name_of;
use crate::volume::{Which, about};
use keyway::conversion::{JournalFile, percentage, speed};
use keyway_convert::cross_format::{self, BothSecrets, Direction, Found, Marker, MediumState, Plan};
use keyway_convert::{ConversionKind, Stopped};
use keyway_store::{FileStore, Store};
use keyway_volume::bitlocker::UnlockRequest;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The volume can't be in use meanwhile.
pub(crate) fn refuse_online(how: &HowArgs) -> Result<(), Failure> {
    if !how.in_use.online {
        return Ok(());
    }
    Err(Failure::new(
        Exit::NotPermitted,
        "a volume can't be in use while it goes from one format to the other",
        "leave --online out; a new cipher of the same format can be had with --online",
    )
    .kind(keyway_error::Kind::Unsupported))
}

/// Carries a conversion out until it ends or is paused, and tells what came of it. `more` is what the answer says
/// besides.
pub(crate) fn carry_out(
    (path, limit): (&Path, Option<u64>),
    plan: &Plan,
    (store, file): (&dyn Store, JournalFile),
    more: Map<String, Value>,
    out: Output,
) -> Result<(), Failure> {
    let mark = plan.mark();
    let [from, to] = mark.direction.formats();
    let run = plan.conversion(store, file.store()).map_err(|e| about(path, e))?;
    let told = (path, Some(file.path()));
    let (stopped, time) =
        conversion::watched(told, ConversionKind::Reencryption, limit, |watch| plan.run(&run, watch))?;
    let total = run.total();
    let mut document = json!({
        "volume": path,
        "conversion": ConversionKind::Reencryption,
        "format": if stopped == Stopped::Done { to } else { from },
        "new_format": to,
        "state": if stopped == Stopped::Done { "done" } else { "paused" },
        "total_bytes": total,
        "seconds": time.as_secs_f64(),
        "bytes_per_second": speed(total, time),
    });
    if let Some(object) = document.as_object_mut() {
        object.extend(more);
    }
    if stopped == Stopped::Paused {
        let done = run.done().map_err(|e| about(path, e))?;
        if let Some(object) = document.as_object_mut() {
            object.insert("done_bytes".to_owned(), json!(done));
        }
        let percent = percentage(done, total);
        return Err(Failure::new(
            Exit::Failed,
            format!("{}: paused at {percent:.1} %; it can't be opened like this", path.display()),
            format!("go on with `keyway resume {}`", path.display()),
        )
        .kind(keyway_error::Kind::Paused)
        .with(document));
    }
    conversion::remove(file, out);
    out.result(&document, || {
        let what = match mark.direction {
            Direction::ToBitLocker => "is a BitLocker volume",
            Direction::ToVeraCrypt => "is a VeraCrypt volume",
        };
        let speed = format!("{}/s", bytes(speed(total, time)));
        let mut rows = vec![("  converted", bytes(total)), ("  speed", speed)];
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        rows.extend(key_rows(text("recovery_password"), text("recovery_file"), text("startup_key")));
        let path = shown(path);
        format!("{path} {what} now. Open it with: keyway open {path}\n{}", pairs(&rows))
    })
}

/// Goes on with what was paused or interrupted. `own` and `keys` open the old volume, `new` the new one where that has
/// another secret; of a BitLocker volume that is to be made `keys` may be that, too.
pub(crate) fn resume(
    (path, store, found): (&Path, FileStore, Found),
    (own, new): (&SecretSource, &SecretSource),
    keys: &KeyArgs,
    how: &HowArgs,
    out: Output,
) -> Result<(), Failure> {
    refuse_online(how)?;
    let Found { mark, in_front } = found;
    let file = JournalFile::find(path, how.journal.as_deref(), &mark.file, (&mark.place(), &mark.id))?;
    let same = SecretSource::default();
    let (veracrypt, bitlocker) = match mark.direction {
        Direction::ToBitLocker if new.is_given() => (own, new),
        // What the recovery password or startup key opens needs no password besides.
        Direction::ToBitLocker if keys.is_given() => (own, &same),
        Direction::ToBitLocker => (own, own),
        Direction::ToVeraCrypt if new.is_given() => (new, own),
        Direction::ToVeraCrypt => (own, own),
    };
    read_twice(veracrypt, bitlocker)?;
    let which = Which::new(path, &NarrowArgs::default());
    let bitlocker = bitlocker_secrets_of(&which, bitlocker, keys, || {
        cross_format::look(&mark, &store, file.store()).map_err(|e| about(path, e))
    })?;
    let veracrypt = veracrypt.read(&format!("{} as a VeraCrypt volume", name_of(path)))?;
    let both = BothSecrets { veracrypt: &veracrypt, bitlocker: &UnlockRequest::new(&bitlocker) };
    // The marker and the file are anybody's until both volumes open.
    let plan = Plan::resume(&store, file.store(), mark, &both).map_err(|e| about(path, e))?;
    let file = file.for_writing()?;
    if !in_front {
        let mark = plan.mark();
        let left = cross_format::settle(&store, file.store(), mark).map_err(|e| about(path, e))?;
        if left != MediumState::HalfConverted {
            conversion::remove(file, out);
            return ended(path, mark, left, out);
        }
    }
    carry_out((path, how.limit), &plan, (&store, file), Map::new(), out)
}

/// Two secrets, or one that is read for each of the two volumes.
pub(crate) fn read_twice(first: &SecretSource, second: &SecretSource) -> Result<(), Failure> {
    one_stdin([first, second])
        .map_err(|failure| failure.hint("give one of them with --new-password-file or from a file"))
}

/// What a conversion was that had not begun, or was over, when it was interrupted.
fn ended(path: &Path, mark: &Marker, left: MediumState, out: Output) -> Result<(), Failure> {
    let [_, to] = mark.direction.formats();
    if left == MediumState::Untouched {
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "{}: the re-encryption was interrupted before it had begun; nothing was changed",
                path.display()
            ),
            format!("begin again with `keyway encrypt --reencrypt --format {to}`"),
        )
        .kind(keyway_error::Kind::NotBegun));
    }
    let document =
        json!({"volume": path, "format": to, "conversion": ConversionKind::Reencryption, "state": "done"});
    out.result(&document, || format!("{}: the conversion had come to its end.", shown(path)))
}
