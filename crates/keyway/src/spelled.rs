//! Sizes, speeds and addresses as people type them, and what is wrong with one, in words.

#[cfg(feature = "lab")]
use crate::lab::bench::{Buffers, Threads};
use crate::locked::LockedVolume;
use crate::secrets::{PasswordSource, SecretFrom, SecretRole};
use crate::session::NbdAddress;
use crate::shown::{for_shell, line};
use crate::tpm::Address;
use keyway_cipher::Chain;
use keyway_store::size::{self, SizeError};
use keyway_volume::HeaderChoice;
use keyway_volume::veracrypt::LARGEST_PIM;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Parses a size in bytes, and says what one looks like.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse(text: &str) -> Result<u64, String> {
    size::parse(text).map_err(|error| match error {
        SizeError::TooLarge => format!("{text:?} is too large"),
        _ => format!("{text:?} is not a size: write a number with K, M, G or T, such as 512M or 10G"),
    })
}

/// Parses a PIM, and says which there are; one that is too large for VeraCrypt is told with the volume.
///
/// # Errors
/// What is wrong with it, in words.
pub fn pim(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("a PIM is a whole number from 0 to {LARGEST_PIM}"))
}

/// Parses a speed in bytes a second: a size as above, or a number alone, which means megabytes.
///
/// # Errors
/// What is wrong with it, in words.
pub fn rate(text: &str) -> Result<u64, String> {
    let megabytes = text.trim().bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let parsed = if megabytes { parse(&format!("{}MB", text.trim())) } else { parse(text) };
    match parsed {
        Ok(0) => Err("nothing would be done at 0 bytes a second".to_owned()),
        Ok(rate) => Ok(rate),
        Err(_) => Err(format!(
            "{text:?} is not a speed: write megabytes a second, such as 20, or a number with K, M or G, such as 512K or 1G"
        )),
    }
}

/// Parses a time: a number with s, m, h or d.
///
/// # Errors
/// What is wrong with it, in words.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time: write a number with s, m or h, such as 90s, 30m or 2h");
    let typed = text.trim();
    let (number, unit) = typed.split_at(typed.trim_end_matches(char::is_alphabetic).len());
    let seconds = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    let time = number.trim().parse::<f64>().map_err(|_| wrong())? * seconds;
    if !(1.0..=31.0 * 86_400.0).contains(&time) {
        return Err(format!("{text:?} is not from a second to a month"));
    }
    Ok(Duration::from_secs_f64(time))
}

/// Bytes ciphered at a time by a benchmark; `all` for a list of usual ones.
///
/// # Errors
/// What is wrong with it, in words.
#[cfg(feature = "lab")]
pub fn buffers(text: &str) -> Result<Buffers, String> {
    if text == "all" {
        return Ok(Buffers::All);
    }
    match usize::try_from(parse(text)?) {
        Ok(bytes) if (512..=1 << 30).contains(&bytes) && bytes.is_multiple_of(512) => Ok(Buffers::One(bytes)),
        _ => Err("a buffer is a multiple of 512 bytes, at most 1G; try 1M".to_owned()),
    }
}

/// Threads that cipher at once in a benchmark; `all` for one on each core.
///
/// # Errors
/// What is wrong with it, in words.
#[cfg(feature = "lab")]
pub fn threads(text: &str) -> Result<Threads, String> {
    match text.parse() {
        _ if text == "all" => Ok(Threads::All),
        Ok(number @ 1..=1024) => Ok(Threads::Some(number)),
        _ => Err("write a number from 1 to 1024, or all".to_owned()),
    }
}

/// A cipher's name as others write it, in our spelling: `AES(Twofish(Serpent))`, `XTS-AES 256`.
///
/// # Errors
/// None: whether there is one of that name is for whoever makes a volume to say.
pub fn cipher(text: &str) -> Result<String, Infallible> {
    if let Ok(chain) = text.parse::<Chain>() {
        return Ok(chain.to_string());
    }
    let name = text.to_lowercase().replace(' ', "-");
    Ok(name.strip_prefix("xts-aes-").map(|bits| format!("aes-xts-{bits}")).unwrap_or(name))
}

