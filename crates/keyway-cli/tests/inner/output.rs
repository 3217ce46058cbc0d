//! Tables line up, whatever is in them.

use super::*;

#[test]
fn tables_line_up() {
    let rows = [vec!["aes".to_owned(), "9".to_owned()], vec!["x".to_owned(), "10".to_owned()]];
    assert_eq!(table(&["name", "n"], 1, rows), "name   n\naes    9\nx     10\n");
}

#[test]
fn what_is_in_a_table_begins_no_line() {
    let text = table(&["name"], 1, [vec!["a\nb\u{1b}[2J".to_owned()]]);
    assert_eq!(text, "name\na\\nb\\u{1b}[2J\n");
    assert_eq!(pairs(&[("a", "1\n  b  2".to_owned())]), "a  1\\n  b  2\n");
}

#[test]
fn pairs_line_up() {
    let text = pairs(&[("a", "1".to_owned()), ("long", "2".to_owned())]);
    assert_eq!(text, "a     1\nlong  2\n");
}

#[test]
fn sentences_break_where_the_terminal_ends() {
    let text = "keys could not be locked in memory and may be swapped out: raise `ulimit -l`";
    assert_eq!(wrapped("keyway: ", text, usize::MAX), format!("keyway: {text}"));
    for width in [40, 60, 80] {
        let told = wrapped("keyway: ", text, width);
        assert!(told.lines().all(|line| line.chars().count() <= width), "{width}: {told}");
        assert_eq!(told.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), text);
        assert!(told.lines().skip(1).all(|line| line.starts_with("        ")), "{told}");
    }
    // What is wider than any line stands in one of its own.
    assert_eq!(wrapped("keyway: ", "a /a/path/of/many/letters b", 20).lines().count(), 3);
}

#[test]
fn a_result_breaks_where_the_terminal_ends_and_a_command_does_not() {
    let sentence = "Header backups made before still open with the old one: make a new one and destroy them.";
    let command = "Open it with: keyway open '/a/path/of/many letters/that/is/wider/than/the/terminal'";
    let row = "cipher          aes in XTS mode, which is what it is called elsewhere too";
    let told = broken(&format!("{sentence}\n{command}\n{row}\n"), 40);
    assert!(told.contains(command) && told.contains(row) && told.ends_with('\n'), "{told}");
    let lines: Vec<&str> = told.lines().take_while(|line| !line.starts_with("Open")).collect();
    assert!(
        lines.len() == 3 && lines.iter().all(|line| line.len() <= 40 && !line.starts_with(' ')),
        "{told}"
    );
    assert_eq!(lines.join(" "), sentence);
}

/// Whoever reads JSON is warned of the same: there is one function that warns, and what it was told is in every document.
#[test]
fn a_warning_stands_in_the_document() {
    warn("one thing\nof another");
    warn("two");
    let told: serde_json::Value =
        serde_json::from_str(&document_text(&json!({"a": 1, "warnings": ["two", "own"]})))
            .expect("a document");
    assert_eq!(
        (&told["a"], &told["warnings"]),
        (&json!(1), &json!(["two", "own", "one thing\\nof another"]))
    );
    let told: serde_json::Value =
        serde_json::from_str(&document_text(&json!({"error": {}}))).expect("a document");
    assert_eq!(told["warnings"].as_array().map(Vec::len), Some(2));
    // Nobody warns past it.
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let prints = text.matches("keyway: warning: ").count() + text.matches("eprint").count();
            let allowed = usize::from(path.ends_with("output.rs"));
            assert!(prints <= allowed, "{} warns by itself", path.display());
        }
    }
}
