//! The boot loader in a BitLocker volume's first sector. It prints a message and waits for a key; no other sector has it.

/// The first sector's template up to the boot loader's end; the OEM name (at 3) and the file system's fields are put
/// over it. The loader prints the messages below and waits for a key.
pub(super) const TEMPLATE: [u8; 137] = *b"\
    \xeb\x58\x90\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf8\0\0\x3f\0\xff\0\0\0\0\0\
    \0\0\0\0\xe0\x1f\0\0\0\0\0\0\0\0\0\0\x01\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \x80\0\x29\0\0\0\0NO NAME    FAT32   \x33\xc9\x8e\xd1\xbc\xf4\
    \x7b\x8e\xc1\x8e\xd9\xbd\0\x7c\xa0\xfb\x7d\xb4\x7d\x8b\xf0\xac\
    \x98\x40\x74\x0c\x48\x74\x0e\xb4\x0e\xbb\x07\0\xcd\x10\xeb\xef\
    \xa0\xfd\x7d\xeb\xe6\xcd\x16\xcd\x19";

/// What the loader prints.
pub(super) const MESSAGES_AT: usize = 0x100;
pub(super) const MESSAGES: &[u8] =
    b"\r\nRemove disks or other media.\xff\r\nDisk error\xff\r\nPress any key to restart\r\n";

/// Where its code begins, behind the fields.
const CODE_AT: usize = 90;

/// Bytes of the loader that may differ, and it still is this one.
const FEW: usize = 4;

/// Whether the sector has the loader that those of BitLocker volumes have, and no other sector.
pub(super) fn has_windows_loader(sector: &[u8]) -> bool {
    let code = TEMPLATE.iter().enumerate().skip(CODE_AT);
    let messages = (MESSAGES_AT..).zip(MESSAGES);
    code.chain(messages).filter(|(at, byte)| sector.get(*at) != Some(byte)).count() <= FEW
}