/// What is typed beside a password to open a volume that has this secret.
pub fn options(secret: &PasswordSource, prefix: &str) -> String {
    let pim = secret.pim.filter(|pim| *pim > 0).map(|pim| format!(" --{prefix}pim {pim}"));
    let files = secret.keyfiles.iter().map(|file| format!(" --{prefix}keyfile {}", for_shell(file)));
    // Of a new secret that is something: those go which there were.
    let none =
        (secret.no_keyfiles && secret.role == SecretRole::New).then(|| format!(" --{prefix}keyfile ''"));
    pim.into_iter().chain(files).chain(none).collect()
}

/// The options that were given to open a volume, to be typed again: what it is looked for as, and what names its secrets. No secret
/// is one of them, nor what holds one only once.
pub fn given(volume: &LockedVolume<'_>) -> String {
    let (arguments, sources) = (&volume.arguments, &volume.sources);
    let mut said = String::new();
    let mut option = |long: &str, value: Option<String>| {
        said.extend(value.map(|value| format!(" --{long} {value}")));
    };
    let file = |path: &Path| Some(for_shell(path)).filter(|_| path.is_file());
    let password = |from: &PasswordSource| match &from.password {
        Some(SecretFrom::File(path)) => file(path),
        _ => None,
    };
    option("format", arguments.format.map(|format| format.name().to_owned()));
    option("hash", arguments.hash.map(|hash| hash.to_string()));
    option(
        "header",
        match arguments.header {
            HeaderChoice::Auto => None,
            HeaderChoice::Primary => Some("primary".to_owned()),
            HeaderChoice::Backup => Some("backup".to_owned()),
        },
    );
    option("partition", arguments.partition.map(|number| number.to_string()));
    option("system-header", arguments.system_header.as_ref().map(for_shell));
    option("password-file", password(&sources.password));
    option("startup-key", sources.startup_key.as_ref().map(for_shell));
    let recovery = sources.recovery_password.as_ref().map(Path::new);
    option("recovery-password", recovery.and_then(file));
    let asked = sources.asks_recovery_password || recovery.is_some_and(|given| !given.is_file());
    let system = arguments.system && arguments.system_header.is_none();
    let mut flag = |is_given: bool, long: &str| said.push_str(if is_given { long } else { "" });
    flag(system, " --system");
    flag(asked, " --recovery-password");
    said.extend(sources.tpm.as_ref().map(|tpm| match &tpm.address {
        own if *own == Address::default() => " --tpm".to_owned(),
        other => format!(" --tpm={}", for_shell(other.to_string())),
    }));
    said.push_str(&options(&sources.password, ""));
    if let Some(hidden) = &volume.protect {
        let file = password(hidden).map(|file| format!(" --protect-password-file {file}"));
        said = [said, " --protect-hidden".to_owned(), file.unwrap_or_default(), options(hidden, "protect-")]
            .concat();
    }
    said
}

/// The same of a command line that failed: `typed` has the words behind an option, where it was given.
pub fn typed_again(typed: &dyn Fn(&str) -> Option<Vec<OsString>>) -> String {
    let mut said = String::new();
    let file = |word: &OsString| Path::new(word).is_file();
    let long = |id: &str| format!(" --{}", id.replace('_', "-"));
    let flag = |said: &mut String, id: &str| {
        let is_set = typed(id).is_some_and(|words| words.iter().any(|word| word == "true"));
        said.extend(is_set.then(|| long(id)));
    };
    let options = |said: &mut String, ids: &[&str]| {
        for id in ids {
            // What holds a secret only once is asked for.
            let again = |word: &OsString| word != "auto" && (!id.ends_with("password-file") || file(word));
            let words = typed(id).unwrap_or_default().into_iter().filter(again);
            said.extend(words.map(|word| format!("{} {}", long(id), for_shell(word))));
        }
    };
    // A format beside `--reencrypt` is what shall become of it.
    let own_format = if typed("reencrypt").is_some() { "" } else { "format" };
    options(&mut said, &[own_format, "hash", "header", "system_header"]);
    flag(&mut said, "system");
    options(&mut said, &["password-file", "pim", "keyfile", "startup_key"]);
    if let Some(recovery) = typed("recovery_password") {
        said.push_str(" --recovery-password");
        said.extend(recovery.iter().find(|word| file(word)).map(|word| format!(" {}", for_shell(word))));
    }
    if let Some(tpm) = typed("tpm") {
        said.push_str(" --tpm");
        said.extend(tpm.first().map(|word| format!("={}", for_shell(word))));
    }
    flag(&mut said, "protect_hidden");
    options(&mut said, &["protect-password-file", "protect-pim", "protect-keyfile"]);
    said
}

