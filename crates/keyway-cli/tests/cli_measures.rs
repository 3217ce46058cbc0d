//! `bench`, `doctor`, `demo`: their JSON, and that the tour works for everybody.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::{copy_program, is_root, require_fuse, require_root, require_tool};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// What it prints for people.
fn text(cli: &Cli, words: &str) -> String {
    String::from_utf8(cli.ends(0, words).stdout).expect("UTF-8")
}

#[test]
fn bench_has_the_promised_shape() {
    let cli = Cli::new();
    let said = cli.json(0, "bench --cipher aes-twofish-serpent --cipher aes --buffer 64K --time 3 --no-kdf");
    let rows = said["ciphers"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["cipher"] == "aes-twofish-serpent"));
    for row in rows {
        assert_eq!(
            (&row["threads"], &row["buffer_bytes"], &row["sector_bytes"]),
            (&1.into(), &65_536.into(), &512.into())
        );
        assert!(row["kernel"].is_string());
        assert!(
            row["encrypt_mb_s"].as_f64() > Some(0.0) && row["decrypt_mb_s"].as_f64() > Some(0.0),
            "{row}"
        );
    }
    for cipher in ["aes", "aes-twofish-serpent"] {
        let chosen = rows.iter().filter(|row| row["cipher"] == cipher && row["chosen"] == true);
        assert_eq!(chosen.count(), 1, "{cipher}");
    }
    for spread in ["encrypt_spread_percent", "decrypt_spread_percent"] {
        assert!(rows.iter().all(|row| row[spread].as_f64() >= Some(0.0)), "{spread}");
    }
    assert!(said["memcpy_spread_percent"].as_f64() >= Some(0.0));
    let told = text(&cli, "bench --cipher aes --cipher serpent --buffer 64K --threads 1 --time 3 --no-kdf");
    let last = told.split_once("In MB/s ").expect("an answer").1.replace('\n', " ");
    assert!(told.contains("±") && last.contains("VeraCrypt: ") && last.contains(" on one core"), "{told}");
    assert!(said["memcpy_mb_s"].as_f64() > Some(0.0));
    assert_eq!(said["kdfs"], Value::Array(vec![]));
    let portable = cli.json(0, "bench --cipher serpent --kernel portable --threads 2 --time 3 --no-kdf");
    assert_eq!(
        (&portable["ciphers"][0]["kernel"], &portable["ciphers"][0]["threads"]),
        (&"portable".into(), &2.into())
    );
    cli.refused("usage", "it has: portable", "bench --kernel abacus");
}

#[test]
fn bench_measures_each_buffer_with_each_number_of_threads() {
    let cli = Cli::new();
    let said = cli.json(
        0,
        "bench --cipher aes --cipher aes-cbc-128-elephant --kernel all --buffer 4K,1M --threads 1,2 --time 3 --no-kdf",
    );
    let rows = said["ciphers"].as_array().expect("rows");
    for cipher in ["aes", "aes-cbc-128-elephant"] {
        for (buffer, threads) in [(4096, 1), (4096, 2), (1 << 20, 1), (1 << 20, 2)] {
            let chosen = |row: &&Value| {
                row["cipher"] == cipher
                    && row["buffer_bytes"] == buffer
                    && row["threads"] == threads
                    && row["chosen"] == true
            };
            assert_eq!(rows.iter().filter(chosen).count(), 1, "{cipher} {buffer} {threads}");
        }
    }
    let memory = said["memory"].as_array().expect("rows");
    assert!(memory.iter().any(|row| row["buffer_bytes"] == 4096 && row["threads"] == 2));
    assert!(memory.iter().all(|row| row["memcpy_mb_s"].as_f64() > Some(0.0)));
    assert!(said["machine"]["processor"].is_string() && said["machine"]["date"].is_string());
    for (says, wrong) in [
        ("a buffer is a multiple of 512 bytes", "--buffer 1000"),
        ("a buffer is a multiple of 512 bytes", "--buffer 511"),
        ("a buffer is a multiple of 512 bytes", "--buffer 2G"),
        ("\"x\" is not a size", "--buffer 1M,x"),
        ("write a number from 1 to 1024, or all", "--threads 0"),
        ("write a number from 1 to 1024, or all", "--threads 1025"),
        ("write a number from 1 to 1024, or all", "--threads 1,none"),
        ("`keyway bench` compares them", "--cipher rot13"),
    ] {
        cli.refused("usage", says, &format!("bench {wrong}"));
    }
}

