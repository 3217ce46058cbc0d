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

/// The floors of the house as ARCHITECTURE.md draws them, the highest first, each with its crates.
fn floors(text: &str) -> Vec<Vec<String>> {
    let house =
        text.split("\n## The house\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let mut floors = vec![Vec::new()];
    for line in house.lines().filter_map(|line| line.strip_prefix("    ")) {
        if line.trim() == "|" {
            floors.push(Vec::new());
        } else if let (true, Some(name)) = (line.starts_with("keyway"), line.split_whitespace().next()) {
            floors.last_mut().expect("a floor").push(name.to_owned());
        }
    }
    floors
}

/// The crates of the workspace, as cargo has them.
fn packages() -> Vec<serde_json::Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let said = command.output().expect("cargo starts");
    let said: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    said["packages"].as_array().expect("a list").clone()
}

/// crates.io refuses what it does not know where a crate is published, and nobody finds one that names nothing.
#[test]
fn every_crate_that_is_published_can_be_found() {
    // Of https://crates.io/category_slugs, those that ours are of.
    const CATEGORIES: [&str; 11] = [
        "command-line-utilities",
        "cryptography",
        "development-tools::profiling",
        "development-tools::testing",
        "emulators",
        "filesystem",
        "hardware-support",
        "memory-management",
        "os::linux-apis",
        "rust-patterns",
        "simulation",
    ];
    let published = packages().into_iter().filter(|package| package["publish"].is_null());
    let mut found = 0;
    for package in published {
        let all = |of: &str| {
            let words = package[of].as_array().expect("a list").iter();
            words.map(|word| word.as_str().expect("text").to_owned()).collect::<Vec<_>>()
        };
        let (keywords, categories) = (all("keywords"), all("categories"));
        assert!(
            (1..=5).contains(&keywords.len()) && (1..=5).contains(&categories.len()),
            "{}",
            package["name"]
        );
        let is_keyword = |word: &String| {
            word.len() <= 20
                && word.starts_with(|c: char| c.is_ascii_alphanumeric())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        assert!(keywords.iter().all(is_keyword), "{}: {keywords:?}", package["name"]);
        assert!(
            categories.iter().all(|one| CATEGORIES.contains(&&**one)),
            "{}: {categories:?}",
            package["name"]
        );
        found += 1;
    }
    assert!(found > 15, "{found}");
}

/// What each crate of ours stands on, by any table of its manifest, for any target, with any feature; or what its tests need.
fn stands_on(tests: bool) -> HashMap<String, Vec<String>> {
    let packages = packages();
    let name = |of: &serde_json::Value| of["name"].as_str().expect("a name").to_owned();
    let all = |of: &serde_json::Value| of.as_array().expect("a list").clone();
    let ours: Vec<String> = packages.iter().map(name).collect();
    let needed = |package: &serde_json::Value| {
        let needed =
            all(&package["dependencies"]).into_iter().filter(|needed| (needed["kind"] == "dev") == tests);
        needed.map(|needed| name(&needed)).filter(|needed| ours.contains(needed)).collect()
    };
    packages.iter().map(|package| (name(package), needed(package))).collect()
}

/// The longest chain of crates from this one down.
fn chain(stands_on: &HashMap<String, Vec<String>>, name: &str) -> Vec<String> {
    let below = stands_on[name].iter().map(|below| chain(stands_on, below)).max_by_key(Vec::len);
    std::iter::once(name.to_owned()).chain(below.unwrap_or_default()).collect()
}

#[test]
fn every_arrow_of_the_house_points_down_a_floor() {
    let floors = floors(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("text"));
    let floor = |name: &str| floors.iter().position(|floor| floor.iter().any(|drawn| drawn == name));
    for (name, needed) in stands_on(false) {
        let own = floor(&name).unwrap_or_else(|| panic!("{name} is not in the drawing"));
        for below in needed {
            assert!(
                Some(own) < floor(&below),
                "{name} stands on {below}, which is not drawn on a lower floor"
            );
        }
    }
    for (name, needed) in stands_on(true) {
        for below in needed {
            assert!(
                floor(&name) <= floor(&below),
                "{name}'s tests need {below}, which is drawn on a higher floor"
            );
        }
    }
}

#[test]
fn the_house_has_seven_floors() {
    let stands_on = stands_on(false);
    let longest = stands_on.keys().map(|name| chain(&stands_on, name)).max_by_key(Vec::len);
    let longest = longest.expect("crates");
    assert!(longest.len() <= 7, "{}", longest.join(" -> "));
    let said = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("text");
    assert!(said.contains("A Cargo workspace of seven floors."));
}