/// What a command line that failed was to put into a volume, and how.
pub fn put_again(typed: &dyn Fn(&str) -> Option<Vec<OsString>>) -> String {
    let words = |id: &str| typed(id).unwrap_or_default();
    let mut said: Vec<String> = words("files").iter().map(for_shell).collect();
    said.extend(words("to").iter().map(|folder| format!("--to {}", for_shell(folder))));
    for option in ["force", "skip_existing", "skip_unfit"] {
        let is_set = words(option).iter().any(|word| word == "true");
        said.extend(is_set.then(|| format!("--{}", option.replace('_', "-"))));
    }
    said.join(" ")
}

/// What is typed to open a BitLocker volume, where no password does.
pub fn bitlocker_options(has_password: bool, startup_key: Option<&Path>) -> String {
    match startup_key {
        _ if has_password => String::new(),
        Some(file) => format!(" --startup-key {}", for_shell(file)),
        None => " --recovery-password".to_owned(),
    }
}

/// An option of a command line without what stands for its value; a word's name without its brackets.
pub fn bare(arg: &str) -> String {
    let arg = trimmed(arg);
    arg.split([' ', '=', '[']).next().unwrap_or(arg).trim_end_matches("...").to_owned()
}

/// A word's name without its brackets, and without the dots behind those that come several times.
pub fn trimmed(arg: &str) -> &str {
    match arg.trim_end_matches("...").strip_prefix(['<', '[']) {
        Some(inner) => inner.trim_end_matches(['>', ']']),
        None => arg.trim_end_matches("..."),
    }
}

/// The first sentence of a text, or the first half of one, where more follows: a stop in brackets ends none.
pub fn first_sentence(text: &str) -> Option<&str> {
    let mut depth = 0;
    let end = text.char_indices().find(|(at, c)| {
        depth += i32::from(['(', '['].contains(c)) - i32::from([')', ']'].contains(c));
        depth == 0 && text.get(*at..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with("; "))
    });
    end.and_then(|(at, _)| text.get(..at))
}

/// What is wrong, in one line: the words that are missing stand in the lines below the first.
pub fn first_paragraph(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    line(lines.join(" ").trim_start_matches("error: "))
}

/// Whether a word is plainly another one mistyped: one letter too many, too few, wrong, or exchanged with the next; or its
/// beginning alone.
pub fn is_near(typed: &str, known: &str) -> bool {
    let typed = typed.to_lowercase();
    let same = typed.chars().zip(known.chars()).take_while(|(one, other)| one == other).count();
    let mut rest: Vec<char> = typed.chars().skip(same).collect();
    let mut other: Vec<char> = known.chars().skip(same).collect();
    while let (Some(one), Some(two)) = (rest.last(), other.last())
        && one == two
    {
        rest.pop();
        other.pop();
    }
    match (&*rest, &*other) {
        ([one, two], [three, four]) => one == four && two == three,
        // Of a short word hardly anything would be left.
        ([_], [_]) => known.len() > 3,
        ([] | [_], []) | ([], [_]) => true,
        ([], _) => same == typed.chars().count() && same > 3,
        _ => false,
    }
}

