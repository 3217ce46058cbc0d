//! The words fit together, and so do those in the help and in the documents.

use super::*;

#[test]
fn the_words_fit_together() {
    with_help_of(|_| true).debug_assert();
}

/// The words of a command in a text, up to what belongs to the shell or to the reader.
fn words(line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ").trim_start_matches("sudo ");
    if !line.starts_with("keyway ") || line.contains('…') {
        return None;
    }
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            '<' if !quoted => {
                // `3< file`: the digit is the shell's, too.
                words.last_mut()?.clear();
                break;
            }
            '|' | '>' | '#' | '&' if !quoted => break,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut()?.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    Some(words)
}

/// Every line of a text that is a command, as the parser takes it.
fn lines_parse(from: &str, text: &str) -> usize {
    // As the shell joins lines.
    let text = text.replace("\\\n", "");
    let lines = text.lines().filter_map(|line| Some((line, words(line)?)));
    let parsed = lines.map(|(line, words)| {
        let parsed = Cli::of(&words);
        assert!(parsed.is_ok(), "{from}: {line}\n{}", parsed.expect_err("not parsed"));
    });
    parsed.count()
}

#[test]
fn every_command_in_the_documents_is_one() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("text");
    let mut found = lines_parse("README.md", &readme);
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let text = std::fs::read_to_string(&path).expect("text");
                found += lines_parse(&path.display().to_string(), &text);
            }
        }
    }
    assert!(found > 40, "{found}");
}

#[test]
fn every_example_in_the_help_is_a_command() {
    fn look(command: &Command) -> usize {
        // Not as it is shown, which breaks lines where the terminal ends.
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let inner: usize = command.get_subcommands().map(look).sum();
        inner + lines_parse(command.get_name(), &help)
    }
    let found = look(&with_help_of(|_| true));
    assert!(found > 60, "{found}");
}

/// On a terminal of 80 columns a line that is longer is broken in two, and each half run for itself where it is pasted.
#[test]
fn every_example_can_be_pasted_as_it_stands() {
    let mut found = 0;
    walk(&mut |path, verb| {
        let examples = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let shown = verb.render_long_help().to_string();
        let mut goes_on = false;
        for line in examples.lines().filter(|_| path != "keyway") {
            assert!(
                !goes_on || line.starts_with("      "),
                "{path}: nothing follows the line before {line:?}"
            );
            goes_on = line.ends_with(" \\");
            if line.starts_with("  ") {
                found += 1;
                let stands = shown.lines().any(|there| there == line && there.chars().count() <= 80);
                assert!(stands, "{path}: too long for a line, end it with ` \\`: {line}");
            }
        }
        assert!(!goes_on, "{path}: nothing follows its last line");
    });
    assert!(found > 150, "{found}");
}

#[test]
fn every_verb_shows_two_examples() {
    for verb in with_help_of(|_| true).get_subcommands().filter(|v| !v.is_hide_set()) {
        let help = verb.clone().render_long_help().to_string();
        let examples = help.lines().filter(|l| l.trim_start().starts_with("$ ")).count();
        assert!(examples >= 2, "{} has {examples} examples:\n{help}", verb.get_name());
    }
}

#[test]
fn examples_are_of_verbs() {
    for block in EXAMPLES.split("\n\n\n").skip(1) {
        let path = block.trim_start_matches('[').split(']').next().expect("a name");
        let verb =
            path.split(' ').try_fold(with_help_of(|_| true), |at, name| at.find_subcommand(name).cloned());
        assert!(verb.is_some_and(|verb| verb.get_after_long_help().is_some()), "[{path}]");
    }
}

/// Every verb, and what it has of verbs, as it is on a terminal of 80 columns.
fn walk(look: &mut impl FnMut(&str, &mut Command)) {
    fn each(path: &str, verb: &mut Command, look: &mut impl FnMut(&str, &mut Command)) {
        look(path, verb);
        for inner in
            verb.get_subcommands_mut().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
        {
            each(&format!("{path} {}", inner.get_name()), inner, look);
        }
    }
    let mut whole = with_help_of(|_| true).term_width(80);
    whole.build();
    each("keyway", &mut whole, look);
}

#[test]
fn the_short_help_fits_one_screen() {
    // All verbs, and all of `drive`'s.
    const LONGER: [&str; 2] = ["keyway", "keyway drive"];
    let mut found = Vec::new();
    walk(&mut |path, verb| {
        let help = verb.render_help().to_string();
        let rows = if LONGER.contains(&path) { 40 } else { 24 };
        if help.trim_end().lines().count() > rows || help.lines().any(|line| line.chars().count() > 80) {
            found.push(format!("{path}: {} rows\n{help}", help.lines().count()));
        }
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_long_help_begins_with_the_arguments_and_ends_with_examples() {
    walk(&mut |path, verb| {
        let help = verb.render_long_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or(help.len());
        let options = at("\nOptions:\n");
        let positionals =
            verb.get_positionals().map(|arg| arg.get_value_names().unwrap_or_default().join("> <"));
        for name in positionals {
            let stands =
                help.lines().find(|line| line.trim_start().trim_start_matches(['<', '[']).starts_with(&name));
            assert!(stands.is_some_and(|line| at(line) < options), "{path}: {name}\n{help}");
        }
        if path != "keyway" {
            let (_, examples) = help.split_once("\nExamples:\n").expect(path);
            assert!(examples.contains("$ ") && examples.contains("keyway "), "{path}");
        }
    });
}

#[test]
fn what_is_usual_is_an_option_of_its_verb() {
    for line in USUAL.lines().filter(|line| !line.starts_with('#')) {
        let (path, names) = line.split_once(" = ").expect("a verb and its options");
        let verb =
            path.split(' ').try_fold(with_help_of(|_| true), |at, name| at.find_subcommand(name).cloned());
        let verb = verb.expect(path);
        for name in names.split(' ').filter(|_| !verb.has_subcommands()) {
            assert!(verb.get_arguments().any(|arg| arg.get_long() == Some(name)), "{path} has no --{name}");
        }
    }
}
