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
        // A drive and a TPM count what is wrong.
        let opens = matches!(question.wanted, Wanted::Password | Wanted::RecoveryPassword)
            && matches!(question.subject, Subject::Volume(_) | Subject::Outer(_) | Subject::Backup(_));
        let [own, all] = &ASKED;
        own.fetch_add(opens.into(), Ordering::Relaxed);
        all.fetch_add(1, Ordering::Relaxed);
        typed(question).map(Some).map_err(Error::answer)
    }

    fn can_answer(&self) -> bool {
        prompt::is_possible()
    }
}

/// What can be taken, of three that are typed; a new one is typed again.
fn typed(asked: &Question<'_>) -> Result<SecretBytes, Failure> {
    let mut wrong = String::new();
    for more in (0..TRIES).rev() {
        let first = prompt::password(&format!("{}: ", asked.words()))?;
        asked.weakness(&first).iter().for_each(|weakness| warn(&weakness.to_string()));
        wrong = match (asked.refuses(&first), asked.new_one()) {
            (Some(why), _) => why,
            (None, Some(new)) if !first.same_as(&prompt::password("The same again: ")?) => {
                format!("the two {new}s differ")
            }
            _ => return Ok(first),
        };
        (more > 0).then(|| format!("{wrong}; once more")).iter().for_each(|again| note(again));
    }
    Err(Failure::usage(wrong, "try again and type it slowly"))
}
