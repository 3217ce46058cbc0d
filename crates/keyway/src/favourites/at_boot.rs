//! The machine's favourites at start-up: what systemd has to know of each before it starts `keyway@NAME.service`.
//!
//! Nothing here opens a volume or looks for one, and nothing ends the start-up: what is wrong is left out, and told.

use super::credential::{self, Credential};
use super::unit_text::{self, escaped, is_plain, of_path, quoted};
use super::{Favourite, Kept, is_name, line_of, option_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The file of the machine's favourites.
pub const TABLE: &str = "/etc/keyway/favourites.toml";
/// What is installed, of which each volume's service is an instance.
const TEMPLATE: &str = "/usr/lib/systemd/system/keyway@.service";
/// Here a volume that is wanted at start-up is looked for. systemd waits for none of them.
const WANTED_BY: &str = "multi-user.target.wants";
/// What a file of the units is called.
const FILE: &str = "50-keyway.conf";
/// No table is larger, and none has more volumes: systemd has to keep them all in mind.
const LARGEST: u64 = 1 << 20;
const MOST: usize = 1000;
/// Any of these opens a volume, with no question asked.
const KEYS: [&str; 5] = ["--keyfile", "--password-file", "--recovery-password", "--startup-key", "--tpm"];

/// A favourite, or the whole table, that is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", table_of(name.as_deref()))]
pub struct LeftOut {
    /// The favourite's name.
    pub name: Option<String>,
    /// Why.
    pub why: Why,
}

/// What is left out, as the file has it; a name that is far too long, its beginning.
fn table_of(name: Option<&str>) -> String {
    let start = |name: &str| format!("[{}]", name.chars().take(100).collect::<String>());
    name.map_or_else(|| "the table".to_owned(), start)
}

/// Why something is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// The file can't be read, or isn't TOML; or what stands there is no favourite.
    #[error("{0}")]
    Unreadable(String),
    /// The file is too large.
    #[error("it is larger than {LARGEST} bytes")]
    TooLarge,
    /// There are more of them than anybody has.
    #[error("{0} favourites more than the {MOST} that there can be")]
    TooMany(usize),
    /// What can't be a name.
    #[error("letters, digits, - , _ and . can be in a name, and 64 of them at most")]
    Name,
    /// The name in a unit's name is longer than one can be.
    #[error("{0} is too long a name for systemd")]
    LongName(&'static str),
    /// A path that has to be known from everywhere.
    #[error("{0} has to be a whole path, from / on, without . and .. and control characters")]
    Path(String),
    /// An option that can't be kept, or not for a service.
    #[error("{0} can't be among the options of a volume that a service opens")]
    Option(String),
    /// A credential's name.
    #[error("{0:?} can't be a credential's name: letters of ASCII, digits, - , _ and . can")]
    Credential(String),
}

/// Units for systemd, as files below the folder that it gives a generator.
#[derive(Debug, Default)]
pub struct Units {
    /// Each file's path there, and its text.
    pub files: BTreeMap<PathBuf, String>,
    /// Links of services that are wanted at start-up, to what they are an instance of.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// What is left out.
    pub left_out: Vec<LeftOut>,
}

impl Units {
    /// Of all favourites in that table, and what holds for every volume; that alone where there is no such file.
    pub fn of(table: &Path) -> Self {
        let (all, left_out) = favourites(table);
        let mut units = Self { left_out, ..Self::default() };
        let places = all.iter().filter_map(|one| Some((one.mountpoint.clone()?, one.name.as_str())));
        let places: BTreeMap<PathBuf, &str> =
            places.map(|(place, name)| (Path::new(&place).components().collect(), name)).collect();
        for favourite in &all {
            units.add(favourite, &places);
        }
        // What a session mounts for itself it takes down itself, when nothing is mounted of it any more: one of a line of fstab, too.
        let own = Path::new("run-keyway-.mount.d").join(FILE);
        units.files.insert(own, "[Unit]\nDefaultDependencies=no\n".to_owned());
        units
    }

    fn add(&mut self, favourite: &Favourite, places: &BTreeMap<PathBuf, &str>) {
        let service = service(&favourite.name);
        self.files.insert(Path::new(&format!("{service}.d")).join(FILE), service_text(favourite, places));
        if let Some(mountpoint) = &favourite.mountpoint {
            // What the service has mounted is a unit of its own, of the local file systems as systemd has it: before them, the
            // service after them, and it after the service, which is a circle. And it would be unmounted at the begin of a shutdown, before
            // those end that need the service. So the service unmounts it, when it is stopped; who stops both has it go first.
            let mount = format!("{}.d", of_path(mountpoint, "mount"));
            let text = format!("[Unit]\nDefaultDependencies=no\nAfter={service}\n");
            self.files.insert(Path::new(&mount).join(FILE), text);
        }
        if favourite.at_boot {
            self.links.insert(Path::new(WANTED_BY).join(service), TEMPLATE.into());
        }
    }

    /// Writes them below that folder.
    ///
    /// # Errors
    /// A file there can't be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let made = |path: &Path| {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), std::fs::create_dir_all).map(|()| path)
        };
        for (path, text) in &self.files {
            std::fs::write(made(path)?, text)?;
        }
        for (path, target) in &self.links {
            match std::os::unix::fs::symlink(target, made(path)?) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Favourite {
    /// Whether one of its options opens the volume, so that nobody has to be asked for a password.
    pub fn has_key(&self) -> bool {
        self.options.iter().any(|option| KEYS.contains(&option_name(option)))
    }

    /// Where the credentials among its options belong that systemd has not found for this service.
    pub fn missing_credentials(&self) -> Vec<PathBuf> {
        let Some(handed) = credential::folder() else { return Vec::new() };
        let values = self.options.iter().filter_map(|option| option.split_once('='));
        let named = values.filter_map(|(_, value)| credential::named(value)?.ok());
        let place = |is_encrypted| if is_encrypted { "/etc/credstore.encrypted" } else { "/etc/credstore" };
        let missing = named.filter(|credential| !handed.join(credential.name).exists());
        missing.map(|credential| Path::new(place(credential.is_encrypted)).join(credential.name)).collect()
    }
}

/// The favourite of that name in the table, which the service of that name opens.
///
/// # Errors
/// Why it is left out, or the whole table; nothing where it isn't there.
pub fn find(table: &Path, name: &str) -> Result<Favourite, Option<LeftOut>> {
    let (all, left_out) = favourites(table);
    let why = |of: LeftOut| of.name.as_deref().is_none_or(|of| of == name).then_some(of);
    all.into_iter().find(|one| one.name == name).ok_or_else(|| left_out.into_iter().find_map(why))
}

/// What can be opened by a service, each for itself: one that is wrong leaves the others as they are.
fn favourites(table: &Path) -> (Vec<Favourite>, Vec<LeftOut>) {
    let whole = |why| (Vec::new(), vec![LeftOut { name: None, why }]);
    let text = match text(table) {
        Ok(Some(text)) => text,
        Ok(None) => return (Vec::new(), Vec::new()),
        Err(why) => return whole(why),
    };
    let entries = match toml::from_str::<toml::Table>(&text) {
        Ok(entries) => entries,
        Err(e) => {
            let line = line_of(&e, &text).map_or_else(String::new, |line| format!("line {line}: "));
            return whole(Why::Unreadable(format!("{line}{}", e.message())));
        }
    };
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    let more = entries.len().saturating_sub(MOST);
    for (name, value) in entries.into_iter().take(MOST) {
        match favourite(&name, value) {
            Ok(favourite) => all.push(favourite),
            Err(why) => left_out.push(LeftOut { name: Some(name), why }),
        }
    }
    if more > 0 {
        left_out.push(LeftOut { name: None, why: Why::TooMany(more) });
    }
    (all, left_out)
}

fn text(table: &Path) -> Result<Option<String>, Why> {
    let unreadable = |e: io::Error| Why::Unreadable(e.to_string());
    match table.metadata() {
        // Whoever opens a pipe waits for its other end.
        Ok(meta) if !meta.is_file() => return Err(Why::Unreadable("it is no file".to_owned())),
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable(e)),
    }
    let mut text = String::new();
    let read = File::open(table).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    // A character may have been cut in two there, which is an error of its own.
    match read {
        Ok(bytes) if bytes as u64 > LARGEST => Err(Why::TooLarge),
        Ok(_) => Ok(Some(text)),
        Err(e) => Err(unreadable(e)),
    }
}

fn favourite(name: &str, value: toml::Value) -> Result<Favourite, Why> {
    if !is_name(name) {
        return Err(Why::Name);
    }
    let kept: Kept =
        value.try_into().map_err(|e: toml::de::Error| Why::Unreadable(e.message().to_owned()))?;
    let favourite = kept.named(name.to_owned(), true);
    must_suit(&favourite).map(|()| favourite)
}

/// Refuses what no service could open.
pub(super) fn must_suit(favourite: &Favourite) -> Result<(), Why> {
    if service(&favourite.name).len() > unit_text::LONGEST {
        return Err(Why::LongName("that"));
    }
    place("volume", &favourite.volume, "device")?;
    if let Some(mountpoint) = &favourite.mountpoint {
        place("mountpoint", mountpoint, "mount")?;
        if mountpoint.split('/').all(str::is_empty) {
            return Err(Why::Path("mountpoint".to_owned()));
        }
    }
    favourite.options.iter().try_for_each(|option| checked(option))
}

/// A path of which a unit's name is made.
fn place(field: &'static str, path: &str, kind: &str) -> Result<(), Why> {
    if !is_plain(path) {
        return Err(Why::Path(field.to_owned()));
    }
    let is_unit = kind == "mount" || is_device(path);
    if is_unit && of_path(path, kind).len() > unit_text::LONGEST { Err(Why::LongName(field)) } else { Ok(()) }
}

/// An option that a service can open a volume with. Everybody reads the table: no secret stands in it.
fn checked(option: &str) -> Result<(), Why> {
    let (long, value) = option.split_once('=').map_or((option, None), |(long, value)| (long, Some(value)));
    let refused = || Why::Option(long.chars().take(64).collect());
    let is_word = long.strip_prefix("--").is_some_and(|word| !word.is_empty());
    let credential = value.and_then(credential::named);
    let is_place = credential.is_some() || value.is_some_and(|value| value.starts_with('/'));
    let is_secret = long == "--recovery-password" && !is_place;
    // The first needs a shell's open files, the second somebody who waits.
    let is_for_shells = long.ends_with("-fd") || value == Some("-") || long == "--foreground";
    if !is_word
        || is_secret
        || is_for_shells
        || option.len() > 4096 + 64
        || option.chars().any(char::is_control)
    {
        return Err(refused());
    }
    if let Some(Err(name)) = credential {
        return Err(Why::Credential(name.chars().take(64).collect()));
    }
    match paths(option).find(|path| !is_plain(path)) {
        Some(_) => Err(Why::Path(long.to_owned())),
        None => Ok(()),
    }
}

/// The files that an option names. Several keyfiles have commas between them.
fn paths(option: &str) -> impl Iterator<Item = &str> {
    let value = option.split_once('=').map_or("", |(_, value)| value);
    value.split(',').filter(|part| part.starts_with('/'))
}

/// Whether a path is one for which systemd has a unit as soon as it is there.
fn is_device(path: &str) -> bool {
    let path = Path::new(path);
    path.starts_with("/dev") && !path.starts_with("/dev/shm") && path != Path::new("/dev")
}

fn service(name: &str) -> String {
    format!("keyway@{}.service", escaped(name))
}

/// What the service of this favourite needs, and must go before at shutdown.
fn service_text(favourite: &Favourite, places: &BTreeMap<PathBuf, &str>) -> String {
    let mut lines = BTreeSet::new();
    let parent = favourite.mountpoint.as_deref().and_then(|path| Path::new(path).parent()?.to_str());
    let files = favourite.options.iter().flat_map(|option| paths(option));
    for path in files.chain(parent).chain([favourite.volume.as_str()]) {
        if is_device(path) {
            let device = of_path(path, "device");
            if device.len() <= unit_text::LONGEST {
                // Unplugged, the service ends; and it isn't begun before the device is there.
                lines.insert(format!("BindsTo={device}\nAfter={device}\n"));
            }
            continue;
        }
        lines.insert(format!("RequiresMountsFor={}\n", quoted(path)));
        // What lies in another volume of these waits for that one.
        let other = Path::new(path).ancestors().find_map(|folder| places.get(folder));
        if let Some(other) = other.filter(|other| **other != favourite.name) {
            let other = service(other);
            lines.insert(format!("Requires={other}\nAfter={other}\n"));
        }
    }
    let mut text = format!("# Of [{}] in {TABLE}.\n[Unit]\nSourcePath={TABLE}\n", favourite.name);
    text.extend(lines);
    let values = favourite.options.iter().filter_map(|option| option.split_once('='));
    let credentials = values.filter_map(|(_, value)| credential::named(value)?.ok());
    for (at, Credential { name, is_encrypted }) in credentials.enumerate() {
        let setting = if is_encrypted { "LoadCredentialEncrypted" } else { "LoadCredential" };
        text.push_str(if at == 0 { "\n[Service]\n" } else { "" });
        let _ = writeln!(text, "{setting}={name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(table: &str) -> Units {
        let path = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(path.path(), table).expect("written");
        Units::of(path.path())
    }

    fn text(units: &Units, folder: &str) -> String {
        units.files.get(&Path::new(folder).join(FILE)).cloned().unwrap_or_default()
    }

    #[test]
    fn a_device_is_waited_for_and_a_files_folder_mounted_before() {
        let units = units(
            "[data]\nvolume = '/dev/disk/by-partuuid/0f3c-01'\nmountpoint = '/srv/data'\n\
             options = ['--keyfile=/etc/keyway/data.key', '--password-file=encrypted-credential:data.pw']\nat_boot = true\n\
             [inner]\nvolume = '/srv/data/50% \"x\".hc'\n",
        );
        assert_eq!(units.left_out, []);
        let data = text(&units, "keyway@data.service.d");
        for line in [
            "BindsTo=dev-disk-by\\x2dpartuuid-0f3c\\x2d01.device\n",
            "After=dev-disk-by\\x2dpartuuid-0f3c\\x2d01.device\n",
            "RequiresMountsFor=\"/etc/keyway/data.key\"\n",
            "RequiresMountsFor=\"/srv\"\n",
            "\n[Service]\nLoadCredentialEncrypted=data.pw\n",
        ] {
            assert!(data.contains(line), "{line}{data}");
        }
        assert!(!data.contains("/srv/data\""), "it would wait for what it mounts itself: {data}");
        let inner = text(&units, "keyway@inner.service.d");
        for line in
            ["RequiresMountsFor=\"/srv/data/50%% \\\"x\\\".hc\"\n", "Requires=keyway@data.service\nAfter=key"]
        {
            assert!(inner.contains(line), "{line}{inner}");
        }
        assert_eq!(
            text(&units, "srv-data.mount.d"),
            "[Unit]\nDefaultDependencies=no\nAfter=keyway@data.service\n"
        );
        let wanted: Vec<_> = units.links.keys().map(|path| path.display().to_string()).collect();
        assert_eq!(wanted, ["multi-user.target.wants/keyway@data.service"]);
    }

    #[test]
    fn what_is_wrong_is_left_out_by_itself() {
        let long = "x".repeat(4096);
        for (entry, why) in [
            ("['a b']\nvolume = '/v'".to_owned(), Why::Name),
            (format!("[{}]\nvolume = '/v'", "x".repeat(65)), Why::Name),
            (format!("['{}']\nvolume = '/v'", "ä".repeat(32)), Why::LongName("that")),
            ("[\"a\\nb\"]\nvolume = '/v'".to_owned(), Why::Name),
            ("[v]\nvolume = 'v'".to_owned(), Why::Path("volume".to_owned())),
            ("[v]\nvolume = '/a/../v'".to_owned(), Why::Path("volume".to_owned())),
            ("[v]\nvolume = \"/v\\nExecStart=/x\"".to_owned(), Why::Path("volume".to_owned())),
            (format!("[v]\nvolume = '/{long}'"), Why::Path("volume".to_owned())),
            ("[v]\nvolume = '/v'\nmountpoint = '//'".to_owned(), Why::Path("mountpoint".to_owned())),
            (format!("[v]\nvolume = '/v'\nmountpoint = '/{}'", &long[..300]), Why::LongName("mountpoint")),
            ("[v]\nvolume = '/v'\noptions = ['-r']".to_owned(), Why::Option("-r".to_owned())),
            (
                "[v]\nvolume = '/v'\noptions = ['--password-fd=3']".to_owned(),
                Why::Option("--password-fd".to_owned()),
            ),
            (
                "[v]\nvolume = '/v'\noptions = ['--recovery-password=111111-222222']".to_owned(),
                Why::Option("--recovery-password".to_owned()),
            ),
            (
                "[v]\nvolume = '/v'\noptions = ['--keyfile=/k/../l']".to_owned(),
                Why::Path("--keyfile".to_owned()),
            ),
            (
                "[v]\nvolume = '/v'\noptions = ['--keyfile=credential:../shadow']".to_owned(),
                Why::Credential("../shadow".to_owned()),
            ),
        ] {
            let units = units(&format!("{entry}\nat_boot = true\n[good]\nvolume = '/g'\n"));
            let whys: Vec<_> = units.left_out.iter().map(|left| left.why.clone()).collect();
            assert_eq!(whys, [why], "{entry}");
            assert!(units.links.is_empty(), "{entry}");
            assert!(!text(&units, "keyway@good.service.d").is_empty(), "{entry}");
        }
    }

    #[test]
    fn a_table_has_its_limits() {
        let mut many = String::new();
        for at in 0..10_000 {
            let _ = write!(many, "[v{at}]\nvolume = '/v{at}'\nat_boot = true\n");
        }
        let found = units(&many);
        assert_eq!((found.links.len(), found.files.len()), (MOST, MOST + 1));
        assert_eq!(found.left_out, [LeftOut { name: None, why: Why::TooMany(9_000) }]);
        let large = format!("# {}\n", "x".repeat(1 << 20));
        assert_eq!(units(&large).left_out, [LeftOut { name: None, why: Why::TooLarge }]);
        assert_eq!(units("[v\n").left_out.len(), 1);
        let nothing = Units::of(Path::new("/nowhere/at/all"));
        assert!(nothing.files.len() == 1 && nothing.links.is_empty() && nothing.left_out.is_empty());
    }

    #[test]
    fn the_services_favourite_is_found_beside_a_wrong_one() {
        let path = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(
            path.path(),
            "[a]\nvolume = 'a'\n[b]\nvolume = '/b'\noptions = ['--tpm']\n[c]\nvolume = '/c'\n",
        )
        .expect("written");
        let found = |name: &str| find(path.path(), name);
        assert!(found("b").is_ok_and(|b| b.has_key() && b.volume == "/b"));
        assert!(found("c").is_ok_and(|c| !c.has_key()));
        assert_eq!(
            found("a").map_err(|left| left.map(|left| left.why)),
            Err(Some(Why::Path("volume".to_owned())))
        );
        assert_eq!(found("d"), Err(None));
    }
}
