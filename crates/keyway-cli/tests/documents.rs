//! The documents tell the truth: their links lead somewhere, the program knows the options that they write, and the tests
//! and files that they name are there.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Every document, with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let front = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
    let mut found: Vec<PathBuf> = front.iter().map(|name| root.join(name)).collect();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("text"))).collect()
}

/// A text's code: its blocks' lines, joined where one goes on, and what stands between backticks.
fn code(text: &str) -> Vec<String> {
    let (mut found, mut prose, mut fenced) = (Vec::new(), String::new(), false);
    for line in text.replace("\\\n", " ").lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") && !line.trim_start().starts_with('-') {
            let command = line.trim().trim_start_matches("$ ");
            found.push(command.split(" #").next().unwrap_or_default().to_owned());
        } else {
            prose.push_str(line);
            prose.push(if line.is_empty() { '\n' } else { ' ' });
        }
    }
    for paragraph in prose.lines() {
        found.extend(paragraph.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    found
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    for (path, text) in documents() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            let (file, part) = target.split_once('#').unwrap_or((target, ""));
            let there = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            assert!(there.exists(), "{}: ({target}) leads nowhere", path.display());
            if !part.is_empty() {
                let text = std::fs::read_to_string(&there).expect("text");
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let there = headings.map(|line| anchor(line.trim_start_matches('#'))).any(|a| a == part);
                assert!(there, "{}: ({target}) has no such heading", path.display());
            }
            links += 1;
        }
    }
    assert!(links > 60, "{links}");
}

/// What the program says of its verbs, each asked once.
#[derive(Default)]
struct Helps(HashMap<String, Option<String>>);

impl Helps {
    fn of(&mut self, verbs: &[&str]) -> Option<&str> {
        let asked = self.0.entry(verbs.join(" ")).or_insert_with(|| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_keyway"));
            let said = command.args(verbs).arg("--help").output().expect("keyway starts");
            said.status.success().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
        });
        asked.as_deref()
    }

    /// Whether the help of those verbs lists one below them by that name.
    fn has(&mut self, verbs: &[&str], name: &str) -> bool {
        let help = self.of(verbs).unwrap_or_default();
        let below = help.split("\nCommands:\n").nth(1).unwrap_or_default();
        let mut listed = below.lines().take_while(|line| line.starts_with("  "));
        listed.any(|line| line.split_whitespace().next() == Some(name))
    }
}

/// The options in a piece of code.
fn options(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(|c: char| c.is_whitespace() || "[]()|,;'\"".contains(c));
    let named = words.filter(|word| word.starts_with("--") && word.len() > 2 && !word.ends_with(['-', '…']));
    named.map(|word| word.split('=').next().unwrap_or(word))
}

#[test]
fn every_option_that_is_written_is_known() {
    let (mut helps, mut checked) = (Helps::default(), 0);
    for (path, text) in documents() {
        for line in code(&text) {
            let (said, ours) = match line.split_once("keyway ") {
                Some((before, rest))
                    if (before.is_empty() || before.ends_with(' ')) && !rest.starts_with(' ') =>
                {
                    (true, rest)
                }
                _ => (false, line.as_str()),
            };
            // Another program's words follow.
            let ours =
                ours.split([';', '&']).next().unwrap_or_default().split(" | ").next().unwrap_or_default();
            let mut verbs: Vec<Vec<&str>> = vec![Vec::new()];
            for word in ours.split_whitespace() {
                let below: Vec<Vec<&str>> = (verbs.iter())
                    .flat_map(|v| word.split('|').map(move |name| [v.as_slice(), &[name]].concat()))
                    .filter(|v| v.split_last().is_some_and(|(name, above)| helps.has(above, name)))
                    .collect();
                if below.is_empty() {
                    break;
                }
                verbs = below;
            }
            let first = ours.split_whitespace().next().unwrap_or_default();
            let named = verbs.first().is_some_and(|v| !v.is_empty());
            let verb = first.len() > 1 && first.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            let known = named || !said || !verb || first.starts_with('-') || helps.of(&[first]).is_some();
            assert!(known, "{}: {line}: no verb {first}", path.display());
            for option in options(ours).filter(|_| named) {
                let known = verbs.iter().any(|verbs| {
                    let help = helps.of(verbs).unwrap_or_default();
                    help.split(|c: char| c.is_whitespace() || "[],=`".contains(c)).any(|word| word == option)
                });
                assert!(known, "{}: {line}: {verbs:?} has no {option}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn every_test_that_is_named_is_there() {
    let (crates, mut checked) = (root().join("crates"), 0);
    for (path, text) in documents() {
        for line in code(&text).iter().filter(|line| line.contains("cargo ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = |name: &str| {
                words.windows(2).filter(|w| w[0] == name).map(|w| w[1].to_owned()).collect::<Vec<_>>()
            };
            for package in after("-p") {
                let folder = crates.join(&package);
                assert!(folder.exists(), "{}: {line}: no crate {package}", path.display());
                for (option, below) in
                    [("--test", "tests"), ("--example", "examples"), ("--bench", "benches")]
                {
                    for name in after(option) {
                        let (file, main) = (format!("{name}.rs"), format!("{name}/main.rs"));
                        let folder = folder.join(below);
                        let there = folder.join(file).exists() || folder.join(main).exists();
                        assert!(there, "{}: {line}: no {name}", path.display());
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 12, "{checked}");
}

#[test]
fn every_file_that_is_named_is_there() {
    let root = root();
    for (path, text) in documents() {
        for word in code(&text).iter().flat_map(|line| line.split_whitespace()) {
            let word = word.trim_start_matches("./").trim_matches(|c: char| "`.,:()".contains(c));
            let ours =
                ["crates/", "scripts/", "docs/", "fuzz/"].iter().any(|folder| word.starts_with(folder));
            if ours && !word.contains(['*', '…', '[', 'X']) {
                assert!(root.join(word).exists(), "{}: {word} is not there", path.display());
            }
        }
    }
}

/// The crates of the house, in the order in which ARCHITECTURE.md draws them, the highest first.
fn drawn(text: &str) -> Vec<String> {
    let house =
        text.split("\n## The house\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let drawing = house.lines().filter_map(|line| line.strip_prefix("    keyway"));
    let names = drawing
        .map(|rest| rest.split_whitespace().next().filter(|_| !rest.starts_with(' ')).unwrap_or_default());
    names.map(|name| format!("keyway{name}")).collect()
}

#[test]
fn every_arrow_of_the_house_points_down() {
    let crates = root().join("crates");
    let house = drawn(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("text"));
    for entry in std::fs::read_dir(&crates).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let floor = house.iter().position(|drawn| *drawn == name);
        let floor = floor.unwrap_or_else(|| panic!("{name} is not in the drawing"));
        let manifest = std::fs::read_to_string(crates.join(&name).join("Cargo.toml")).expect("a manifest");
        let stands_on = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        for line in stands_on.lines().take_while(|line| !line.starts_with('[')) {
            let below = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if let Some(found) = house.iter().position(|drawn| drawn == below) {
                assert!(floor < found, "{name} stands on {below}, which is drawn above it");
            }
        }
    }
}