#[test]
fn bench_times_every_key_derivation_and_writes_a_report() {
    let cli = Cli::new();
    let path = cli.path("report.html");
    let said = cli.json(0, &format!("bench --cipher serpent --time 3 --html {}", path.display()));
    let kdfs: Vec<&str> =
        said["kdfs"].as_array().expect("rows").iter().filter_map(|row| row["kdf"].as_str()).collect();
    for hash in ["sha512", "sha256", "blake2s", "whirlpool", "streebog", "ripemd160"] {
        assert!(kdfs.contains(&format!("pbkdf2-{hash}").as_str()), "{hash} in {kdfs:?}");
    }
    assert!(kdfs.contains(&"argon2id") && kdfs.contains(&"bitlocker"));
    assert!(said["kdfs"].as_array().expect("rows").iter().all(|row| row["ms"].as_f64() > Some(0.0)));
    let report = std::fs::read_to_string(&path).expect("the report");
    for row in said["ciphers"].as_array().expect("rows") {
        let speed = format!("{:.1}", row["encrypt_mb_s"].as_f64().expect("a number"));
        assert!(report.contains(&speed), "{row}");
    }
    assert!(kdfs.iter().all(|kdf| report.contains(kdf)) && report.contains("<svg"));
    cli.fails(
        1,
        "not-found",
        "check the path",
        "bench --cipher aes --time 1 --no-kdf --html /nowhere/at/all.html",
    );
}

#[test]
fn doctor_says_what_it_would_choose() {
    let said = Cli::new().json(0, "doctor");
    let ways = ["dm-crypt", "ublk", "fuse+loop", "mountd", "fuse", "nbd"];
    assert!(ways.contains(&said["attachment"].as_str().expect("a word")), "{said}");
    for way in ["dm_crypt", "fuse", "loop_device", "nbd", "vhost_user", "nvme_tcp", "ublk"] {
        let (usable, reason) = (&said[way]["usable"], &said[way]["reason"]);
        assert_eq!(usable == true, reason.is_null(), "{way}: what is missing is told: {said}");
    }
    assert_eq!(said["dm_crypt"]["usable"] == true, said["attachment"] == "dm-crypt");
    assert!(said["kernels"].as_array().is_some_and(|kernels| kernels.contains(&said["kernel"])));
    assert!(said["fuse"]["usable"].is_boolean() && said["because"].is_string());
    assert_eq!(said["root"], is_root());
}

