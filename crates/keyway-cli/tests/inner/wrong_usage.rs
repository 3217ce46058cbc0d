//! Wrong usage is told in one line; what is made of the command line's words.

#[path = "manual.rs"]
mod manual;

#[test]
fn wrong_usage_names_what_is_missing() {
    let text =
        "error: the following required arguments were not provided:\n  <VOLUME>\n  --size\n\nUsage: …\n";
    let told = super::first_paragraph(text);
    assert_eq!(told, "the following required arguments were not provided: <VOLUME> --size");
}
