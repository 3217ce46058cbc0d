//! The words of the command line; each verb's own are in its file under `verbs/`.

use crate::failure::Failure;
use crate::output::Output;
use crate::verbs::{
    bench, cat, close, create, decrypt, demo, doctor, drive, encrypt, erase, get, header, info, lab, ls,
    open, pause, protector, put, resize, resume, serve, serve_volume, status, ublk_owner,
};
use clap::{Parser, Subcommand};

/// Opens, makes, converts and serves encrypted volumes, and measures what they cost.
#[derive(Parser, Debug)]
#[command(
    name = "keyway",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 wrong secret, 4 not a volume or a \
                  damaged one,\n5 not permitted or something is missing here, 6 busy.\n\
                  `keyway VERB --help` shows examples; `keyway demo` is the tour."
)]
pub(crate) struct Cli {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// Do what destroys data without asking
    #[arg(long, global = true, display_order = 901)]
    pub(crate) yes: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    Demo(demo::Args),
    Create(create::Args),
    Open(open::Args),
    Close(close::Args),
    Status(status::Args),
    Info(info::Args),
    Cat(cat::Args),
    Ls(ls::Args),
    Get(get::Args),
    Put(put::Args),
    Protector(protector::Args),
    Header(header::Args),
    Erase(erase::Args),
    Drive(drive::Args),
    Encrypt(encrypt::Args),
    Resize(resize::Args),
    Decrypt(decrypt::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Serve(serve::Args),
    Bench(bench::Args),
    Lab(lab::Args),
    Doctor(doctor::Args),
    #[command(hide = true)]
    ServeVolume(serve_volume::Args),
    #[command(hide = true)]
    UblkOwner(ublk_owner::Args),
}

impl Verb {
    /// Does it.
    pub(crate) fn run(&self, out: Output) -> Result<(), Failure> {
        match self {
            Self::Demo(args) => demo::run(args, out),
            Self::Create(args) => create::run(args, out),
            Self::Open(args) => open::run(args, out),
            Self::Close(args) => close::run(args, out),
            Self::Status(args) => status::run(args, out),
            Self::Info(args) => info::run(args, out),
            Self::Cat(args) => cat::run(args, out),
            Self::Ls(args) => ls::run(args, out),
            Self::Get(args) => get::run(args, out),
            Self::Put(args) => put::run(args, out),
            Self::Protector(args) => protector::run(args, out),
            Self::Header(args) => header::run(args, out),
            Self::Erase(args) => erase::run(args, out),
            Self::Drive(args) => drive::run(args, out),
            Self::Encrypt(args) => encrypt::run(args, out),
            Self::Resize(args) => resize::run(args, out),
            Self::Decrypt(args) => decrypt::run(args, out),
            Self::Pause(args) => pause::run(args, out),
            Self::Resume(args) => resume::run(args, out),
            Self::Serve(args) => serve::run(args, out),
            Self::Bench(args) => bench::run(args, out),
            Self::Lab(args) => lab::run(args, out),
            Self::Doctor(args) => doctor::run(args, out),
            Self::ServeVolume(args) => serve_volume::run(args, out),
            Self::UblkOwner(args) => ublk_owner::run(args, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_words_fit_together() {
        Cli::command().debug_assert();
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
            let parsed = Cli::try_parse_from(&words);
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
        fn look(command: &clap::Command) -> usize {
            // Not as it is shown, which breaks lines where the terminal ends.
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let inner: usize = command.get_subcommands().map(look).sum();
            inner + lines_parse(command.get_name(), &help)
        }
        let found = look(&Cli::command());
        assert!(found > 60, "{found}");
    }

    #[test]
    fn every_verb_shows_two_examples() {
        for verb in Cli::command().get_subcommands().filter(|v| !v.is_hide_set()) {
            let help = verb.clone().render_long_help().to_string();
            let examples = help.lines().filter(|l| l.trim_start().starts_with("$ ")).count();
            assert!(examples >= 2, "{} has {examples} examples:\n{help}", verb.get_name());
        }
    }
}
