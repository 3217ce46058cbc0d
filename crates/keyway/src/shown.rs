//! Text that others wrote, made fit for a terminal: what would steer it is shown instead of done.
//!
//! A medium may hold anything: names of files, labels, descriptions, paths. [`shown`] is for such a text
//! where it enters a sentence. [`line`] and [`lines`] stand where everything goes out, in case a text came
//! by another way, out of an error of a crate below for one.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether a character does something to a terminal, or to the order in which others are shown, instead
/// of being shown: control characters of ASCII and of ISO 6429 (C1), Unicode's marks for the direction of
/// writing (UAX #9 and their forerunners), its ends of lines.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
}

fn escaped(text: &mut String, c: char) {
    text.extend(c.escape_default());
}

/// A text that somebody else wrote, in one line, so that what it was can be told from what is shown:
/// `\n`, `\t`, `\r`, `\u{1b}`, `\xff` for a byte that is no text, and `\\` for the backslash itself.
pub fn shown(text: impl AsRef<OsStr>) -> String {
    let mut out = String::new();
    for chunk in text.as_ref().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if steers(c) || c == '\\' { escaped(&mut out, c) } else { out.push(c) }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A volume's short name, for prompts; of a loop device the name of the file behind it as well.
pub fn name_of(path: &Path) -> String {
    let name = |path: &Path| shown(path.file_name().unwrap_or(path.as_os_str()));
    let behind = keyway_attach::loopdev::backing_file(path).filter(|_| path.starts_with("/dev"));
    behind.map_or_else(|| name(path), |file| format!("{} ({})", name(&file), name(path)))
}

/// A message in which a path that is no text is shown with its bytes.
pub fn with_bytes(message: String, path: &Path) -> String {
    match path.to_str() {
        Some(_) => message,
        None => message.replace(&*path.to_string_lossy(), &shown(path)),
    }
}

/// A path or another word as a shell takes it, in quotes where it must be.
pub fn for_shell(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    // No option, whatever its name begins with.
    let here = if bytes.starts_with(b"-") { "./" } else { "" };
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().all(plain) => format!("{here}{text}"),
        Ok(text) if !text.chars().any(steers) => format!("'{here}{}'", text.replace('\'', "'\\''")),
        _ => {
            let escaped = |byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                b' '..=b'~' => char::from(*byte).to_string(),
                other => format!("\\x{other:02x}"),
            };
            format!("$'{here}{}'", bytes.iter().map(escaped).collect::<String>())
        }
    }
}

/// A sentence of ours that stays in its line, whatever is in it.
pub fn line(text: &str) -> String {
    without(text, |_| false)
}

/// Text of ours of several lines; ends of lines and tabulators are kept.
pub fn lines(text: &str) -> String {
    without(text, |c| matches!(c, '\n' | '\t'))
}

fn without(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) && !keep(c) { escaped(&mut out, c) } else { out.push(c) }
    }
    out
}

/// A JSON document's text with what steers in it written as JSON's own escapes: no other parser reads it
/// otherwise. Ends of lines stand between its parts alone.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) && c != '\n' {
            // All of them lie in Unicode's first plane.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether text may be more than ASCII, as the locale says whose variables these are: the first of them that says anything.
fn is_unicode(variables: impl IntoIterator<Item = Option<OsString>>) -> bool {
    let said = variables.into_iter().flatten().find(|value| !value.is_empty()).unwrap_or_default();
    let said = said.to_string_lossy().to_lowercase();
    said.contains("utf-8") || said.contains("utf8")
}

/// A text of ours as the terminal's locale can show it.
pub fn for_locale(text: String) -> String {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"].map(std::env::var_os);
    if is_unicode(said) { text } else { in_ascii(&text) }
}

/// A text of ours in ASCII; names that others gave stay as they are.
fn in_ascii(text: &str) -> String {
    text.replace('…', "...").replace('█', "#").replace('░', "-").replace('→', "->").replace('×', "x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_steer_terminals() {
        assert_eq!(shown("a\u{1b}[2Jb\n\t\r"), "a\\u{1b}[2Jb\\n\\t\\r");
        assert_eq!(shown("gpj.\u{202e}exe"), "gpj.\\u{202e}exe");
        assert_eq!(shown("\u{9b}2J\u{7f}\u{2066}\u{200f}"), "\\u{9b}2J\\u{7f}\\u{2066}\\u{200f}");
        assert_eq!(shown("größe 漢字.txt"), "größe 漢字.txt");
    }

    #[test]
    fn what_was_there_can_be_told() {
        assert_eq!(shown(OsStr::from_bytes(b"a\xff\xc3")), "a\\xff\\xc3");
        assert_eq!(shown("a\\n"), "a\\\\n");
        assert_ne!(shown("\\u{1b}"), shown("\u{1b}"));
    }

    #[test]
    fn sentences_stay_in_their_lines() {
        assert_eq!(line("one\nkeyway: done"), "one\\nkeyway: done");
        assert_eq!(lines("one\n\ttwo\u{1b}[2J\r"), "one\n\ttwo\\u{1b}[2J\\r");
        assert_eq!(line("C:\\ and \\u{1b}"), "C:\\ and \\u{1b}");
    }

    #[test]
    fn a_shell_takes_it_for_what_it_was() {
        for name in [
            &b"plain-1.hc"[..],
            b"a b",
            b"it's",
            b"-x",
            b"",
            b"*$HOME\\;",
            b"a\xff'\\\x1b\n",
            "größe".as_bytes(),
            b"\xe2\x80\xae",
        ] {
            let quoted = for_shell(OsStr::from_bytes(name));
            assert!(!quoted.chars().any(steers), "{quoted:?}");
            let said =
                std::process::Command::new("bash").arg("-c").arg(format!("printf %s {quoted}")).output();
            let said = said.expect("bash starts").stdout;
            assert_eq!(said.strip_prefix(b"./").unwrap_or(&said), name, "{quoted}");
        }
        assert_eq!(
            (for_shell("secret.hc"), for_shell("-x y")),
            ("secret.hc".to_owned(), "'./-x y'".to_owned())
        );
    }

    #[test]
    fn where_the_locale_has_no_other_letters_text_is_ascii() {
        let of = |all: [&str; 3]| {
            is_unicode(all.map(|one| Some(one).filter(|one| *one != "-").map(OsString::from)))
        };
        assert!(of(["-", "", "de_DE.UTF-8"]) && of(["C.utf8", "C", "C"]));
        assert!(
            !of(["-", "-", "-"]) && !of(["C", "-", "de_DE.UTF-8"]) && !of(["-", "-", "de_DE.ISO-8859-1"])
        );
        assert_eq!(in_ascii("filling  ██░░  …"), "filling  ##--  ...");
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({"name": "a\u{1b}\u{9b}\u{7f}\u{202e}\n\u{2066}ü\\"});
        let text = json(&serde_json::to_string_pretty(&value).unwrap_or_default());
        assert!(text.chars().all(|c| c == '\n' || !steers(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }
}
