//! What a system call costs in the sandbox: reads of 4 KiB from a page cache, in a process that has entered a role and in
//! one that has not, in turns. Prints the best of all turns of each, and their ratio.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example")]

use keyway_sys::sandbox::{Role, enter_role};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::Instant;

const TURNS: usize = 30;
const BATCHES: usize = 40;
const READS: u32 = 5000;

fn main() {
    if let Some(how) = std::env::args().nth(1) {
        let file = File::open(std::env::current_exe().expect("a path")).expect("it is there");
        if how == "confined" {
            enter_role(Role::Fuse, &[]).expect("it is offered");
        }
        println!("{}", (0..BATCHES).map(|_| batch(&file)).fold(f64::MAX, f64::min));
        return;
    }
    let (mut free, mut confined) = (f64::MAX, f64::MAX);
    for _ in 0..TURNS {
        free = free.min(turn("free"));
        confined = confined.min(turn("confined"));
    }
    println!("free {free:.1} ns, confined {confined:.1} ns a read: {:.3}", confined / free);
}

/// Nanoseconds a read takes in a process of its own.
fn turn(how: &str) -> f64 {
    let program = std::env::current_exe().expect("a path");
    let done = Command::new(program).arg(how).output().expect("it starts");
    String::from_utf8_lossy(&done.stdout).trim().parse().expect("a number")
}

fn batch(file: &File) -> f64 {
    let mut piece = [0; 4096];
    let began = Instant::now();
    for _ in 0..READS {
        file.read_exact_at(&mut piece, 0).expect("it is long enough");
    }
    began.elapsed().as_secs_f64() * 1e9 / f64::from(READS)
}
