//! The virtual drive as a SCSI disk of a virtual machine (vhost-user-scsi): a Linux kernel reads and writes it, sedutil
//! manages it by ATA's commands and keyway by SCSI's, the kernel's own sed-opal unlocks it, and again by itself when the
//! disk or the machine wakes up; it is stopped, started, and reset in the midst of its work.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod drive_support;

use drive_support::Served;
use keyway_testkit::{require_tool, skip};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The drive as a guest's disk, whose memory the job has changed by the file `poke`.
fn served(script: &str) -> Served {
    let mut served = Served::as_scsi(script, "256M");
    served.note("flag.py", include_str!("guest_scsi_flag.py"));
    served.note("unit.py", include_str!("guest_scsi_unit.py"));
    served.note("serial", &served.said("serial"));
    let debugger = served.keyway.path("debugger");
    served.qemu.extend(["-gdb".into(), format!("unix:{},server=on,wait=off", debugger.display())]);
    served.on("poke", move |wanted| set_bits(&debugger, wanted));
    served
}

#[test]
fn a_kernel_manages_it_over_scsi_and_ata_and_unlocks_it_when_the_disk_wakes_up() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    served("guest_scsi.sh").judge();
}

#[test]
fn a_kernel_unlocks_it_when_the_machine_wakes_up() {
    if require_tool("qemu-system-x86_64").is_none() {
        return;
    }
    let served = served("guest_scsi_sleep.sh");
    let Some(ran) = served.run() else { return skip("no guest") };
    // The job's own end is lost with the share that it would be told on.
    served.held("said.tsv");
    let console = served.told(".guest/console");
    for judged in ["JUDGED slept 0", "JUDGED unlocked 0"] {
        assert!(console.lines().any(|line| line.ends_with(judged)), "{judged}?\n{console}\n{}", ran.output);
    }
}

/// Sets bits of a byte in the guest's memory, as its debugger: `ADDRESS MASK`, both in hexadecimal digits.
fn set_bits(debugger: &Path, wanted: &str) {
    let (address, mask) = wanted.split_once(' ').expect("an address and a mask");
    let mut guest = UnixStream::connect(debugger).expect("QEMU's debugger");
    guest.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    // The guest stands still while somebody is connected.
    let byte = ask(&mut guest, &format!("m{address},1"));
    let mask = u8::from_str_radix(mask, 16).expect("a mask");
    let byte = u8::from_str_radix(&byte, 16).unwrap_or_else(|_| panic!("{address}: {byte}")) | mask;
    assert_eq!(ask(&mut guest, &format!("M{address},1:{byte:02x}")), "OK");
    assert_eq!(ask(&mut guest, "D"), "OK");
}

/// A question in GDB's remote protocol, and its answer.
fn ask(guest: &mut UnixStream, question: &str) -> String {
    let sum = question.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
    write!(guest, "${question}#{sum:02x}").expect("sent");
    loop {
        let mut answer = Vec::new();
        let mut byte = [0];
        // Acknowledgements before the answer are of no interest; its check of two digits ends it.
        while !matches!(answer.as_slice(), [.., b'#', _, _]) {
            guest.read_exact(&mut byte).expect("an answer");
            if byte == *b"$" {
                answer.clear();
            }
            answer.extend(byte);
        }
        guest.write_all(b"+").expect("sent");
        // That it stands still is told without being asked.
        if answer.get(1) != Some(&b'T') {
            return String::from_utf8_lossy(&answer[1..answer.len() - 3]).into_owned();
        }
    }
}
