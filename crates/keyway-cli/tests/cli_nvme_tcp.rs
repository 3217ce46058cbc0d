//! `serve --nvme-tcp`: whom a volume is served to. What they then see is judged in the guest (`guest_nvme.rs`).
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use std::net::TcpStream;
use std::process::Stdio;

const SECRET: &str = "DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";

#[test]
fn other_machines_are_served_if_they_must_prove_a_secret() {
    let cli = Cli::new();
    cli.volume("volume");
    cli.keyway.secret("secret", SECRET);
    cli.keyway.secret("mistyped", SECRET.replacen("ia6z", "ia7z", 1));
    cli.keyway.secret("empty", "");
    let serve = |code, at: &str, how: &str| {
        cli.json(
            code,
            &format!("serve @volume --nvme-tcp {at} --background --password-file @pw --pim 1 {how}"),
        )
    };
    // Refused before the password is used.
    for at in ["0.0.0.0:0", "[::]:0"] {
        let refused = serve(2, at, "");
        assert!(refused["error"]["hint"].as_str().is_some_and(|h| h.contains("--nvme-secret")), "{refused}");
    }
    for (file, word) in [("mistyped", "mistyped"), ("empty", "no NVMe secret")] {
        let refused = serve(2, "0.0.0.0:0", &format!("--nvme-secret @{file}"));
        assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains(word)), "{refused}");
    }
    cli.refused(
        "usage",
        "leave it out, or serve the volume the other way",
        "serve @volume --nbd tcp:127.0.0.1:0 --nvme-secret @secret --password-file @pw",
    );
    cli.refused(
        "usage",
        "leave it out, or serve the volume the other way",
        "serve @volume --nvme-tcp 127.0.0.1:0 --tls-certificates @pki --password-file @pw",
    );
    cli.refused(
        "usage",
        "give one of them with --password-fd N or in a file",
        "serve @volume --nvme-tcp 127.0.0.1:0 --nvme-secret - --password-file -",
    );

    let served = serve(0, "0.0.0.0:0", "--nvme-secret @secret");
    assert_eq!(served["attachment"], "nvme-tcp");
    let at = served["socket"].as_str().expect("an address").replace("0.0.0.0", "127.0.0.1");
    TcpStream::connect(at).expect("it listens");
    cli.ends(0, "close @volume");

    // From standard input, which the serving process does not have.
    let mut command =
        cli.keyway.command(["serve", "--nvme-tcp", "127.0.0.1:0", "--nvme-secret", "-", "--background"]);
    command.arg(cli.path("volume")).arg("--password-file").arg(cli.path("pw")).args(["--pim", "1"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("keyway starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), SECRET.as_bytes()).expect("it reads");
    assert!(child.wait().expect("it ends").success());
    cli.ends(0, "close @volume");
}
