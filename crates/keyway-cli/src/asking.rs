//! The library's questions for secrets, asked on the terminal.

use crate::failure::{Exit, Failure};
use crate::output::{be_brief, note, warn};
use crate::prompt;
use keyway::secrets::{Question, Secrets, Subject, Wanted};
use keyway::{Error, SecretBytes};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a secret that was typed wrong may be typed, as cryptsetup has it.
const TRIES: usize = 3;

/// What was asked in this try: for what opens a volume, and for anything.
static ASKED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Runs a verb, and once more where the only secret that was asked for is wrong: nothing has been done then.
pub(crate) fn in_tries(
    run: impl Fn() -> Result<(), Failure>,
    tell: impl Fn(&Failure),
) -> Result<(), Failure> {
    for _ in 1..TRIES {
        let done = run();
        let asked = ASKED.each_ref().map(|count| count.swap(0, Ordering::Relaxed));
        match &done {
            Err(failure) if failure.exit == Exit::WrongSecret && asked == [1, 1] => tell(failure),
            _ => return done,
        }
        be_brief();
    }
    run()
}

/// Whoever sits at the terminal, if there is one.
pub(crate) struct Terminal;

impl Secrets for Terminal {
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        // A new PIN can be had nowhere else: where there is no terminal, that is what is told.
        if question.wanted != Wanted::NewPin && !prompt::is_possible() {
            return Ok(None);
        }
        let what = question.subject;
        // A drive and a TPM count what is wrong.
        let opens = matches!(question.wanted, Wanted::Password | Wanted::RecoveryPassword)
            && matches!(question.subject, Subject::Volume(_) | Subject::Outer(_) | Subject::Backup(_));
        let [own, all] = &ASKED;
        own.fetch_add(opens.into(), Ordering::Relaxed);
        all.fetch_add(1, Ordering::Relaxed);
        let answer = match question.wanted {
            Wanted::Password => prompt::password(&format!("Password of {what}: ")),
            Wanted::RecoveryPassword => prompt::password(&format!("Recovery password of {what}: ")),
            Wanted::Pin => prompt::password(&format!("PIN of {what}: ")),
            Wanted::Psid => prompt::password("PSID on the drive's label: "),
            Wanted::NewPassword | Wanted::NewBitLockerPassword => twice("password", question),
            Wanted::NewPin => twice("PIN", question),
            _ => return Ok(None),
        };
        answer.map(Some).map_err(Error::answer)
    }

    fn can_answer(&self) -> bool {
        prompt::is_possible()
    }
}

fn twice(what: &str, asked: &Question<'_>) -> Result<SecretBytes, Failure> {
    let mut wrong = String::new();
    for _ in 0..3 {
        let first = prompt::password(&format!("New {what} of {}: ", asked.subject))?;
        asked.weakness(&first).iter().for_each(|weakness| warn(&weakness.to_string()));
        wrong = match asked.refuses(&first) {
            Some(why) => why,
            None if first.same_as(&prompt::password("The same again: ")?) => return Ok(first),
            None => format!("the two {what}s differ"),
        };
        note(&format!("{wrong}; once more"));
    }
    Err(Failure::usage(wrong, "try again and type them slowly"))
}
