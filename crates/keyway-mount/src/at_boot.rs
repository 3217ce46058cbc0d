//! What systemd calls this program for: units of the machine's favourites (systemd.generator(7)), and one of them to be opened by
//! its service.

use crate::request::Request;
use keyway::favourites::Favourite;
use keyway::favourites::at_boot::{self, TABLE, Units};
use keyway::shown::line;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// So many are told one by one.
const TOLD: usize = 20;

/// The table, which a test may have elsewhere, as `SYSTEMD_FSTAB` has it with systemd's own generators.
fn table() -> PathBuf {
    env::var_os("KEYWAY_FAVOURITES").map_or_else(|| TABLE.into(), PathBuf::from)
}

/// Writes the units into the first of the folders that systemd names. Whatever is wrong is told, and ends no start-up.
pub(crate) fn write_units(folders: &[OsString]) -> ExitCode {
    let Some(folder) = folders.first() else {
        return crate::end(
            crate::USAGE,
            "usage: mount.keyway --units FOLDER; systemd calls it, when it starts",
        );
    };
    let table = table();
    let units = Units::of(&table);
    for left in units.left_out.iter().take(TOLD) {
        tell(&format!("{}: left out: {left}", table.display()));
    }
    let more = units.left_out.len().saturating_sub(TOLD);
    if more > 0 {
        tell(&format!("{}: {more} more are left out", table.display()));
    }
    if let Err(e) = units.write(Path::new(folder)) {
        tell(&format!("cannot write units into {}: {e}", Path::new(folder).display()));
    }
    ExitCode::SUCCESS
}

/// One line. Nobody reads what a generator says to standard error: its place is the kernel's log (systemd.generator(7)).
fn tell(what: &str) {
    let what: String = line(what).chars().take(600).collect();
    eprintln!("keyway-generator: {what}");
    if env::var_os("SYSTEMD_SCOPE").is_some_and(|scope| scope == "system") {
        let log = OpenOptions::new().write(true).open("/dev/kmsg");
        // Warning, of a daemon; where nobody hears it, there is nobody else to tell.
        let _ = log.and_then(|mut log| log.write_all(format!("<28>keyway-generator: {what}\n").as_bytes()));
    }
}

/// The favourite that a service is an instance of.
pub(crate) fn favourite(name: &OsStr) -> Result<Request, String> {
    let table = table();
    let none = || format!("there is no favourite {} in {}", Path::new(name).display(), table.display());
    let favourite = at_boot::find(&table, name.to_str().ok_or_else(none)?);
    let favourite = favourite.map_err(|left| {
        line(&left.map_or_else(none, |left| format!("{}: {left}: left out", table.display())))
    })?;
    let (source, folder) =
        (OsString::from(&favourite.volume), favourite.mountpoint.clone().map(OsString::from));
    let asks = !favourite.has_key();
    let lack = lack(&favourite);
    let arguments = favourite.words(false, |_| true).split_off(1);
    Ok(Request { source, folder, arguments, asks, is_verbose: false, is_of_mount: false, lack })
}

/// What it lacks that systemd should have handed to its service.
fn lack(favourite: &Favourite) -> Option<String> {
    let place = favourite.missing_credentials().into_iter().next()?;
    let name = place.file_name()?.to_string_lossy().into_owned();
    let place = place.display();
    Some(match place.to_string().starts_with("/etc/credstore.encrypted") {
        true => format!(
            "there is no credential {place}: `systemd-creds encrypt --name={name} FILE {place}` makes it of the file that holds it"
        ),
        false => format!("there is no credential {place}: put the file there that holds it, for root alone"),
    })
}
