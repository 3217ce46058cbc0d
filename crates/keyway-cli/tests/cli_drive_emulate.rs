//! `keyway drive emulate`: the kinds of drives that it makes, and words that it does not know.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;

#[test]
fn profiles_are_what_info_then_says() {
    let cli = Cli::new();
    for (profile, ssc, standard, encrypts) in [
        ("opal2", "opal2", "Opal 2.0", true),
        ("pyrite2", "pyrite2", "Pyrite 2.0", false),
        ("kioxia-xg8", "opal2", "Opal 2.0", true),
    ] {
        let made = cli.json(0, &format!("drive emulate @{profile} --size 32M --profile {profile}"));
        assert_eq!(made["ssc"], ssc);
        let info = cli.json(0, &format!("drive info @{profile}"));
        assert!(info["standards"].as_array().is_some_and(|s| s.iter().any(|s| s == standard)), "{info}");
        assert_eq!(info["encryption_method"].is_null(), !encrypts, "{info}");
    }
}

#[test]
fn an_enterprise_drive_is_read_and_not_changed() {
    let cli = Cli::new();
    cli.keyway.secret("pw", "user's password");
    cli.json(0, "drive emulate @drive --size 32M --profile enterprise");
    let info = cli.json(0, "drive info @drive");
    assert_eq!((&info["standards"][0], &info["bands"]["most"]), (&"Enterprise".into(), &15.into()));
    let bands = info["bands"]["bands"].as_array().expect("bands");
    assert_eq!(bands.len(), 16);
    assert_eq!((&bands[3]["authority"], &bands[3]["read_locked"]), (&"BandMaster3".into(), &false.into()));
    let words = String::from_utf8(cli.ends(0, "drive info @drive").stdout).expect("text");
    assert!(words.contains("everything else, never locks, BandMaster0's"), "{words}");
    assert!(words.contains("15, without a place on the drive"), "{words}");
    for verb in [
        "setup @drive --admin-password-file @pw",
        "unlock @drive",
        "range list @drive",
        "revert @drive --yes",
    ] {
        let refused = cli.json(5, &format!("drive {verb} --password-file @pw"));
        assert_eq!(refused["error"]["kind"], "unsupported", "{verb}");
    }
}

/// Whoever wants it is told where it is, as it was served.
#[test]
fn a_drive_that_is_served_says_where() {
    let cli = Cli::new();
    cli.ends(0, "drive emulate @drive --size 32M");
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|at| at.local_addr()).expect("free").port();
    let words = format!("drive emulate @drive --nvme-tcp 127.0.0.1:{port}");
    let mut serving = cli.command(cli.words(&words));
    let mut serving = serving.stdout(std::process::Stdio::null()).spawn().expect("it starts");
    let connects = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!((0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        connects()
    }));
    let connect = format!("nvme connect -t tcp -a 127.0.0.1 -s {port} -n nqn.2026-11.keyway:drive");
    cli.fails(6, "busy", &connect, "drive info @drive");
    serving.kill().expect("it runs");
    serving.wait().expect("it ended");
    cli.ends(0, "drive info @drive");
}

#[test]
fn unknown_profiles_and_faults_are_wrong_usage() {
    let cli = Cli::new();
    cli.refused(
        "usage",
        "--profile can't be \"seagate\": there are",
        "drive emulate @drive --size 32M --profile seagate",
    );
    cli.refused(
        "usage",
        "is no fault; there are stall, stall=MILLISECONDS",
        "drive emulate @drive --size 32M --nvme-tcp 127.0.0.1:0 --fault slow",
    );
    cli.refused("usage", "take 4096 instead", "drive emulate @drive --size 1000");
    cli.refused("usage", "write 127.0.0.1:PORT", "drive emulate @drive --size 32M --nvme-tcp here");
    // Faults are a served drive's.
    cli.refused("usage", "served with --nvme-tcp", "drive emulate @drive --size 32M --fault stall");
    cli.refused("usage", "keyway drive emulate FILE --size 1G", "drive emulate @drive");
    cli.refused("usage", "did you mean `keyway drive info`", "drive status @drive");
    cli.refused(
        "usage",
        "--nvme-tcp does not go with --vhost-user-scsi",
        "drive emulate @drive --size 32M --nvme-tcp 127.0.0.1:0 --vhost-user-scsi @socket",
    );
    cli.refused(
        "usage",
        "--vhost-user-scsi does not go with --nqn",
        "drive emulate @drive --size 32M --vhost-user-scsi @socket --nqn name",
    );
    cli.keyway.secret("secret", "DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:");
    cli.refused(
        "usage",
        "leave out --nvme-secret",
        "drive emulate @drive --size 32M --vhost-user-scsi @socket --nvme-secret @secret",
    );
    assert!(!cli.path("drive").exists());
}
