//! What a favourite names that isn't there, or that others get at: told when it is kept, since nobody reads it when the machine
//! starts.

use super::{Favourite, FavouriteError, all, at_boot, credential, to_forget};
use crate::error::{Error, Misuse};
use crate::medium;
use crate::session::may_be_made;
use crate::under_way::Found;
use keyway_attach::path_text::value as in_json;
use serde_json::{Value, json};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The options that name files which open a volume.
const FILES: [&str; 7] = [
    "--keyfile",
    "--password-file",
    "--pin-file",
    "--protect-keyfile",
    "--protect-password-file",
    "--recovery-password",
    "--startup-key",
];
/// Several of these stand in one word.
const KEYFILES: [&str; 2] = ["--keyfile", "--protect-keyfile"];
/// Where systemd looks for generators (systemd.generator(7)), below the root.
const GENERATORS: [&str; 4] = ["run/systemd", "etc/systemd", "usr/local/lib/systemd", "usr/lib/systemd"];
/// The user that opens it when the machine starts.
const ROOT: u32 = 0;

/// The paths that an option's value names, as they are found from anywhere; none where it is something else.
pub(super) fn paths_in(option: &str, value: &str) -> Vec<PathBuf> {
    let is_other = value.is_empty() || credential::named(value).is_some();
    // The digits of a recovery password are no path.
    let is_digits = || value.chars().all(|digit| digit.is_ascii_digit() || digit == '-' || digit == ' ');
    if is_other || !FILES.contains(&option) || (option == "--recovery-password" && is_digits()) {
        return Vec::new();
    }
    let parts: Vec<PathBuf> = value.split(',').map(PathBuf::from).collect();
    let is_there = |part: &PathBuf| part.exists();
    let several = KEYFILES.contains(&option) && parts.len() > 1 && parts.iter().all(is_there);
    if several && !Path::new(value).exists() { parts } else { vec![value.into()] }
}

impl Favourite {
    /// Refuses what no service could open when the machine starts, where it is to come up then.
    ///
    /// # Errors
    /// Why it could not; or the mount point is none.
    fn may_come_up(&self) -> Result<(), Error> {
        if !self.at_boot {
            return Ok(());
        }
        at_boot::must_suit(self).map_err(FavouriteError::NotAtBoot)?;
        match self.mountpoint.as_deref().map(Path::new) {
            Some(place) if place.parent().is_none() => Err(Misuse::MountPointRoot.into()),
            Some(place) if place.exists() && !place.is_dir() => {
                Err(Misuse::MountPointNotFolder(place.to_owned()).into())
            }
            _ => Ok(()),
        }
    }

    /// What whoever keeps it should know, as facts for a sentence each.
    ///
    /// # Errors
    /// It is to come up when the machine starts, and can't; or the mount point is none.
    pub fn doubts(&self) -> Result<Vec<Value>, Error> {
        // What somebody wrote there stays when it is replaced.
        let at_boot = || to_forget(&self.name, true).is_ok_and(|kept| kept.at_boot);
        let stays = self.for_all && !self.at_boot && at_boot();
        let whole = Self { at_boot: self.at_boot || stays, ..self.clone() };
        whole.may_come_up()?;
        let mut told = whole.told();
        told.extend(whole.without_generator(Path::new("/")));
        Ok(told)
    }

    fn told(&self) -> Vec<Value> {
        let volume = Path::new(&self.volume);
        let missing = (!volume.exists()).then(|| json!({ "what": "volume", "path": self.volume }));
        let folder = self.mountpoint.as_deref().filter(|place| {
            // Nobody has a home then.
            let place = Path::new(place);
            self.at_boot && !place.exists() && !may_be_made(place, None) && !self.is_in_another(place)
        });
        let folder = folder.map(|path| json!({ "what": "folder", "path": path }));
        let files = self.options.iter().filter_map(|option| option.split_once('='));
        let files = files.flat_map(|(option, value)| {
            paths_in(option, value).into_iter().filter_map(move |path| self.doubt_of(option, &path))
        });
        let credentials = self.options.iter().filter_map(|option| option.split_once('='));
        let credentials = credentials.filter_map(|(option, value)| {
            let name = credential::named(value)?.ok().filter(|_| self.at_boot)?.name;
            is_without(name).then(|| json!({ "what": "credential", "path": name, "option": option }))
        });
        missing
            .into_iter()
            .chain(half_converted(volume))
            .chain(folder)
            .chain(files)
            .chain(credentials)
            .collect()
    }

    /// That systemd, whose files are below this folder, never hears of it: a program that was built, or installed without the
    /// package, has no generator there.
    fn without_generator(&self, root: &Path) -> Option<Value> {
        let is_there = |folder: &str| root.join(folder).join("system-generators/keyway-generator").exists();
        let missing = self.at_boot && !GENERATORS.iter().any(|folder| is_there(folder));
        missing.then(|| json!({ "what": "generator", "path": self.volume }))
    }

    /// Whether a place is in the folder of another one, which is opened before.
    fn is_in_another(&self, place: &Path) -> bool {
        let others = all().unwrap_or_default().into_iter().filter(|other| other.name != self.name);
        others.filter_map(|other| other.mountpoint).any(|folder| place.starts_with(folder))
    }

