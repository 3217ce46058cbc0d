//! Addresses that a volume is served at are read as they are written.

use super::*;

#[test]
fn addresses() {
    assert_eq!(address("unix:/tmp/s"), Ok(NbdAddress::Unix("/tmp/s".into())));
    let tcp = |text| address(text).map(|a| format!("{a:?}"));
    assert_eq!(tcp("tcp:127.0.0.1:10809"), Ok("Tcp(127.0.0.1:10809)".to_owned()));
    assert_eq!(tcp("tcp:localhost:1"), Ok("Tcp(127.0.0.1:1)".to_owned()));
    assert_eq!(tcp("tcp:[::1]:1"), Ok("Tcp([::1]:1)".to_owned()));
    for text in ["", "unix:", "tcp:", "tcp:127.0.0.1", "/tmp/s"] {
        assert!(address(text).is_err(), "{text}");
    }
}
