//! Tables that sfdisk made (util-linux 2.38), and what is no table.

use super::*;
use keyway_store::{MemStore, SplitMix64};

/// `label: dos`, two primary partitions and an extended one with two in it: where the tables lie, and their entries.
const MBR: [(usize, &str); 3] = [
    (0, "002021000c2524010008000000400000 002525010739340500480000000001000 039350505c53e070048010000a00000"),
    (83_968, "005a160583dc17050008000000200000 00fc380505a01a060030000000280000"),
    (96_256, "001e190607a01a060008000000200000"),
];

const PROTECTIVE: &str = "00000200eeffffff01000000ffff0100";
const HEADER: &str = "4546492050415254000001005c000000263f7dbe000000000100000000000000ffff010000000000000800000000\
                      0000deff0100000000000d4b1c6a1f7b8f4d9a110c3b0c7e1f1002000000000000008000000080000000409d5897";
const COPY: &str = "4546492050415254000001005c000000e3f3713000000000ffff010000000000010000000000000000080000000000\
                    00deff0100000000000d4b1c6a1f7b8f4d9a110c3b0c7e1f10dfff0100000000008000000080000000409d5897";
const RESERVED: &str = "16e3c9e35c0bb84d817df92df00215ae111111111111111111111111111111110008000000000000ff0f00000000\
                        000000000000000000004d006900630072006f0073006f006600740020007200650073006500720076006500640020\
                        0070006100720074006900740069006f006e00";
const DATA: &str = "a2a0d0ebe5b9334487c068b6b72699c7222222222222222222222222222222220010000000000000ff0f0100000000\
                    00000000000000000011044d043a0430043f04";

const DISK: usize = 64 << 20;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn disk(parts: &[(usize, &str)]) -> Vec<u8> {
    let mut bytes = vec![0; DISK];
    for (at, text) in parts {
        let part = hex(text);
        bytes[*at..*at + part.len()].copy_from_slice(&part);
    }
    bytes
}

fn mbr() -> Vec<u8> {
    let mut bytes = disk(&MBR.map(|(sector, text)| (sector * 512 + 446, text)));
    MBR.iter().for_each(|(sector, _)| mark(&mut bytes[sector * 512..]));
    bytes
}

fn mark(sector: &mut [u8]) {
    sector[510..512].copy_from_slice(&[0x55, 0xaa]);
}

fn gpt() -> Vec<u8> {
    let end = DISK - 33 * 512;
    let mut bytes = disk(&[
        (446, PROTECTIVE),
        (512, HEADER),
        (1024, RESERVED),
        (1152, DATA),
        (end, RESERVED),
        (end + 128, DATA),
        (DISK - 512, COPY),
    ]);
    mark(&mut bytes);
    bytes
}

fn read(bytes: Vec<u8>) -> Option<PartitionTable> {
    PartitionTable::read(&MemStore::from_vec(bytes)).expect("memory")
}

fn places(table: &PartitionTable) -> Vec<(u32, u64, u64)> {
    table.partitions.iter().map(|p| (p.number, p.start / 512, p.bytes / 512)).collect()
}

#[test]
fn an_mbr_has_primary_and_logical_partitions() {
    let table = read(mbr()).expect("a table");
    assert_eq!(table.kind, TableKind::Mbr);
    let sfdisk = [(1, 2048, 16_384), (2, 18_432, 65_536), (5, 86_016, 8192), (6, 98_304, 8192)];
    assert_eq!(places(&table), sfdisk);
    assert_eq!(table.partitions[1].purpose, "NTFS, exFAT or BitLocker");
}

#[test]
fn a_gpt_counts_by_its_sums_and_its_copy_serves() {
    let sfdisk = [(1, 2048, 2048), (2, 4096, 65_536)];
    let table = read(gpt()).expect("a table");
    assert_eq!((table.kind, table.damaged), (TableKind::Gpt, false));
    assert_eq!(places(&table), sfdisk);
    assert_eq!(table.partitions[1].name.as_deref(), Some("Бэкап"));
    assert_eq!(table.partitions[1].purpose, "Microsoft basic data");
    // The header, its sum, the entries, the place of the entries.
    for at in [512 + 56, 512 + 16, 1024 + 40, 512 + 72] {
        let mut first = gpt();
        first[at] ^= 1;
        assert_eq!(places(&read(first.clone()).expect("a table")), sfdisk, "byte {at}");
        first[DISK - 512 + 30] ^= 1;
        let table = read(first).expect("a table");
        assert!(table.damaged && table.partitions.is_empty(), "byte {at}");
    }
}

#[test]
fn what_was_cut_off_ends_with_its_disk() {
    let mut bytes = gpt();
    bytes.truncate(3 << 20);
    assert_eq!(places(&read(bytes).expect("a table")), [(1, 2048, 2048), (2, 4096, 2048)]);
    let mut bytes = mbr();
    bytes.truncate(9 << 20);
    assert_eq!(places(&read(bytes).expect("a table")), [(1, 2048, 16_384)]);
}

#[test]
fn what_is_no_table_is_none() {
    assert_eq!(read(vec![0; 1 << 20]), None);
    assert_eq!(read(Vec::new()), None);
    assert_eq!(read(vec![0x55; 300]), None);
    let mut bytes = mbr();
    bytes[446] = 0x12;
    assert_eq!(read(bytes), None, "boot code");
    let mut bytes = mbr();
    bytes[3..11].copy_from_slice(b"NTFS    ");
    assert_eq!(read(bytes), None, "a file system has the whole disk");
}

#[test]
fn a_chain_without_an_end_ends() {
    let mut bytes = mbr();
    // The second table names itself as the next one.
    let second = 83_968 * 512 + 446;
    bytes[second + 16 + 8..second + 16 + 12].copy_from_slice(&[0; 4]);
    let table = read(bytes).expect("a table");
    assert!(table.partitions.len() < 200, "{}", table.partitions.len());
}

/// A megabyte of a disk whose tables somebody has written into.
#[test]
fn no_bytes_make_it_panic() {
    let mut random = SplitMix64::new(24);
    let mut draw = |below: usize| random.below(below as u64) as usize;
    let small = |mut bytes: Vec<u8>| {
        bytes.truncate(1 << 20);
        bytes
    };
    let (mbr, gpt) = (small(mbr()), small(gpt()));
    for round in 0..400 {
        let mut bytes = if round % 2 == 0 { mbr.clone() } else { gpt.clone() };
        for _ in 0..1 + draw(6) {
            let at = if round % 2 == 0 { 446 + draw(64) } else { 512 + draw(92) };
            bytes[at] = [0, 0xff, 0x7f, 0x80, draw(256) as u8][draw(5)];
        }
        // A right sum, so that what is behind it is looked at.
        let crc = crc(&[&bytes[512..528], &[0; 4], &bytes[532..604]].concat());
        bytes[528..532].copy_from_slice(&crc.to_le_bytes());
        bytes.truncate(1 << 10 << draw(11));
        let _ = read(bytes);
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}
