//! Names and values as systemd's units have them (systemd.unit(5), systemd.syntax(7)).

use std::fmt::Write;

/// The longest name of a unit, with what follows the dot.
pub(super) const LONGEST: usize = 255;

/// A text within a unit's name: a slash is a dash, and what a name can't have is written as its bytes.
pub(super) fn escaped(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'/' => name.push('-'),
            b'.' if at > 0 => name.push('.'),
            b':' | b'_' => name.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            _ => drop(write!(name, "\\x{byte:02x}")),
        }
    }
    name
}

/// The unit of that kind for a path, which [`is_plain`] has looked at.
pub(super) fn of_path(path: &str, kind: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let name = if parts.is_empty() { "-".to_owned() } else { escaped(&parts.join("/")) };
    format!("{name}.{kind}")
}

/// Whether a path is whole, has no step back, and nothing that a line can't have.
pub(super) fn is_plain(path: &str) -> bool {
    let steps = |part: &str| part == "." || part == "..";
    path.starts_with('/')
        && path.len() < 4096
        && !path.split('/').any(steps)
        && !path.chars().any(char::is_control)
}

/// A value of one word: in quotes, and no specifier in it.
pub(super) fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_the_manual_of_systemd_has_it() {
        // systemd-escape(1), systemd.unit(5), and what `systemd-escape` 252 says of the others.
        for (text, name) in [
            ("Hallöchen, Meister", r"Hall\xc3\xb6chen\x2c\x20Meister"),
            ("My Container 1", r"My\x20Container\x201"),
            ("containerb", "containerb"),
            ("container/III", "container-III"),
            (".hidden.x", r"\x2ehidden.x"),
            ("a-b_c:d", r"a\x2db_c:d"),
            ("50%\n\\", r"50\x25\x0a\x5c"),
        ] {
            assert_eq!(escaped(text), name);
        }
        for (path, kind, unit) in [
            ("/tmp//waldi/foobar/", "mount", "tmp-waldi-foobar.mount"),
            ("/foo//bar/baz/", "mount", "foo-bar-baz.mount"),
            ("/dev/sda", "device", "dev-sda.device"),
            ("/", "mount", "-.mount"),
            ("/.x/.y", "mount", r"\x2ex-.y.mount"),
            ("/dev/disk/by-partuuid/0f3c-01", "device", r"dev-disk-by\x2dpartuuid-0f3c\x2d01.device"),
        ] {
            assert_eq!(of_path(path, kind), unit);
        }
    }

    #[test]
    fn what_is_no_plain_path_is_known() {
        assert!(is_plain("/srv/a volume.hc") && is_plain("/a/..b"));
        for wrong in ["", "a", "/a/../b", "/a/.", "/a\nb", "/a\u{85}", &format!("/{}", "x".repeat(4095))] {
            assert!(!is_plain(wrong), "{wrong}");
        }
        assert_eq!(quoted(r#"/a "b" \50%"#), r#""/a \"b\" \\50%%""#);
    }
}
