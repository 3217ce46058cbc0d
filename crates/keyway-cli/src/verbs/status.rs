//! `status`: what is open, how, and how much went through it.

use super::drive;
use crate::conversion;
use crate::failure::Failure;
use crate::journal_file::JournalArgs;
use crate::output::{Output, bytes, pairs, table};
use crate::session_words::places;
use crate::shown::shown;
use crate::volume;
use crate::watch;
use keyway_attach::AttachError;
use keyway_attach::session::{self, Latencies, SessionState, SessionStatus};
use keyway_engine::Access;
use keyway_fs::FileSystem;
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{self, Method, Protection};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Tell what is open, or everything about one volume
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway status
  $ keyway status secret.hc --json")]
pub(crate) struct Args {
    /// A volume, its device or its mount point; all open ones when left out
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT")]
    which: Option<String>,
    #[command(flatten)]
    journal: JournalArgs,
}

/// One volume, with the fields that `manage-bde -status` shows. What a locked volume keeps to
/// itself is `null`.
#[derive(Serialize)]
struct Status {
    format: Option<String>,
    size_bytes: u64,
    /// 2.0 since Windows 7.
    bitlocker_version: Option<&'static str>,
    conversion_status: String,
    percentage_encrypted: Option<f64>,
    encryption_method: Option<String>,
    protection_status: &'static str,
    lock_status: &'static str,
    key_protectors: Value,
    #[serde(skip)]
    description: Option<String>,
    #[serde(skip)]
    session: Option<Open>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<Waiting>,
}

/// An open volume.
struct Open {
    /// What its serving process has written down of it.
    state: SessionState,
    /// What the process says now, or why it does not.
    now: Result<SessionStatus, String>,
}

impl Open {
    /// What only the process can say; `null` when it does not answer.
    const NOW: [&str; 10] = [
        "reads",
        "bytes_read",
        "writes",
        "bytes_written",
        "flushes",
        "writes_refused",
        "latency",
        "guard_hit",
        "deleted",
        "moved_to",
    ];

    /// Asks the process; `None` where it is not open any more.
    fn ask(state: SessionState) -> Option<Self> {
        match session::status(&state.id) {
            Ok(status) => Some(Self { state: status.state.clone(), now: Ok(status) }),
            // Closed since it was listed.
            Err(AttachError::NotOpen(_)) => None,
            Err(e) => Some(Self { state, now: Err(e.to_string()) }),
        }
    }

    fn document(&self) -> Value {
        let mut document = match &self.now {
            Ok(status) => json!(status),
            Err(_) => json!(self.state),
        };
        if let Some(fields) = document.as_object_mut() {
            fields.insert("answers".to_owned(), json!(self.now.is_ok()));
            for key in Self::NOW {
                fields.entry(key).or_insert(Value::Null);
            }
        }
        document
    }

    /// What its owner should do something about.
    fn attention(&self) -> Vec<String> {
        let status = match &self.now {
            Ok(status) => status,
            Err(silent) => return vec![silent.clone()],
        };
        let mut words = Vec::new();
        if status.writes_refused > 0 {
            words.push(refused(status.writes_refused));
        }
        if status.guard_hit {
            words.push("a write would have damaged the hidden volume; no more are taken".to_owned());
        }
        if status.deleted {
            words.push(
                "its file was deleted; copy what you need before it is closed, for then it is gone"
                    .to_owned(),
            );
        }
        words.extend(status.moved_to.as_ref().map(|path| format!("its file is {} now", path.display())));
        words
    }
}

/// A block device whose server was killed, and which waits for another.
#[derive(Serialize)]
struct Waiting {
    volume: PathBuf,
    device: Option<PathBuf>,
    mountpoint: Option<PathBuf>,
}

impl From<SessionState> for Waiting {
    fn from(state: SessionState) -> Self {
        Self { volume: state.volume, device: state.device, mountpoint: state.mountpoint }
    }
}

