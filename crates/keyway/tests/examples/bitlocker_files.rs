//! The example that reads files, with a BitLocker volume.

use crate::{LETTER, PASSWORD, example, printed, put_a_letter};
use keyway::bitlocker::{NewProtectors, Secret};
use keyway::create::{BitLockerOptions, FileSystem, NewPlace};
use keyway::{Access, Key, OpenOptions, SecretBytes};
use keyway_testkit::require_tool;

#[test]
fn the_files_of_a_bitlocker_volume_are_listed_and_copied() {
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let here = tempfile::tempdir().expect("a folder");
    let [image, password, copied] =
        ["stick.img", "password.txt", "copied"].map(|name| here.path().join(name));
    std::fs::write(&password, PASSWORD).expect("written");
    let mut options = BitLockerOptions::default();
    (options.quick, options.filesystem) = (true, Some(FileSystem::Fat));
    let protectors =
        NewProtectors { password: Some(SecretBytes::copy_of(PASSWORD)), ..NewProtectors::default() };
    let place = NewPlace::file(&image, 64 << 20, false).expect("a new file");
    options.create(&place, &protectors, &()).expect("made");
    let key = Key::BitLocker(vec![Secret::Password(SecretBytes::copy_of(PASSWORD))]);
    let opened = OpenOptions::new().access(Access::ReadWrite).open_with(&image, &key);
    put_a_letter(opened.expect("the same password"));

    let told = printed(example("read_files").args([&image, &password, &copied]));
    assert_eq!(told, format!("{:>12}  letter.txt\n1 files copied\n", LETTER.len()));
    assert_eq!(std::fs::read(copied.join("letter.txt")).expect("copied"), LETTER);
}