/// Root of a container, whose devices open and whose mounts are refused.
#[test]
fn what_root_without_its_capabilities_can_not_do_is_told_and_not_tried() {
    if !require_root() {
        return;
    }
    let Some(setpriv) = require_tool("setpriv") else { return };
    let cli = Cli::new();
    cli.volume("v");
    let run = |words: &str| {
        let mut confined = Command::new(&setpriv);
        confined.args(["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]);
        confined.arg(env!("CARGO_BIN_EXE_keyway")).args(cli.words(words));
        confined.env("KEYWAY_RUNTIME_DIR", cli.keyway.runtime_folder().join("sessions"));
        let done = confined.output().expect("setpriv starts");
        let said: Value =
            serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{words}: {e}: {done:?}"));
        (done, said)
    };
    let (_, said) = run("doctor --json");
    assert_eq!((&said["root"], &said["confined"]), (&json!(true), &json!(true)), "{said}");
    for way in ["fuse", "dm_crypt", "ublk"] {
        let why = said[way]["reason"].as_str().unwrap_or_default();
        assert!(why.contains("CAP_SYS_ADMIN"), "{way}: {said}");
        assert_eq!(said[way]["usable"], false, "{said}");
    }
    assert_eq!((&said["attachment"], &said["attachment_with_folder"]), (&json!("nbd"), &json!("")), "{said}");
    // It opens as `doctor` says.
    let with = "--password-file @pw --pim 1 --hash sha512 --json";
    let (opened, said) = run(&format!("open @v {with}"));
    let warned = String::from_utf8_lossy(&opened.stderr).into_owned();
    assert!(opened.status.success() && said["attachment"] == "nbd", "{said} {warned}");
    assert!(warned.contains("CAP_SYS_ADMIN"), "{warned}");
    cli.ends(0, "close @v");
    std::fs::create_dir(cli.path("folder")).expect("a folder");
    let (_, said) = run(&format!("open @v @folder {with}"));
    assert_eq!(
        (&said["error"]["code"], &said["error"]["advice"][0]["kind"]),
        (&json!(5), &json!("give-capability"))
    );
    assert!(said["error"]["message"].as_str().is_some_and(|what| what.contains("CAP_SYS_ADMIN")), "{said}");
    assert_eq!(cli.json(0, "doctor")["confined"], false);
}

/// Root of a container that was given FUSE and nothing else: it is not told that it has to be root.
#[test]
fn root_without_loop_devices_is_told_of_them_and_not_of_root() {
    if !require_root() || !require_fuse() {
        return;
    }
    let Some(unshare) = require_tool("unshare") else { return };
    let cli = Cli::new();
    std::fs::create_dir(cli.path("dev")).expect("a folder");
    let script = "mount -t tmpfs none \"$1\" && cp -a /dev/null /dev/zero /dev/random /dev/urandom /dev/fuse \"$1\" && \
                  mount --bind \"$1\" /dev && exec \"$0\" doctor --json";
    let mut alone = keyway_testkit::own_mounts(&unshare, &[], &cli.path(""));
    alone.args(["sh", "-c", script, env!("CARGO_BIN_EXE_keyway")]).arg(cli.path("dev"));
    let done = alone.output().expect("unshare starts");
    let said: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"));
    assert_eq!((&said["fuse"]["usable"], &said["attachment"]), (&json!(true), &json!("fuse")), "{said}");
    assert_eq!(said["loop_device"]["advice"][0]["kind"], "load-loop", "{said}");
    let because = said["because"].as_str().expect("a sentence");
    assert!(because.contains("loop device") && !because.contains("root"), "{because}");
}

fn check_tour(said: &Value) {
    let steps: Vec<&str> =
        said["steps"].as_array().expect("steps").iter().filter_map(|s| s["name"].as_str()).collect();
    for step in ["create", "unlock", "nbd", "verify", "cascade", "hidden", "protect"] {
        assert!(steps.contains(&step), "{step} in {said}");
    }
    let skipped = said["skipped"].as_array().expect("a list");
    assert!(steps.contains(&"mount") || skipped.iter().any(|s| s["why"].is_string()), "{said}");
    let cells = said["laboratory"]["cells"].as_array().expect("a comparison");
    assert!(
        cells.iter().any(|c| c["target"] == "veracrypt:aes" && c["ratio"].as_f64() > Some(0.0)),
        "{said}"
    );
    assert!(said["unlock_ms"].as_f64() > Some(0.0) && said["memcpy_mb_s"].as_f64() > Some(0.0));
}

#[test]
fn the_tour_works_and_leaves_nothing() {
    let cli = Cli::new();
    let temporary = cli.path("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    // The folder that it is started in has a report already.
    std::fs::write(cli.path("report.html"), "a thesis").expect("written");
    let mut demo = cli.command(["demo", "--json"]);
    let done = demo.env("TMPDIR", &temporary).current_dir(cli.path("")).output().expect("keyway starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said: Value = serde_json::from_slice(&done.stdout).expect("one JSON document");
    check_tour(&said);
    assert_eq!(std::fs::read(cli.path("report.html")).expect("there"), b"a thesis");
    let report = cli.path("report-2.html");
    assert!(said["report"].as_str().is_some_and(|told| told.ends_with("/report-2.html")), "{said}");
    let page = std::fs::read_to_string(&report).expect("the report");
    assert!(page.contains("bitlocker:aes-xts-128") && page.contains("<svg") && page.ends_with("</html>"));
    assert_eq!(std::fs::read_dir(&temporary).expect("the folder").count(), 0);
    assert_eq!(cli.json(0, "status")["volumes"], Value::Array(vec![]));
}

/// Whoever has seen enough leaves no volume open, and no folder.
#[test]
fn a_tour_that_is_stopped_leaves_nothing() {
    for steps in [1, 3, 5] {
        let cli = Cli::new();
        let temporary = cli.path("tmp");
        std::fs::create_dir(&temporary).expect("a folder");
        let mut demo = cli.command(["demo"]);
        let demo = demo.env("TMPDIR", &temporary).current_dir(cli.path("")).stdin(Stdio::null());
        let mut demo = demo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("keyway starts");
        let told = BufReader::new(demo.stdout.take().expect("its output"));
        let begun =
            told.lines().map_while(Result::ok).position(|line| line.starts_with(&format!("{steps}. ")));
        assert!(begun.is_some(), "step {steps} is told as it begins");
        kill_process(Pid::from_child(&demo), Signal::INT).expect("Ctrl-C");
        let done = demo.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("stopped"), "{said}");
        assert_eq!(std::fs::read_dir(&temporary).expect("the folder").count(), 0, "step {steps}");
        assert_eq!(cli.json(0, "status")["volumes"], Value::Array(vec![]), "step {steps}");
        assert!(!cli.path("report.html").exists(), "there was nothing to report");
    }
}

#[test]
fn the_tour_needs_no_root() {
    if !is_root() {
        // The other test is that already.
        return;
    }
    let Some(setpriv) = require_tool("setpriv") else { return };
    let cli = Cli::new();
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
    };
    open(cli.keyway.folder(), 0o755);
    let (temporary, program) = (cli.path("tmp"), cli.path("keyway"));
    std::fs::create_dir(&temporary).expect("a folder");
    open(&temporary, 0o777);
    copy_program(env!("CARGO_BIN_EXE_keyway"), &program);
    let done = Command::new(setpriv)
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["demo", "--json", "--report"])
        .arg(temporary.join("report.html"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("TMPDIR", &temporary)
        .env("KEYWAY_RUNTIME_DIR", temporary.join("sessions"))
        .output()
        .expect("setpriv starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    check_tour(&serde_json::from_slice(&done.stdout).expect("one JSON document"));
}

#[test]
fn doctor_tells_what_is_encrypted_and_with_what() {
    let cli = Cli::new();
    let said = cli.json(0, "doctor");
    let list = |key: &str| said[key].as_array().unwrap_or_else(|| panic!("{key}: {said}")).clone();
    // What is read needs nothing of this machine; what is made and mounted does.
    assert_eq!(list("filesystems_read"), ["ext4", "vfat", "exfat", "ntfs"]);
    let (_, _) = (list("filesystems"), list("filesystems_mounted"));
    for device in list("encrypted") {
        assert!(
            device["device"].is_string() && device["with"].is_string() && device["words"].is_string(),
            "{device}"
        );
    }
    let told = text(&cli, "doctor");
    for label in ["file systems made", "mounted", "read by ls, get"] {
        assert!(told.lines().any(|line| line.starts_with(label)), "{label}: {told}");
    }
    // Of one drive: a file stands for it here.
    cli.keyway.secret("pw", "a password");
    cli.ends(0, "create @v.hc --size 4M --password-file @pw --pim 1 --quick");
    let of = |path: &str| cli.json(0, &format!("doctor {path}"))["encrypted"].clone();
    assert_eq!(of("@v.hc")[0]["with"], "noise");
    assert!(text(&cli, "doctor @v.hc").contains("perhaps VeraCrypt"));
    let mut luks = vec![0_u8; 4 << 20];
    luks[..8].copy_from_slice(b"LUKS\xba\xbe\x00\x02");
    std::fs::write(cli.path("luks"), luks).expect("written");
    assert_eq!(of("@luks")[0]["with"], "luks2");
    std::fs::write(cli.path("plain"), vec![0_u8; 4 << 20]).expect("written");
    assert_eq!(of("@plain")[0]["with"], "nothing");
    cli.ends(
        0,
        "create @b.img --size 96M --format bitlocker --password-file @pw --quick --recovery-file @recovery",
    );
    let bitlocker = of("@b.img");
    assert_eq!(bitlocker[0]["with"], "bitlocker");
    assert!(bitlocker[0]["words"].as_str().is_some_and(|words| words.contains("AES")), "{bitlocker}");
    cli.ends(0, "drive emulate @drive --size 64M");
    assert_eq!(of("@drive")[0]["with"], "drive");
    cli.fails(1, "not-found", "", "doctor @missing");
}

/// What is missing of this machine is told before anything is made or measured.
#[test]
fn the_tour_does_not_begin_without_a_folder_for_what_is_open() {
    let cli = Cli::new();
    let (temporary, planted) = (cli.path("tmp"), cli.path("rd"));
    std::fs::create_dir(&temporary).expect("a folder");
    std::fs::write(&planted, "a file").expect("room");
    let mut demo = cli.command(["demo"]);
    let demo = demo.env("TMPDIR", &temporary).env("KEYWAY_RUNTIME_DIR", &planted).current_dir(cli.path(""));
    let done = demo.output().expect("keyway starts");
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(!done.status.success() && told.is_empty(), "{told}");
    assert!(String::from_utf8_lossy(&done.stderr).contains(&planted.display().to_string()), "{done:?}");
    assert_eq!(std::fs::read_dir(&temporary).expect("there").count(), 0, "something was made");
}

/// Where only the drive can't be measured, for want of room on it, the rest is shown.
#[test]
fn the_tour_goes_where_there_is_little_room() {
    let Some(unshare) = require_root().then(|| require_tool("unshare")).flatten() else { return };
    let cli = Cli::new();
    std::fs::create_dir(cli.path("tmp")).expect("a folder");
    // Whoever names a place for the page does not get an answer without one.
    let script = "mount -t tmpfs -o size=160m none tmp; export TMPDIR=$PWD/tmp; $K demo --report page.html 2>&1 >/dev/null |
        grep 'no space left' >&2 && test ! -e page.html && $K demo --json && test ! -e report.html";
    let done = keyway_testkit::own_mounts(&unshare, &[], &cli.path(""))
        .args(["sh", "-c", script])
        .current_dir(cli.path(""))
        .env("K", env!("CARGO_BIN_EXE_keyway"))
        .output()
        .expect("unshare starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said: Value = serde_json::from_slice(&done.stdout).expect("one JSON document");
    let skipped = said["skipped"].as_array().expect("a list").iter();
    let why: Vec<_> = skipped.filter(|one| one["what"] == "measuring what encryption costs").collect();
    assert!(why.len() == 1 && why[0]["why"].as_str().is_some_and(|why| why.contains("TMPDIR=")), "{said}");
    assert_eq!((&said["laboratory"], &said["report"]), (&Value::Null, &Value::Null));
    assert!(said["steps"].as_array().is_some_and(|steps| steps.len() > 5), "{said}");
}

/// Up to how many MB/s each cipher gives stands in words, on the page as well.
#[test]
fn what_the_ciphers_give_is_told_in_words() {
    let cli = Cli::new();
    let words =
        "bench --no-kdf --time 1 --cipher aes --cipher serpent --buffer 64K --threads 1 --html @bench.html";
    let told = String::from_utf8(cli.ends(0, words).stdout).expect("text");
    let line = told.lines().find(|line| line.starts_with("In MB/s this machine gives ")).expect("a verdict");
    assert!(line.contains("aes up to ") && line.contains("serpent up to "), "{told}");
    let page = std::fs::read_to_string(cli.path("bench.html")).expect("the page");
    assert!(page.contains(line), "the page says less");
}
