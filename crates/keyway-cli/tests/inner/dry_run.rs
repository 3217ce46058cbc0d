//! A plan as a table.

use super::*;
use serde_json::{Value, json};

#[derive(Serialize)]
struct Plan {
    volume: &'static str,
    size_bytes: u64,
    inside: Value,
    nothing: Option<u64>,
    again: bool,
}

#[test]
fn a_plan_is_a_table_in_its_own_order() {
    let inside = json!({"kind": "ext4", "bytes": 1024});
    let plan = Plan { volume: "v", size_bytes: 1 << 20, inside, nothing: None, again: false };
    let told = "Nothing was done. This would be:\n  volume       v\n  size         1 MiB\n  \
                inside       1 KiB\n  inside kind  ext4\n  again        no\nIt is lost.\n";
    assert_eq!(words(&plan, Some("It is lost.")), told);
}

#[test]
fn a_path_that_is_no_text_is_told_as_everywhere() {
    let path =
        std::path::PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"b\xff"));
    let plan = json!({"volume": keyway_attach::path_text::value(&path), "ranges": [1, 200]});
    let told = words(&plan, None);
    assert!(told.contains(&keyway::shown::shown(&path)) && told.contains("1, 200"), "{told}");
    assert!(!told.contains("98"), "{told}");
}