impl Status {
    /// The fields above, and what the serving process says.
    fn document(&self) -> Value {
        let mut document = json!(self);
        if let (Some(fields), Some(open)) = (document.as_object_mut(), &self.session)
            && let Value::Object(session) = open.document()
        {
            fields.extend(session);
        }
        document
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.which {
        Some(name) => volume::look(|| one(name, args.journal.path(), out)),
        None => all(out),
    }
}

fn all(out: Output) -> Result<(), Failure> {
    watch::clean_stale();
    // Side by side: one that does not answer is waited for, and the others are not.
    let open: Vec<Open> = std::thread::scope(|scope| {
        let ask = |state| scope.spawn(move || Open::ask(state));
        let asked: Vec<_> = session::list()?.into_iter().map(ask).collect();
        Ok::<_, Failure>(asked.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect())
    })?;
    let volumes: Vec<Status> = open.into_iter().map(unlocked).collect();
    let waiting: Vec<Waiting> = session::waiting_named(None)?.into_iter().map(Waiting::from).collect();
    let documents: Vec<Value> = volumes.iter().map(Status::document).collect();
    out.result(&json!({ "volumes": documents, "waiting": waiting }), || {
        let waits = waiting.iter().map(Waiting::words).collect::<Vec<_>>().join("\n");
        if volumes.is_empty() {
            return if waits.is_empty() { "No volume is open.".to_owned() } else { waits };
        }
        let rows = volumes.iter().filter_map(|v| v.session.as_ref()).map(|s| {
            let place = s.state.mountpoint.as_ref().or(s.state.device.as_ref()).or(s.state.file.as_ref());
            let place = place.map(|p| p.display().to_string()).or_else(|| s.state.socket.clone());
            let (read, written) = match &s.now {
                Ok(now) => (bytes(now.bytes_read), bytes(now.bytes_written)),
                Err(_) => ("does not answer".to_owned(), String::new()),
            };
            vec![
                s.state.volume.display().to_string(),
                s.state.attachment.clone(),
                place.unwrap_or_default(),
                bytes(s.state.size_bytes),
                read,
                written,
            ]
        });
        let mut table = table(&["volume", "by", "at", "size", "read", "written"], 3, rows);
        for open in volumes.iter().filter_map(|v| v.session.as_ref()) {
            for words in open.attention() {
                let name = open.state.volume.display().to_string();
                let name = if words.contains(&name) { String::new() } else { format!("{name}: ") };
                table = format!("{}\n{name}{words}", table.trim_end());
            }
        }
        if waits.is_empty() { table } else { format!("{table}\n{waits}") }
    })
}

impl Waiting {
    /// What it is, and what to do about it.
    fn words(&self) -> String {
        let device = self.device.as_ref().map_or_else(String::new, |device| device.display().to_string());
        let volume = shown(&self.volume);
        format!(
            "{device} waits for a server of {volume} since the last one was killed; `keyway open {volume}` serves it again, `keyway close {volume}` gives it up."
        )
    }
}

fn one(name: &str, journal: Option<&Path>, out: Output) -> Result<(), Failure> {
    let path = Path::new(name);
    let status = match session::find(name)?.and_then(Open::ask) {
        Some(open) => {
            let converting_now = open.state.details.get("converting").is_some();
            let volume = &open.state.volume;
            let half = if converting_now { conversion::half_converted(volume, journal)? } else { None };
            if let Some(document) = half {
                return converting(volume, document, Some(&open), out);
            }
            unlocked(open)
        }
        None => {
            volume::must_exist(path)?;
            if let Some(document) = conversion::half_converted(path, journal)? {
                return converting(path, document, None, out);
            }
            let waiting = session::waiting_named(Some(name))?.into_iter().next();
            let mut status = locked(waiting.as_ref().map_or(path, |state| &state.volume))?;
            status.waiting = waiting.map(Waiting::from);
            status
        }
    };
    out.result(&status.document(), || words(path, &status))
}

/// A volume that is half converted: the fields of all volumes, and how far it is.
fn converting(path: &Path, mut document: Value, open: Option<&Open>, out: Output) -> Result<(), Failure> {
    if let Some(object) = document.as_object_mut() {
        // What is known of a BitLocker volume is there already.
        object.entry("encryption_method").or_insert(Value::Null);
        object.entry("protection_status").or_insert(json!("Unknown"));
        object.entry("key_protectors").or_insert(json!([]));
        object.insert("lock_status".to_owned(), json!(if open.is_some() { "Unlocked" } else { "Locked" }));
        let known = open.map(Open::document).unwrap_or_default();
        let told = ["device", "file", "mountpoint", "read_only", "answers"].iter().chain(&Open::NOW);
        for key in told {
            if let Some(value) = known.get(key) {
                object.insert((*key).to_owned(), value.clone());
            }
        }
    }
    out.result(&document, || {
        let attention = open.map(Open::attention).unwrap_or_default();
        [vec![conversion::describe_in_words(path, &document)], attention].concat().join("\n")
    })
}

fn unlocked(open: Open) -> Status {
    let details = &open.state.details;
    let volume = details.get("volume").unwrap_or(&Value::Null);
    let text = |key: &str| volume.get(key).and_then(Value::as_str);
    let suspended = volume.get("protection_suspended").and_then(Value::as_bool).unwrap_or_default();
    Status {
        format: text("format").map(str::to_owned),
        size_bytes: open.state.size_bytes,
        bitlocker_version: volume.get("metadata_version").and_then(Value::as_u64).map(bitlocker_version),
        conversion_status: text("conversion_status").unwrap_or("Fully Encrypted").to_owned(),
        percentage_encrypted: Some(
            volume.get("percentage_encrypted").and_then(Value::as_f64).unwrap_or(ALL_OF_IT),
        ),
        encryption_method: method(volume),
        protection_status: protection(suspended),
        lock_status: "Unlocked",
        key_protectors: details.get("key_protectors").cloned().unwrap_or_else(|| json!([])),
        description: text("description").map(str::to_owned),
        session: Some(open),
        waiting: None,
    }
}

const ALL_OF_IT: f64 = 100.0;

const FULLY_DECRYPTED: &str = "Fully Decrypted";

/// What metadata of that version is called in Windows.
fn bitlocker_version(metadata: u64) -> &'static str {
    if metadata == 1 { "1.0" } else { "2.0" }
}

