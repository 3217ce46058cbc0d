//! Another program as a side of a comparison: its name, and the commands that attach and detach it.

use crate::error::LabError;
use crate::target::Target;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A side and a command for it, as `NAME=COMMAND`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCommand {
    /// The side's name.
    pub name: String,
    /// What the shell is given.
    pub command: String,
}

/// A program whose device, file or folder is measured beside ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherProgram {
    /// The side's name.
    pub name: String,
    /// The command that attaches it. It prints where it is.
    pub attach: String,
    /// The command that takes it down again, where it isn't enough to end the other one and unmount its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detach: Option<String>,
}

impl OtherProgram {
    /// Each that is attached, with the command that detaches it.
    ///
    /// # Errors
    /// A name comes twice, or something is to be detached that nothing attaches.
    pub fn all(attach: &[NamedCommand], detach: &[NamedCommand]) -> Result<Vec<Self>, LabError> {
        let mut all: Vec<Self> = Vec::new();
        for NamedCommand { name, command } in attach {
            if all.iter().any(|one| one.name == *name) {
                return Err(LabError::Unsuited(format!("two entrants are called {name:?}")));
            }
            all.push(Self { name: name.clone(), attach: command.clone(), detach: None });
        }
        for NamedCommand { name, command } in detach {
            let Some(one) = all.iter_mut().find(|one| one.name == *name) else {
                return Err(LabError::Unsuited(format!("there is no entrant {name:?} to detach")));
            };
            one.detach = Some(command.clone());
        }
        Ok(all)
    }
}

impl FromStr for NamedCommand {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let wrong = |why: &str| LabError::EntrantWords(text.to_owned(), why.to_owned());
        let (name, command) = text.split_once('=').ok_or_else(|| wrong("there is no `=` behind its name"))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+ ".contains(c);
        if name.trim() != name || name.is_empty() || !name.chars().all(plain) {
            return Err(wrong("its name is of letters, digits, spaces, `-`, `_`, `.` and `+`"));
        }
        if matches!(name.parse(), Ok(Target::Bare | Target::Plain | Target::Hardware(_))) {
            return Err(wrong("its name is that of a side of our own"));
        }
        if command.trim().is_empty() {
            return Err(wrong("no command follows its name"));
        }
        Ok(Self { name: name.to_owned(), command: command.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_command() {
        let named: NamedCommand = "dislocker 0.7=dislocker-fuse -V a=b -- $FOLDER".parse().expect("words");
        assert_eq!(
            (named.name.as_str(), named.command.as_str()),
            ("dislocker 0.7", "dislocker-fuse -V a=b -- $FOLDER")
        );
        for wrong in [
            "",
            "cryptsetup",
            "=true",
            "a=",
            "a= ",
            " a=true",
            "a/b=true",
            "plain=true",
            "bare=x",
            "hardware=x",
            "veracrypt:aes=x",
        ] {
            assert!(wrong.parse::<NamedCommand>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_is_detached_by_its_own_command() {
        let of = |words: &str| words.parse::<NamedCommand>().expect("words");
        let all = OtherProgram::all(&[of("a=one"), of("b=two")], &[of("b=three")]).expect("they fit");
        assert_eq!((all[0].detach.as_deref(), all[1].detach.as_deref()), (None, Some("three")));
        assert!(OtherProgram::all(&[of("a=one"), of("a=two")], &[]).is_err());
        assert!(OtherProgram::all(&[of("a=one")], &[of("b=two")]).is_err());
    }
}
