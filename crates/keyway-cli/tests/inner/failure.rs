//! Exit codes are the contract, and advice is kept together.

use super::*;

#[test]
fn exit_codes_are_the_contract() {
    let all =
        [Exit::Failed, Exit::Usage, Exit::WrongSecret, Exit::NotAVolume, Exit::NotPermitted, Exit::Busy];
    assert_eq!(all.map(|e| e as u8), [1, 2, 3, 4, 5, 6]);
    for exit in all {
        assert_eq!(Exit::of(exit.fault()), exit);
    }
}

#[test]
fn advice_is_added_behind_advice() {
    let open = |hint: &str| Failure::new(Exit::Busy, "it is open", hint);
    assert_eq!(open("close it").also("come back").hint, "close it; come back");
    assert_eq!(open("").also("come back").hint, "come back");
}

#[test]
fn system_errors_find_their_code() {
    let of = |errno| Failure::io("open", Path::new("/x"), &io::Error::from_raw_os_error(errno)).exit;
    // Linux's EACCES, EBUSY, ENOSPC, EROFS.
    assert_eq!(of(13), Exit::NotPermitted);
    assert_eq!(of(16), Exit::Busy);
    assert_eq!(of(28), Exit::Failed);
    assert_eq!(of(30), Exit::NotPermitted);
}