fn protection(suspended: bool) -> &'static str {
    if suspended { "Protection Off" } else { "Protection On" }
}

/// A volume that is not open here: BitLocker tells nearly everything, the others nothing.
fn locked(path: &Path) -> Result<Status, Failure> {
    if drive::is_drive(path) {
        return hardware(path);
    }
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    if !bitlocker::is_volume(&store)? {
        // What has a file system in front is nobody's volume; `manage-bde` has these words for it.
        let plain = FileSystem::find(&store).is_ok_and(|found| found.is_some());
        let told = |words| if plain { words } else { "Unknown" };
        return Ok(Status {
            format: None,
            size_bytes: store.size(),
            bitlocker_version: None,
            conversion_status: told(FULLY_DECRYPTED).to_owned(),
            percentage_encrypted: plain.then_some(0.0),
            encryption_method: plain.then(|| "None".to_owned()),
            protection_status: told("Protection Off"),
            lock_status: if plain { "Unlocked" } else { "Locked" },
            key_protectors: json!([]),
            description: None,
            session: None,
            waiting: None,
        });
    }
    let info = bitlocker::look(&store).map_err(|e| volume::about(path, e))?.info;
    Ok(Status {
        format: Some(info.format.to_owned()),
        size_bytes: info.data_bytes,
        bitlocker_version: Some(bitlocker_version(info.metadata_version.into())),
        conversion_status: info.conversion_status.words().to_owned(),
        percentage_encrypted: Some(info.percentage_encrypted),
        encryption_method: Some(info.cipher.windows_name().to_owned()),
        protection_status: protection(info.protection_suspended),
        lock_status: "Locked",
        key_protectors: json!(info.key_protectors),
        description: info.description,
        session: None,
        waiting: None,
    })
}

