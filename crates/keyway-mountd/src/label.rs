//! A label as the name of a folder: whatever somebody wrote into a file system.

/// The longest name, in bytes: a file's may have 255, and a number may follow.
const LONGEST: usize = 128;

/// The name, or `None` where nothing is left of it.
///
/// It names nothing but a folder in the one that it is put in, is seen by `ls`, stays on its line, and is read in the order in
/// which it stands there.
pub fn folder_name(label: &str) -> Option<String> {
    let mut name = String::new();
    for c in label.trim().chars() {
        let c = if is_plain(c) { c } else { '_' };
        if name.len() + c.len_utf8() > LONGEST {
            break;
        }
        name.push(c);
    }
    let name = name.trim_end();
    let name = match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name.to_owned(),
    };
    name.chars().any(char::is_alphanumeric).then_some(name)
}

/// Neither a separator nor a control character, nor one that turns the direction of writing or can't be seen.
fn is_plain(c: char) -> bool {
    let unseen = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !(c.is_control() || unseen || c == '/' || c == '\\' || c.is_whitespace() && c != ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_labels_name_a_folder_and_nothing_else() {
        let cases = [
            ("My Stick", Some("My Stick")),
            ("Größe 漢字", Some("Größe 漢字")),
            ("../../etc", Some("_._.._etc")),
            ("..", None),
            (".", None),
            ("/", None),
            ("", None),
            ("   ", None),
            (".hidden", Some("_hidden")),
            ("/etc/passwd", Some("_etc_passwd")),
            ("two\nlines\r\t\u{1b}[31mred\0", Some("two_lines___[31mred_")),
            ("\u{202e}fdp.exe", Some("_fdp.exe")),
            ("a\u{200b}b\u{2028}c", Some("a_b_c")),
            ("--help", Some("--help")),
            ("name   ", Some("name")),
        ];
        for (label, name) in cases {
            assert_eq!(folder_name(label).as_deref(), name, "{label:?}");
        }
    }

    #[test]
    fn long_ones_are_cut_between_characters() {
        for label in
            ["x".repeat(4096), "漢".repeat(4096), format!("{}é", "x".repeat(127)), "../".repeat(2000) + "x"]
        {
            let name = folder_name(&label).unwrap_or_default();
            assert!(name.len() <= LONGEST && !name.contains('/'), "{}", name.len());
        }
        assert_eq!(folder_name(&"x".repeat(4096)).map(|name| name.len()), Some(128));
    }
}
