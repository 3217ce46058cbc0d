//! The packages that scripts/package builds: what they list is there, nothing that is installed is left out, and the licence
//! of every crate within comes along. Built and installed they are by scripts/try-package, which takes minutes.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_testkit::{copy_program, require_tool};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// The date that everything in a package has: some second of 2023.
const DATE: u64 = 1_700_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, all),
            path => all.push(path),
        }
    }
}

fn said(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

fn cargo(words: &[&str]) -> String {
    said(Command::new(env!("CARGO")).args(words).current_dir(root()))
}

/// Whether a path, part by part, is one that the pattern means: `**` is any number of folders.
fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            matches(rest, path) || path.split_first().is_some_and(|(_, below)| matches(pattern, below))
        }
        (Some((first, rest)), Some((name, below))) => {
            let same = match first.split_once('*') {
                Some((start, end)) => {
                    name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
                }
                None => first == name,
            };
            same && matches(rest, below)
        }
        _ => false,
    }
}

/// What a package lists, below the tree.
fn listed(manifest: &Value, package: &str) -> Vec<String> {
    let assets = manifest["metadata"][package]["assets"].as_array().expect("assets");
    let source = |asset: &Value| asset.get(0).unwrap_or(&asset["source"]).as_str().map(str::to_owned);
    let below = |source: String| source.split_once("target/package/tree/").map(|(_, below)| below.to_owned());
    assets.iter().map(|asset| source(asset).and_then(below).expect("below the tree")).collect()
}

#[test]
fn a_package_holds_all_that_is_installed_and_what_is_said_of_others_licences() {
    let (Some(_), Some(_)) = (require_tool("python3"), require_tool("strip")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    let mut lay_out = Command::new(root().join("scripts/package"));
    // What each of them does is not asked here.
    for name in ["keyway", "mount-keyway", "keyway-mountd"] {
        copy_program(env!("CARGO_BIN_EXE_keyway"), folder.path().join(name));
    }
    lay_out.arg("--lay-out").arg(&tree).arg(folder.path()).current_dir("/");
    said(lay_out.env("SOURCE_DATE_EPOCH", DATE.to_string()));

    let version = said(Command::new(tree.join("usr/bin/keyway")).arg("--version"));
    let mut all = Vec::new();
    files(&tree, &mut all);
    let below = |path: &PathBuf| path.strip_prefix(&tree).expect("below").to_str().expect("plain").to_owned();
    let names: BTreeSet<String> = all.iter().map(below).collect();
    for path in &all {
        let changed = path.metadata().and_then(|meta| meta.modified()).expect("a date");
        assert_eq!(changed, UNIX_EPOCH + Duration::from_secs(DATE), "{}", path.display());
    }
    for page in
        ["man1/keyway-open.1.gz", "man7/keyway.7.gz", "man8/mount.keyway.8.gz", "man8/keyway-generator.8.gz"]
    {
        assert!(names.contains(&format!("usr/share/man/{page}")), "{page}: {names:?}");
    }

    let manifests: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]))
            .expect("JSON");
    let manifests = manifests["packages"].as_array().expect("packages");
    let manifest = manifests.iter().find(|package| package["name"] == "keyway-cli").expect("the program's");
    assert_eq!(version.trim(), format!("keyway {}", manifest["version"].as_str().expect("a version")));
    // Debian has these in other files.
    let debian_has = ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"];
    let only_debian_has = ["copyright", "changelog.gz", "changelog.Debian.gz"];
    for (package, left_out) in [("deb", debian_has), ("generate-rpm", only_debian_has)] {
        let listed = listed(manifest, package);
        let is_meant = |name: &str, pattern: &str| {
            matches(&pattern.split('/').collect::<Vec<_>>(), &name.split('/').collect::<Vec<_>>())
        };
        for pattern in &listed {
            assert!(names.iter().any(|name| is_meant(name, pattern)), "{package}: nothing is {pattern}");
        }
        for name in &names {
            let times = listed.iter().filter(|pattern| is_meant(name, pattern)).count();
            let left = left_out.iter().any(|left| *name == format!("usr/share/doc/keyway/{left}"));
            assert_eq!(times, usize::from(!left), "{package}: {name}");
        }
    }

    let texts = tree.join("usr/share/doc/keyway/THIRD-PARTY-LICENCES.gz");
    let texts = said(Command::new("gzip").arg("-dc").arg(texts));
    let linked =
        ["tree", "--offline", "--prefix", "none", "--package", "keyway-cli", "--package", "keyway-mountd"];
    let linked = cargo(&[&linked[..], &["--edges", "normal,no-proc-macro"]].concat());
    let mut crates = 0;
    for line in linked.lines().filter(|line| !line.is_empty() && !line.starts_with("keyway")) {
        let (name, version) = line.split_once(" v").expect("a version");
        let version = version.split_whitespace().next().unwrap_or_default();
        assert!(texts.contains(&format!("\n{name} {version}: ")), "{name} {version} has no licence");
        crates += 1;
    }
    assert!(crates > 100, "{crates}");
    for sentence in [
        "Permission is hereby granted, free of charge",
        "TERMS AND CONDITIONS FOR USE",
        "the standard library of Rust",
    ] {
        assert!(texts.contains(sentence), "{sentence}");
    }
}
