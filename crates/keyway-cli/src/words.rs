//! The sentences of advice: what a person reads for each step that an error names.

use keyway_error::Advice;

/// The steps in one line, each sentence after a "; ".
pub(crate) fn sentences(steps: &[Advice]) -> String {
    let all: Vec<String> = steps.iter().map(sentence).collect();
    all.join("; ")
}

/// One step in words.
pub(crate) fn sentence(step: &Advice) -> String {
    use Advice as A;
    let words = match step {
        A::CheckPath => "check the path",
        A::BecomeRoot => "run it as a user who may do that, or as root with sudo",
        A::OpenReadOnly => "it can only be read here: use --read-only, or make it writable",
        A::CloseUsers => "close whatever uses it (`keyway status`, `lsof`) and try again",
        A::ChooseAnotherName => "choose another name, or move the old one away",
        A::FreeSpace => "free some space, or choose a smaller size",
        A::CheckCopiedFile => "the file ends too early: check that it was copied completely",
        A::FreeMemory => "close other programs, or add swap space",
        A::NameFileNotFolder => "it is a folder: name a file",
        A::NameFileOrDevice => "name a regular file or a block device",
        A::ReadSystemLog => "look at the system's log (`dmesg`) for the drive's own report",
        A::WaitForItsSize => "somebody changes its size just now: wait until they are done, and try it again",
        _ => "",
    };
    words.to_owned()
}