/// A drive that encrypts by itself, in the words that Windows has for such volumes.
fn hardware(path: &Path) -> Result<Status, Failure> {
    let seen = drive::status_of(path)?;
    Ok(Status {
        format: Some("opal".to_owned()),
        size_bytes: seen.size_bytes,
        bitlocker_version: None,
        conversion_status: "Fully Encrypted".to_owned(),
        percentage_encrypted: Some(ALL_OF_IT),
        encryption_method: seen.encrypts.then(|| drive::METHOD.to_owned()),
        protection_status: protection(!seen.locking),
        lock_status: if seen.locked { "Locked" } else { "Unlocked" },
        key_protectors: json!([]),
        description: seen.model,
        session: None,
        waiting: None,
    })
}

/// "XTS-AES-Twofish 256" from what the format said.
fn method(volume: &Value) -> Option<String> {
    let word = |key| volume.get(key).and_then(Value::as_str);
    let (cipher, mode) = (word("cipher")?, word("mode")?);
    if let Some(method) = Method::ALL.into_iter().find(|method| method.name() == cipher) {
        return Some(method.windows_name().to_owned());
    }
    let name = |layer: &str| match layer {
        "aes" | "aes128" => "AES".to_owned(),
        "cast5" => "CAST5".to_owned(),
        "des3_ede" => "3DES".to_owned(),
        other => other.chars().take(1).flat_map(char::to_uppercase).chain(other.chars().skip(1)).collect(),
    };
    let names: Vec<String> = cipher.split('-').map(name).collect();
    let chain: keyway_cipher::Chain = cipher.parse().ok()?;
    let bits: Vec<String> = chain.layers().map(|layer| (layer.key_bytes() * 8).to_string()).collect();
    let same = bits.windows(2).all(|pair| pair.first() == pair.last());
    let bits = if same { bits.first().cloned().unwrap_or_default() } else { bits.join("+") };
    Some(format!("{}-{} {bits}", mode.to_uppercase(), names.join("-")))
}

/// The fields of `manage-bde -status` in its words and order, then what only we know.
fn words(path: &Path, status: &Status) -> String {
    let unknown = || "Unknown".to_owned();
    let protectors = status.key_protectors.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut name = path;
    let mut rows = vec![
        ("  Size:", bytes(status.size_bytes)),
        ("  BitLocker Version:", status.bitlocker_version.unwrap_or("None").to_owned()),
        ("  Conversion Status:", status.conversion_status.clone()),
        ("  Percentage Encrypted:", status.percentage_encrypted.map_or_else(unknown, |p| format!("{p:.1}%"))),
        ("  Encryption Method:", status.encryption_method.clone().unwrap_or_else(unknown)),
        ("  Protection Status:", status.protection_status.to_owned()),
        ("  Lock Status:", status.lock_status.to_owned()),
        ("  Identification Field:", unknown()),
    ];
    let kinds = protectors.iter().filter_map(|p| Some((p.get("kind")?.as_str()?, p.get("id")?.as_str()?)));
    let mut label = "  Key Protectors:";
    for (kind, id) in kinds {
        let id = if id == "0" { String::new() } else { format!("  {id}") };
        rows.push((label, format!("{}{id}", windows_kind(kind))));
        label = "";
    }
    if !label.is_empty() {
        let known = status.format.is_some() || status.conversion_status == FULLY_DECRYPTED;
        rows.push((label, if known { "None Found".to_owned() } else { unknown() }));
    }
    if let Some(description) = &status.description {
        rows.push(("  Description:", description.clone()));
    }
    if let Some(open) = &status.session {
        name = &open.state.volume;
        rows.extend(places(&open.state));
        if let Ok(now) = &open.now {
            rows.push(("  read", format!("{} in {} requests", bytes(now.bytes_read), now.reads)));
            rows.push(("  written", format!("{} in {} requests", bytes(now.bytes_written), now.writes)));
            rows.extend(latency(&now.latency));
        }
        rows.push(("  process", open.state.pid.to_string()));
        rows.extend(open.attention().into_iter().map(|words| ("  attention", words)));
    }
    let text = format!("{}\n{}", shown(name), pairs(&rows));
    match &status.waiting {
        Some(waiting) => format!("{text}\n{}", waiting.words()),
        None => text,
    }
}