/// An address for NBD clients.
///
/// # Errors
/// What is wrong with it, in words.
pub fn address(text: &OsStr) -> Result<NbdAddress, String> {
    if let Some(path) = text.as_bytes().strip_prefix(b"unix:")
        && !path.is_empty()
    {
        return Ok(NbdAddress::Unix(OsStr::from_bytes(path).into()));
    }
    let text = text.to_str().unwrap_or_default();
    let at = text.strip_prefix("tcp:").ok_or("write unix:PATH or tcp:127.0.0.1:PORT")?;
    let port = |_| "write tcp:127.0.0.1:PORT or tcp:[::1]:PORT, with a port up to 65535".to_owned();
    socket_address(at).map(NbdAddress::Tcp).map_err(port)
}

/// The path in an address, where it is a socket's or a device's; else the word itself.
pub fn path_in(address: &OsStr) -> &Path {
    let bytes = address.as_bytes();
    let known =
        ["unix:", "device:", "swtpm:path="].iter().find_map(|kind| bytes.strip_prefix(kind.as_bytes()));
    Path::new(OsStr::from_bytes(known.unwrap_or(bytes)))
}

/// A socket's path, of which others write what it is in front: `unix:/run/s`. A file that is called so is `./unix:…`.
pub fn socket(text: &OsStr) -> PathBuf {
    let path = text.as_bytes().strip_prefix(b"unix:").filter(|path| !path.is_empty());
    path.map_or(text, OsStr::from_bytes).into()
}

