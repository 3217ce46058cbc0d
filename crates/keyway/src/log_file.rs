//! A log of what is made, opened, tried, attached, changed, converted and closed, with times and errors, in a file of its own. No
//! secret is in it: what is written names volumes, formats, ways, sizes and failures, and nothing that was typed or read to open one.

use crate::error::Error;
use crate::shown::{line, shown};
use keyway_error::{Explain, Fault, Meaning};
use keyway_fs::calendar;
use keyway_store::is_no_text;
use log::{LevelFilter, Log, Metadata, Record};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A log in a file.
struct LogFile(File);

static LOG: OnceLock<PathBuf> = OnceLock::new();

/// Why something was not written to it, the first time.
static LOST: OnceLock<String> = OnceLock::new();

/// Begins to log into that file: made for its owner alone where it isn't there, else appended to. It stays open, so that a process
/// that gives up all paths writes into it, too. Once in a process; what is logged before that is not kept.
///
/// # Errors
/// It can't be written, is a link or no file.
pub fn log_to(path: &Path) -> Result<(), Error> {
    let failed = |e: io::Error| Error::system("log to", path, e);
    if is_no_text(path) {
        let why = "what is there is no text: it may be a volume, which would be longer then";
        return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, why)));
    }
    let kind = path.metadata().ok().map(|about| about.file_type());
    let what = match kind {
        Some(kind) if kind.is_dir() => Some("a folder"),
        // It would be written over what is on it.
        Some(kind) if kind.is_block_device() => Some("a block device"),
        Some(kind) if !kind.is_file() => Some("no file"),
        _ => None,
    };
    what.map_or(Ok(()), |what| Err(Error::NoLog { path: path.to_owned(), what }))?;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    let file = opened.map(File::from).map_err(|e| failed(e.into()))?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Error::NoLog { path: path.to_owned(), what: "no file" });
    }
    log::set_boxed_logger(Box::new(LogFile(file))).map_err(|e| failed(io::Error::other(e)))?;
    log::set_max_level(LevelFilter::Info);
    let _ = LOG.set(std::path::absolute(path).map_err(failed)?);
    Ok(())
}

/// Where it is logged to, by a path that is the same in every folder.
pub fn logged_to() -> Option<&'static Path> {
    LOG.get().map(PathBuf::as_path)
}

/// That the log does not hold all of what was done by this process, and why.
pub fn lost_log() -> Option<String> {
    let (path, why) = (LOG.get()?, LOST.get()?);
    Some(format!("the log {} is not complete: {why}", shown(path)))
}

/// What came of something.
pub(crate) fn outcome<T>(of: &str, path: &Path, came: &Result<T, Error>, well: impl FnOnce(&T) -> String) {
    match came {
        Ok(done) => log::info!("{of} {}: {}", shown(path), well(done)),
        Err(error) => log::error!("{of} {}: {} ({error})", shown(path), error.explain().kind.word()),
    }
}

/// Work on that file or device: when it begins, and when it has ended, what came of it and how long it took.
pub(crate) fn step<T>(
    of: &str,
    path: &Path,
    work: impl FnOnce() -> Result<T, Error>,
    well: impl FnOnce(&T) -> String,
) -> Result<T, Error> {
    log::info!("{of} {}: begins", shown(path));
    let begun = Instant::now();
    let came = work();
    let seconds = begun.elapsed().as_secs_f64();
    outcome(of, path, &came, |done| format!("{}, {seconds:.3} s", well(done)));
    came
}

/// A verb of a front begins, or has ended: well, or by that failure, at the volume or device that was named.
pub fn log_verb(verb: &str, volume: Option<&Path>, ended: Option<Result<(), &dyn Explain>>) {
    match ended {
        None => log::info!("{verb}: begins"),
        Some(Ok(())) => log::info!("{verb}: ended"),
        Some(Err(failure)) => log::error!("{verb}: {}", failed(volume, failure)),
    }
}

/// What failed, and why. What was typed in the wrong place may be a secret: of a wrong word, and of what is not there and no
/// volume, only the kind is written.
fn failed(volume: Option<&Path>, failure: &dyn Explain) -> String {
    let Meaning { kind, fault, path, .. } = failure.explain();
    let named = volume.map(|volume| format!("{}: ", shown(volume))).unwrap_or_default();
    let is_known = path.is_none_or(|path| Some(&*path) == volume || path.exists());
    match fault {
        Fault::Request | Fault::Secret => format!("{named}{}", kind.word()),
        _ if !is_known => format!("{named}{}", kind.word()),
        _ => format!("{named}{} ({failure})", kind.word()),
    }
}

impl Log for LogFile {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        // What libraries of others log is theirs, and nobody has looked at it for secrets.
        about.target().starts_with("keyway")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let text = entry(SystemTime::now(), record.level().as_str(), &record.args().to_string());
            // In one go: others append to it as well. A log that can't be written stops nobody's work, but is told.
            if let Err(error) = (&self.0).write_all(text.as_bytes()) {
                let _ = LOST.set(error.to_string());
            }
        }
    }

    fn flush(&self) {}
}

/// `2026-11-26T04:30:00Z 4711 INFO what happened`, in one line.
fn entry(now: SystemTime, level: &str, what: &str) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let time = i64::try_from(seconds).ok().and_then(calendar::utc).unwrap_or_default();
    format!("{time} {} {level} {}\n", std::process::id(), line(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Duration;

    #[test]
    fn an_entry_is_a_line() {
        let at = UNIX_EPOCH + Duration::from_secs(951_827_696);
        let text = entry(at, "INFO", "one\ntwo\u{1b}[2J");
        let pid = std::process::id();
        assert_eq!(text, format!("2000-02-29T12:34:56Z {pid} INFO one\\ntwo\\u{{1b}}[2J\n"));
    }

    #[test]
    fn a_log_is_its_owners_and_is_appended_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        assert!(matches!(log_to(&path("none/log")), Err(Error::System { .. })));
        std::fs::write(path("volume"), [0xe9, 0x9d, 0xc3, 0x28]).expect("written");
        assert!(log_to(&path("volume")).is_err_and(|e| e.explain().kind.word() == "exists"));
        for (wrong, what) in [("/dev/null", "no file"), (".", "a folder")] {
            assert!(log_to(Path::new(wrong)).is_err_and(|e| e.to_string().ends_with(what)), "{wrong}");
        }
        symlink(path("elsewhere"), path("link")).expect("a link");
        assert!(log_to(&path("link")).is_err() && !path("elsewhere").exists());
        std::fs::write(path("log"), "before\n").expect("written");
        std::fs::remove_file(path("log")).expect("removed");
        log_to(&path("log")).expect("a log");
        log::info!("one");
        log::info!(target: "another::library", "two");
        let text = std::fs::read_to_string(path("log")).expect("read");
        assert!(text.ends_with(" INFO one\n") && !text.contains("two"), "{text}");
        assert_eq!(std::fs::metadata(path("log")).expect("there").permissions().mode() & 0o777, 0o600);
    }
}
