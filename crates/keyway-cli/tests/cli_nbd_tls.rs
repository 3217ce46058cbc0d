//! `serve --nbd --tls-certificates`: a volume for other machines, from the command line.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::require_tool;
use std::fs;
use std::process::Command;

#[test]
fn a_volume_is_served_with_tls_and_not_without() {
    let (Some(openssl), Some(nbdcopy)) = (require_tool("openssl"), require_tool("nbdcopy")) else { return };
    let cli = Cli::new();
    cli.volume("volume");
    let folder = cli.path("pki");
    fs::create_dir(&folder).unwrap();
    let run = |words: &str| {
        let done =
            Command::new(&openssl).current_dir(&folder).args(words.split_whitespace()).output().unwrap();
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    run(&format!("req -x509 {key} -keyout ca-key.pem -out ca-cert.pem -subj /CN=authority"));
    fs::write(folder.join("ext"), "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost\n").unwrap();
    for who in ["server", "client"] {
        run(&format!("req {key} -keyout {who}-key.pem -out {who}.csr -subj /CN=localhost"));
        let sign = "-CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile ext";
        run(&format!("x509 -req -in {who}.csr {sign} -out {who}-cert.pem"));
    }
    let open = "--password-file @pw --pim 1";
    // Other machines, without TLS; TLS without certificates: refused before the password is used.
    cli.refused(
        "usage",
        "use a loopback address, or --tls-certificates FOLDER",
        &format!("serve @volume --nbd tcp:0.0.0.0:0 --background {open}"),
    );
    let error = &cli.json(
        1,
        &format!("serve @volume --nbd tcp:127.0.0.1:0 --tls-certificates @nowhere --background {open}"),
    )["error"];
    assert!(error["message"].as_str().unwrap().contains("ca-cert.pem"), "{error}");
    let served = cli.json(
        0,
        &format!("serve @volume --nbd tcp:0.0.0.0:0 --tls-certificates @pki --background --read-only {open}"),
    );
    let socket = served["socket"].as_str().unwrap();
    let port = socket.rsplit(':').next().unwrap();
    assert_eq!(served["uri"], format!("nbds://{socket}"));
    let copy = |uri: String, to: &str| {
        let done =
            Command::new("timeout").arg("30").arg(&nbdcopy).arg(uri).arg(cli.path(to)).output().unwrap();
        done.status.success()
    };
    assert!(copy(format!("nbds://localhost:{port}?tls-certificates={}", folder.display()), "copy"));
    assert!(!copy(format!("nbd://localhost:{port}"), "clear"), "served in the clear");
    cli.ends(0, "close @volume");
    assert!(fs::read(cli.path("copy")).unwrap() == cli.plain("volume"), "the copy differs");
}