/// An address and port of a network.
///
/// # Errors
/// What is wrong with it, in words.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.replacen("localhost:", "127.0.0.1:", 1)
        .parse()
        .map_err(|_| "write 127.0.0.1:PORT or [::1]:PORT".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pim_is_told_with_its_range() {
        assert_eq!((pim("0"), pim("485")), (Ok(0), Ok(485)));
        for text in ["99999999999", "-1", "many", ""] {
            assert!(pim(text).is_err_and(|told| told.ends_with("from 0 to 2147468")), "{text}");
        }
    }

    #[test]
    fn speeds() {
        assert_eq!(rate("20"), Ok(20_000_000));
        assert_eq!(rate("0.5"), Ok(500_000));
        assert_eq!(rate("20M"), Ok(20 << 20));
        assert_eq!(rate("20MB"), Ok(20_000_000));
        assert_eq!(rate("1G"), Ok(1 << 30));
        for text in ["0", "0K", "", "M", "-1", "fast", "20M/s", "99999999999999"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert!(rate("20M/s").is_err_and(|e| e.contains("such as 20, or")));
    }

    #[test]
    fn times() {
        for (text, seconds) in
            [("90s", 90.0), ("1.5m", 90.0), ("30 min", 1800.0), ("2h", 7200.0), ("1d", 86_400.0)]
        {
            assert_eq!(time(text).map(|time| time.as_secs_f64()), Ok(seconds), "{text}");
        }
        for wrong in ["", "30", "m", "-1m", "0s", "NaNs", "infh", "1e9d", "5 weeks", "3M"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_usual_is_not_asked_for_again() {
        let of = |pim| options(&PasswordSource { pim, ..PasswordSource::new() }, "new-");
        assert_eq!([None, Some(0), Some(7)].map(of), ["", "", " --new-pim 7"]);
        let none = PasswordSource::new().with_keyfiles(&["".into()]);
        assert_eq!(options(&none, ""), "");
        let none = PasswordSource { role: SecretRole::New, ..none };
        assert_eq!(options(&none, "new-"), " --new-keyfile ''");
    }

    #[test]
    fn what_was_given_is_typed_again_without_a_secret() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut volume = LockedVolume::new("v.hc", &());
        assert_eq!(given(&volume), "");
        volume.arguments.hash = Some(keyway_volume::HashName::Sha512);
        volume.arguments.partition = Some(2);
        volume.sources.password.pim = Some(7);
        volume.sources.password.keyfiles = vec!["a key".into()];
        volume.sources.password.password = Some(SecretFrom::File(file.path().into()));
        let said = format!(
            " --hash sha512 --partition 2 --password-file {} --pim 7 --keyfile 'a key'",
            file.path().display()
        );
        assert_eq!(given(&volume), said);
        // What is read once, and what would be a secret.
        volume.sources.password = PasswordSource::new();
        volume.sources.password.password = Some(SecretFrom::Descriptor(7));
        volume.arguments = crate::unlock::UnlockArguments::new();
        volume.sources.recovery_password = Some("123456-".repeat(8).into());
        assert_eq!(given(&volume), " --recovery-password");
        volume.sources = crate::secrets::Sources::new();
        volume.protect = Some(PasswordSource { pim: Some(3), ..PasswordSource::new() });
        assert_eq!(given(&volume), " --protect-hidden --protect-pim 3");
    }

    #[test]
    fn what_was_typed_is_typed_again_without_a_secret() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().display().to_string();
        let words = |all: &[&str]| Some(all.iter().map(OsString::from).collect::<Vec<_>>());
        let typed = |id: &str| match id {
            "format" => words(&["bitlocker"]),
            "header" => words(&["auto"]),
            "system" => words(&["false"]),
            "protect_hidden" => words(&["true"]),
            "password-file" => words(&[&path]),
            "protect-password-file" => words(&["-"]),
            "keyfile" => words(&["a", "b c"]),
            "recovery_password" => words(&["123456-123456"]),
            "tpm" => words(&[]),
            _ => None,
        };
        let said = format!(
            " --format bitlocker --password-file {path} --keyfile a --keyfile 'b c' --recovery-password --tpm \
             --protect-hidden"
        );
        assert_eq!(typed_again(&typed), said);
        let encrypting = |id: &str| if id == "reencrypt" { words(&["true"]) } else { typed(id) };
        assert_eq!(typed_again(&encrypting), said.replacen(" --format bitlocker", "", 1));
        assert_eq!(typed_again(&|_| None), "");
    }

    #[test]
    fn only_a_slip_is_near() {
        for (typed, known) in [
            ("opne", "open"),
            ("Opeen", "open"),
            ("eraze", "erase"),
            ("prot", "protector"),
            ("--read-olny", "--read-only"),
            ("--readonly", "--read-only"),
            ("sl", "ls"),
        ] {
            assert!(is_near(typed, known), "{typed}");
        }
        for (typed, known) in [
            ("restore", "erase"),
            ("rename", "erase"),
            ("release", "erase"),
            ("remove", "resume"),
            ("suspend", "open"),
            ("--force", "--format"),
            ("--force", "--foreground"),
            ("rm", "ls"),
            ("set", "get"),
        ] {
            assert!(!is_near(typed, known), "{typed}");
        }
    }

    #[test]
    fn addresses() {
        assert_eq!(address(OsStr::new("unix:/tmp/s")), Ok(NbdAddress::Unix("/tmp/s".into())));
        assert_eq!(path_in(OsStr::new("unix:/tmp/s")), Path::new("/tmp/s"));
        assert_eq!(path_in(OsStr::new("/tmp/s")), Path::new("/tmp/s"));
        let tcp = |text: &str| address(OsStr::new(text)).map(|a| format!("{a:?}"));
        assert_eq!(tcp("tcp:127.0.0.1:10809"), Ok("Tcp(127.0.0.1:10809)".to_owned()));
        assert_eq!(tcp("tcp:localhost:1"), Ok("Tcp(127.0.0.1:1)".to_owned()));
        assert_eq!(tcp("tcp:[::1]:1"), Ok("Tcp([::1]:1)".to_owned()));
        for (text, path) in [("unix:/s", "/s"), ("/s", "/s"), ("unix:", "unix:"), ("./unix:/s", "./unix:/s")]
        {
            assert_eq!(socket(OsStr::new(text)), Path::new(path));
        }
        for text in ["", "unix:", "tcp:", "tcp:127.0.0.1", "/tmp/s"] {
            assert!(address(OsStr::new(text)).is_err(), "{text}");
        }
    }
}