    fn doubt_of(&self, option: &str, path: &Path) -> Option<Value> {
        let says = |what: &str, path: &Path| json!({ "what": what, "path": path.to_string_lossy(), "option": option, "at_boot": self.at_boot });
        let Ok(about) = path.metadata() else { return Some(says("file", path)) };
        if !self.at_boot {
            return None;
        }
        let inside = || path.read_dir().into_iter().flatten().map_while(Result::ok).map(|entry| entry.path());
        let found = std::iter::once((path.to_owned(), about));
        let found = found.chain(inside().filter_map(|path| Some((path.clone(), path.metadata().ok()?))));
        // Others don't get to what is in a folder of root's alone.
        let mut open = found.filter(|(path, about)| is_reached(path) && (about.is_file() || about.is_dir()));
        open.find_map(|(path, about)| Some(says(open_to_others(&about)?, &path)))
    }
}

/// How others than root get at a file, or at a folder's files: whose it is, or that they may write or read it.
fn open_to_others(about: &Metadata) -> Option<&'static str> {
    match about.mode() {
        _ if about.uid() != ROOT => Some("owner"),
        mode if mode & 0o022 != 0 => Some("writable"),
        mode if about.is_file() && mode & 0o044 != 0 => Some("readable"),
        _ => None,
    }
}

/// Whether systemd would find no credential of that name (systemd.exec(5), `LoadCredential=`).
fn is_without(name: &str) -> bool {
    let stores = ["/etc", "/run", "/usr/local/lib", "/usr/lib"].map(Path::new).into_iter();
    let mut places = stores.flat_map(|store| ["credstore", "credstore.encrypted"].map(|one| store.join(one)));
    places.all(|store| !store.join(name).exists())
}

/// Whether others than root may pass all folders around it.
fn is_reached(path: &Path) -> bool {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_passed = |about: Metadata| about.uid() != ROOT || about.mode() & 0o011 != 0;
    whole.ancestors().skip(1).all(|folder| folder.metadata().is_ok_and(is_passed))
}

/// That nothing opens it as it is, if a conversion of it has not come to its end.
fn half_converted(volume: &Path) -> Option<Value> {
    let half = Found::half_converted(&medium::look(volume).ok()?).ok()??;
    let (conversion, resume) = (half.kind().name(), half.resumable(volume));
    Some(
        json!({"what": "half-converted", "path": in_json(volume), "conversion": conversion, "resume": resume}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_digits_and_credentials() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["a", "b", "c,d"] {
            std::fs::write(path(name), name).expect("written");
        }
        let both = format!("{},{}", path("a").display(), path("b").display());
        assert_eq!(paths_in("--keyfile", &both), [path("a"), path("b")]);
        let one = path("c,d").display().to_string();
        assert_eq!(paths_in("--keyfile", &one), [path("c,d")]);
        assert_eq!(paths_in("--password-file", "/a,b"), [PathBuf::from("/a,b")]);
        assert!(paths_in("--password-file", "credential:pw").is_empty());
        assert!(paths_in("--recovery-password", "111111-222222").is_empty());
        assert_eq!(paths_in("--recovery-password", "/key").len(), 1);
        assert!(paths_in("--attach", "nbd").is_empty() && paths_in("--keyfile", "").is_empty());
    }

    #[test]
    fn what_is_not_there_is_doubted_and_what_can_not_be_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let volume = folder.path().join("v.hc");
        std::fs::write(&volume, "v").expect("written");
        let mut one = Favourite::new("v", &volume).expect("a name");
        assert_eq!(one.doubts().expect("it may be kept"), Vec::<Value>::new());
        one.options = vec!["--keyfile=/nowhere/key".to_owned(), "--read-only".to_owned()];
        one.mountpoint = Some("/nowhere/at/all".to_owned());
        let what = |one: &Favourite| -> Vec<Value> {
            let doubts = one.doubts().expect("it may be kept");
            // Of what this machine has installed, the next test.
            let doubts: Vec<_> =
                doubts.into_iter().filter(|doubt| doubt.get("what") != Some(&json!("generator"))).collect();
            doubts.iter().map(|doubt| doubt.get("what").cloned().unwrap_or_default()).collect()
        };
        assert_eq!(what(&one), ["file"], "a folder is looked for when it is opened");
        one.at_boot = true;
        assert_eq!(what(&one), ["folder", "file"]);
        one.mountpoint = Some("/run/media/stick".to_owned());
        assert_eq!(what(&one), ["file"]);
        assert!(one.may_come_up().is_ok());
        one.mountpoint = Some(volume.display().to_string());
        assert!(matches!(one.may_come_up(), Err(Error::Misuse(Misuse::MountPointNotFolder(_)))));
        one.mountpoint = None;
        one.options = vec!["--foreground".to_owned()];
        assert!(matches!(one.may_come_up(), Err(Error::Favourite(FavouriteError::NotAtBoot(_)))));
    }

    #[test]
    fn a_machine_whose_systemd_never_hears_of_it_is_told() {
        let root = tempfile::tempdir().expect("a folder");
        let mut one = Favourite::new("v", Path::new("/v.hc")).expect("a name");
        assert_eq!(one.without_generator(root.path()), None, "nothing is to come up");
        one.at_boot = true;
        let told = one.without_generator(root.path()).expect("told");
        assert_eq!(told.get("what"), Some(&json!("generator")));
        let folder = root.path().join("usr/lib/systemd/system-generators");
        std::fs::create_dir_all(&folder).expect("made");
        assert!(one.without_generator(root.path()).is_some(), "those of others are none of ours");
        std::fs::write(folder.join("keyway-generator"), "#!/bin/sh\n").expect("written");
        assert_eq!(one.without_generator(root.path()), None);
    }
}