/// Writes that met BitLocker's metadata.
fn refused(writes: u64) -> String {
    let requests = if writes == 1 { "request" } else { "requests" };
    format!(
        "{writes} {requests} wrote over the volume's own metadata: those bytes were refused, the others are written"
    )
}

/// How long requests took: a line for each kind that there was, with the median and the 99th percentile by layer.
fn latency(found: &Latencies) -> Vec<(&'static str, String)> {
    let kinds = [("  reads", &found.reads), ("  writes", &found.writes), ("  flushes", &found.flushes)];
    let mut rows = Vec::new();
    for (kind, times) in kinds {
        let layers = [("store", &times.store), ("cipher", &times.cipher)];
        let mut words: Vec<String> = layers
            .into_iter()
            .filter_map(|(layer, times)| {
                let times = times.as_ref()?;
                let (p50, p99) = (duration(times.p50_ns), duration(times.p99_ns));
                Some(format!("{layer} {p50} (p99 {p99})"))
            })
            .collect();
        // The kernel counts no time for the flushes of some block devices.
        let whole = times.whole_mean_ns.filter(|mean| *mean > 0);
        words.extend(whole.map(|mean| format!("in all {} on average", duration(mean))));
        if !words.is_empty() {
            rows.push((kind, words.join(", ")));
        }
    }
    rows
}

/// A time for people.
fn duration(nanoseconds: u64) -> String {
    let n = nanoseconds as f64;
    let (value, unit) = match nanoseconds {
        0..1_000 => (n, "ns"),
        1_000..1_000_000 => (n / 1e3, "µs"),
        1_000_000..1_000_000_000 => (n / 1e6, "ms"),
        _ => (n / 1e9, "s"),
    };
    let digits = usize::from(value < 10.0 && unit != "ns");
    format!("{value:.digits$} {unit}")
}

/// What `manage-bde` calls a kind of protector.
fn windows_kind(kind: &str) -> String {
    let known = Protection::KNOWN.into_iter().find(|protection| protection.name() == kind);
    match known {
        Some(protection) => protection.windows_name().to_owned(),
        // Keyfiles are VeraCrypt's.
        None => kind.chars().take(1).flat_map(char::to_uppercase).chain(kind.chars().skip(1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_usual_names() {
        let of = |cipher: &str, mode: &str| method(&json!({"cipher": cipher, "mode": mode}));
        assert_eq!(of("aes", "xts").as_deref(), Some("XTS-AES 256"));
        assert_eq!(of("aes-twofish-serpent", "xts").as_deref(), Some("XTS-AES-Twofish-Serpent 256"));
        assert_eq!(of("aes-blowfish", "inner-cbc").as_deref(), Some("INNER-CBC-AES-Blowfish 256+448"));
        assert_eq!(method(&Value::Null), None);
    }

    #[test]
    fn times_are_short() {
        let words = [999, 1500, 42_000, 1_250_000, 3_000_000_000].map(duration);
        assert_eq!(words, ["999 ns", "1.5 µs", "42 µs", "1.2 ms", "3.0 s"]);
    }
}
