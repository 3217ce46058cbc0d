//! `lab models`, `lab record` and `lab replay`: what they print, and what they refuse.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, has_fuse, two_lines};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::Stdio;

#[test]
fn models_stand_beside_what_was_published_of_them() {
    let cli = Cli::new();
    let said = cli.json(0, "lab models samsung-990-pro");
    let model = &said["models"][0];
    assert_eq!(model["name"], "samsung-990-pro");
    let figures = model["figures"].as_array().expect("figures");
    assert!(figures.iter().any(|f| f["load"] == "trace pcmark-like" && f["published"] == 607.0));
    for figure in figures.iter().filter(|f| f["binding"] == true) {
        let off = figure["deviation_percent"].as_f64().expect("a number");
        assert!(off.abs() <= 5.0, "{figure}");
        assert!(figure["source"].as_str().is_some_and(|s| !s.is_empty()));
    }
    let words = String::from_utf8_lossy(&cli.ends(0, "lab models model:crucial-m500").stdout).into_owned();
    assert!(words.contains("63335") && words.contains("AnandTech"), "{words}");
    cli.refused(
        "usage",
        "`keyway lab models` names them; or give a model's file",
        "lab models fastest-drive-ever",
    );
    std::fs::write(cli.path("own.toml"), "name = \"x\"").expect("ours");
    cli.refused("usage", "the drive model can't be read: TOML parse error at line 1", "lab models @own.toml");
}

#[test]
fn a_trace_is_replayed_in_simulated_time_and_comes_out_the_same() {
    let cli = Cli::new();
    let words = "lab replay boot --drive model:samsung-840-pro --simulated";
    let (first, second) = (cli.json(0, words), cli.json(0, words));
    assert_eq!(first, second);
    assert!(first["mb_s"].as_f64() > Some(50.0) && first["requests"].as_u64() > Some(1000));
    let slower = cli.json(0, "lab replay boot --drive model:toshiba-x300 --simulated");
    assert!(slower["mb_s"].as_f64() < first["mb_s"].as_f64());
    let aes = cli.json(0, "lab replay boot --drive model:samsung-990-pro --with aes");
    assert_eq!(aes["cipher"], "aes");
    assert!(aes["lateness"]["waits"].as_u64() > Some(100), "{aes}");
}

#[test]
fn a_bad_trace_is_one_clear_error() {
    let cli = Cli::new();
    let bad = |text: &str| {
        std::fs::write(cli.path("bad"), text).expect("ours");
        two_lines(&cli.ends(2, "lab replay @bad --drive model:samsung-840-pro --simulated")).0
    };
    let said = bad("fio version 2 iolog\n/a add\n/a read 0 4096\n/a read zero 4096\n");
    assert!(said.contains("line 4") && said.contains("zero"), "{said}");
    assert!(bad("something else\n").contains("no trace we know"));
    assert!(bad("KWTRACE1").contains("damaged"));
    std::fs::write(cli.path("far"), "fio version 2 iolog\n/a read 8388608 4096\n").expect("ours");
    std::fs::write(cli.path("disk"), vec![0; 1 << 20]).expect("ours");
    let said = two_lines(&cli.ends(2, "lab replay @far --on @disk"));
    assert!(said.0.contains("8392704") && said.1.contains("--fold"), "{said:?}");
    cli.json(0, "lab replay @far --on @disk --fold");
    cli.refused(
        "usage",
        "could not read nothing: No such file or directory (os error",
        "lab replay nothing --drive model:samsung-840-pro",
    );
    let shipped = ", or name one of the traces that come with it: boot";
    cli.fails(2, "usage", shipped, "lab replay nothing --drive model:samsung-840-pro");
    cli.refused(
        "usage",
        "write `plain`, `veracrypt:CIPHER`, `bitlocker:CIPHER` or",
        "lab replay boot --drive model:samsung-840-pro --with rot13",
    );
}

#[test]
fn bytes_are_overwritten_only_when_that_is_wanted() {
    let cli = Cli::new();
    std::fs::write(cli.path("writes"), "fio version 2 iolog\n/a write 4096 4096\n").expect("ours");
    std::fs::write(cli.path("disk"), vec![9; 1 << 20]).expect("ours");
    cli.refused("usage", "where the trace writes", "lab replay @writes --on @disk");
    assert!(std::fs::read(cli.path("disk")).expect("there").iter().all(|b| *b == 9));
    let done = cli.json(0, "lab replay @writes --on @disk --yes");
    assert_eq!(done["bytes_written"], 4096);
    let after = std::fs::read(cli.path("disk")).expect("there");
    assert!(after[..4096].iter().chain(&after[8192..]).all(|b| *b == 9));
    assert!(after[4096..8192].iter().any(|b| *b != 9));
}

#[test]
fn what_was_recorded_is_what_was_done() {
    let cli = Cli::new();
    cli.fails(
        1,
        "not-open",
        "`keyway status` lists what is",
        "lab record @nowhere --output @trace --seconds 1",
    );
    assert!(!cli.path("trace").exists(), "nothing is left of a recording that was not made");
    if !has_fuse() {
        return;
    }
    cli.volume("volume");
    let open = cli.json(0, "open @volume --attach fuse --password-file @pw --pim 1");
    let file = open["file"].as_str().expect("a file");
    assert!(!PASSWORD.is_empty());
    let quiet = cli.json(0, "lab record @volume --output @quiet --seconds 1");
    assert_eq!(
        (&quiet["requests"], &quiet["bytes_written"], &quiet["lost"]),
        (&0.into(), &0.into(), &0.into())
    );
    let words = cli.words("lab record @volume --output @trace");
    let mut recording = cli.command(words).stdout(Stdio::piped()).spawn().expect("keyway starts");
    let mut said = BufReader::new(recording.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let first = said.next().expect("it says when it has begun");
    assert!(first.starts_with("Recording"), "{first}");
    let plain = std::fs::OpenOptions::new().write(true).open(file).expect("ours");
    plain.write_all_at(&[1; 8192], 16_384).expect("room");
    plain.sync_data().expect("served");
    drop(plain);
    kill_process(Pid::from_child(&recording), Signal::INT).expect("it lives");
    assert!(recording.wait().expect("it ends").success());
    let last = said.last().expect("it says what it has");
    assert!(last.contains("8 KiB written"), "{last}");
    let mode = std::fs::metadata(cli.path("trace")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "a trace tells what was used");
    let trace = keyway_lab::trace::read(&cli.path("trace")).expect("a trace");
    assert_eq!(trace.lost, 0);
    let writes = trace.records.iter().filter(|r| r.action == keyway_store::Action::Write);
    assert_eq!(writes.clone().map(|r| r.offset).min(), Some(16_384));
    assert_eq!(writes.map(|r| r.len).sum::<u32>(), 8192);
    let replayed = cli.json(0, "lab replay @trace --drive model:crucial-m500 --simulated");
    assert_eq!(replayed["bytes_written"], 8192);
    cli.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        "lab record @volume --output @trace --seconds 1",
    );
    cli.ends(0, "close @volume");
}
