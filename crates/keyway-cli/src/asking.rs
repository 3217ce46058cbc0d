//! The library's questions for secrets, asked on the terminal.

use crate::failure::Failure;
use crate::output::note;
use crate::prompt;
use keyway::drive::Authority;
use keyway::secrets::{Question, Secrets, Subject, Wanted};
use keyway::shown::name_of;
use keyway::{Error, SecretBytes};
use std::io::{self, IsTerminal};

/// Whoever sits at the terminal, if there is one.
pub(crate) struct Terminal;

impl Secrets for Terminal {
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        // A new PIN can be had nowhere else: where there is no terminal, that is what is told.
        if question.wanted != Wanted::NewPin && !io::stdin().is_terminal() {
            return Ok(None);
        }
        let what = words(question.subject);
        let answer = match question.wanted {
            Wanted::Password => prompt::password(&format!("Password of {what}: ")),
            Wanted::RecoveryPassword => prompt::password(&format!("Recovery password of {what}: ")),
            Wanted::Pin => prompt::password(&format!("PIN of {what}: ")),
            Wanted::Psid => prompt::password("PSID on the drive's label: "),
            Wanted::NewPassword => twice(&format!("New password of {what}: "), "passwords"),
            Wanted::NewPin => twice(&format!("New PIN of {what}: "), "PINs"),
            _ => return Ok(None),
        };
        answer.map(Some).map_err(Error::answer)
    }
}

fn twice(question: &str, what: &str) -> Result<SecretBytes, Failure> {
    for _ in 0..3 {
        let first = prompt::password(question)?;
        if first.same_as(&prompt::password("The same again: ")?) {
            return Ok(first);
        }
        note(&format!("the two {what} differ; once more"));
    }
    Err(Failure::usage(format!("the two {what} differ"), "try again and type them slowly"))
}

/// What a secret opens, in a question.
fn words(subject: &Subject) -> String {
    match subject {
        Subject::Volume(path) => name_of(path),
        Subject::Hidden(path) => format!("the hidden volume in {}", name_of(path)),
        Subject::Outer(path) => format!("the outer volume {}", name_of(path)),
        Subject::Backup(path) => format!("{} at the time of the backup", name_of(path)),
        Subject::Drive(path, Authority::Sid) => format!("the owner of {}", name_of(path)),
        Subject::Drive(path, who) => format!("{who} on {}", name_of(path)),
        Subject::Named(name) => name.clone(),
        _ => "the volume".to_owned(),
    }
}
