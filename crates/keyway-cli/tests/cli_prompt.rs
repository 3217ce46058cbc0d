//! Passwords typed on a terminal: not shown, asked for twice when new.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, Typed};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_typed_password_is_not_shown() {
    let cli = Cli::new();
    let Some(mut typed) = Typed::new(&cli, "create @v --size 1M --quick --pim 1") else { return };
    typed.answer("New password of v: ", &format!("{PASSWORD}\r"));
    typed.answer("The same again: ", &format!("x\u{7f}{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("twenty"), "{shown}");

    let Some(mut typed) = Typed::new(&cli, "info @v --ask --pim 1") else { return };
    typed.answer("Password of v: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("veracrypt") && !shown.contains("twenty"), "{shown}");
}

#[test]
fn two_different_passwords_make_no_volume() {
    let cli = Cli::new();
    let Some(mut typed) = Typed::new(&cli, "create @v --size 1M --quick --pim 1") else { return };
    for _ in 0..3 {
        typed.answer("New password of v: ", "one-password-of-twenty\r");
        typed.answer("The same again: ", "another-one-of-twenty\r");
    }
    let (code, shown) = typed.end();
    assert_eq!(code, Some(2), "{shown}");
    assert!(!cli.path("v").exists());

    let mut typed = Typed::new(&cli, "create @v --size 1M --quick --pim 1").expect("script");
    typed.answer("New password of v: ", "one-password-of-twenty\r");
    typed.answer("The same again: ", "another-one-of-twenty\r");
    typed.answer("New password of v: ", &format!("{PASSWORD}\r"));
    typed.answer("The same again: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "info @v --password-file @pw --pim 1");
}

#[test]
fn an_empty_new_password_is_asked_for_again() {
    let cli = Cli::new();
    let Some(mut typed) = Typed::new(&cli, "create @v --size 1M --quick --pim 1") else { return };
    typed.answer("New password of v: ", "\r");
    typed.answer("New password of v: ", &format!("{PASSWORD}\r"));
    typed.answer("The same again: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert!(code == Some(0) && shown.contains("nothing was typed; once more"), "{shown}");
    let mut typed = Typed::new(&cli, "create @w --size 1M --quick --pim 1").expect("script");
    for _ in 0..3 {
        typed.answer("New password of w: ", "\r");
    }
    let (code, shown) = typed.end();
    assert!(code == Some(2) && !cli.path("w").exists(), "{code:?}: {shown}");
    // Who is not asked once more is not told to.
    assert_eq!(shown.matches("; once more").count(), 2, "{shown}");
    // A keyfile opens it alone.
    cli.keyway.secret("key", "a keyfile");
    let mut typed = Typed::new(&cli, "create @k --size 1M --quick --pim 1 --keyfile @key").expect("script");
    typed.answer("New password of k (Enter for none): ", "\r");
    typed.answer("The same again: ", "\r");
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    let mut typed = Typed::new(&cli, "info @k --pim 1 --keyfile @key --ask").expect("script");
    typed.answer("Password of k (Enter for none): ", "\r");
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
}

/// Enter is no password, with any verb and of any volume: nobody waits for it to be found wrong.
#[test]
fn enter_alone_is_asked_about_again() {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --no-recovery-password --password-file @pw");
    for words in ["cat @v --length 1 --pim 1", "cat @b --length 1", "header backup @v @h --pim 1"] {
        let volume = &words[words.find('@').expect("a volume") + 1..][..1];
        let Some(mut typed) = Typed::new(&cli, words) else { return };
        typed.answer(&format!("Password of {volume}: "), "\r");
        typed.answer("nothing was typed; once more", "");
        typed.answer(&format!("Password of {volume}: "), &format!("{PASSWORD}\r"));
        let (code, shown) = typed.end();
        assert_eq!(code, Some(0), "{words}: {shown}");
    }
}

/// What is read from standard input leaves the terminal to ask on.
#[test]
fn a_terminal_is_asked_on_whatever_standard_input_is() {
    let cli = Cli::new();
    cli.volume("v");
    let Some(mut typed) = Typed::new(&cli, "cat @v --length 1 --pim 1 </dev/null") else { return };
    typed.answer("Password of v: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    // Who has put errors away as well wants no questions.
    let typed = Typed::new(&cli, "cat @v --length 1 --pim 1 </dev/null 2>&1 | cat").expect("script");
    let (_, shown) = typed.ends_unasked().expect("nothing is asked");
    assert!(shown.contains("no terminal to ask"), "{shown}");
}

/// Whoever is ended by a signal while a secret is typed leaves a terminal that shows what is typed.
#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let cli = Cli::new();
    cli.volume("v");
    for (verb, question) in
        [("cat @v --length 1 --pim 1", "Password of v: "), ("erase @v --pim 1", "to go on: ")]
    {
        let words = format!("{verb} --log @log; stty -a");
        let Some(mut typed) = Typed::new(&cli, &words) else { return };
        typed.answer(question, "");
        let log = std::fs::read_to_string(cli.path("log")).expect("it logs");
        // Time, process, level, what it was.
        let pid = log.lines().last().and_then(|line| line.split_whitespace().nth(1)).expect("a process");
        let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a number");
        kill_process(pid, Signal::TERM).expect("ours");
        let (_, shown) = typed.end();
        let modes: Vec<&str> = shown.split_whitespace().collect();
        assert!(modes.contains(&"echo") && modes.contains(&"isig"), "{verb}: {shown}");
        std::fs::remove_file(cli.path("log")).expect("there");
    }
}

#[test]
fn an_easily_guessed_password_is_told_before_it_is_typed_again() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.volume("old");
    let bitlocker =
        "create @b --format bitlocker --size 64M --quick --filesystem none --no-recovery-password";
    for (words, whose) in [
        ("create @v --size 1M --quick --pim 1", "v"),
        ("protector change @old --pim 1 --hash sha512 --password-file @pw", "old"),
        (bitlocker, "b"),
    ] {
        let Some(mut typed) = Typed::new(&cli, words) else { return };
        typed.answer(&format!("New password of {whose}: "), "short-nine\r");
        // A line may end behind that.
        typed.answer("; take a", "");
        typed.answer("The same again: ", "short-nine\r");
        let (code, shown) = typed.end();
        assert_eq!((code, shown.matches("; take a").count()), (Some(0), 1), "{words}: {shown}");
    }
}

#[test]
fn a_password_that_bitlocker_does_not_take_is_asked_for_again_at_once() {
    let cli = Cli::new();
    let made = "create @v --format bitlocker --size 64M --quick --filesystem none --no-recovery-password";
    let Some(mut typed) = Typed::new(&cli, made) else { return };
    typed.answer("New password of v: ", "seven77\r");
    typed.answer("; once more", "");
    typed.answer("New password of v: ", &format!("{PASSWORD}\r"));
    typed.answer("The same again: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.end();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, Some(0), "{shown}");
    let told = "the password has 7 characters, and BitLocker takes 8 to 256; once more";
    assert!(shown.contains(told), "{shown}");
    cli.keyway.secret("pw", PASSWORD);
    let mut typed = Typed::new(&cli, "protector change @v --password-file @pw").expect("script");
    typed.answer("New password of v: ", "short\r");
    typed.answer("New password of v: ", "\u{4}");
    let (code, shown) = typed.end();
    assert!(code == Some(1) && shown.contains("interrupted: nothing was changed"), "{code:?}: {shown}");
    // Ctrl-D is no password.
    let mut typed = Typed::new(&cli, "info @v --ask").expect("script");
    typed.answer("Password of v: ", "\u{4}");
    let (code, shown) = typed.end();
    assert!(code == Some(1) && shown.contains("interrupted: nothing was changed"), "{code:?}: {shown}");
}

#[test]
fn a_wrong_password_may_be_typed_three_times() {
    let cli = Cli::new();
    cli.volume("v");
    let quick = "--pim 1 --hash sha512";
    for words in [
        format!("cat @v --length 1 {quick}"),
        format!("ls @v {quick}"),
        format!("protector change @v --new-pim 1 {quick}"),
        format!("decrypt @v {quick}"),
    ] {
        let Some(mut typed) = Typed::new(&cli, &words) else { return };
        if words.starts_with("decrypt") {
            // Once, however often the password is.
            typed.answer("Type `yes` to go on: ", "yes\r");
        }
        for _ in 0..3 {
            typed.answer("Password of v: ", "not the password\r");
        }
        let (code, shown) = typed.end();
        assert_eq!(code, Some(3), "{words}: {shown}");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(shown.matches("one of them is wrong").count(), 3, "{words}: {shown}");
        assert_eq!(shown.matches("to go on").count(), usize::from(words.starts_with("decrypt")), "{shown}");
    }
    // The second one is right.
    let mut typed = Typed::new(&cli, &format!("cat @v --length 1 {quick}")).expect("script");
    typed.answer("Password of v: ", "not the password\r");
    typed.answer("Password of v: ", &format!("{PASSWORD}\r"));
    assert_eq!(typed.end().0, Some(0));
    // The second secret is asked for when the first has opened it, and both are not typed again for its sake.
    cli.ends(0, "create @h --size 12M --quick --pim 1 --password-file @pw");
    let mut typed =
        Typed::new(&cli, &format!("open @h --protect-hidden --protect-pim 1 {quick}")).expect("script");
    typed.answer("Password of h: ", "not the password\r");
    typed.answer("Password of h: ", &format!("{PASSWORD}\r"));
    typed.answer("Password of the hidden volume in h: ", "nor that\r");
    assert_eq!(typed.end().0, Some(3));
    let mut typed = Typed::new(&cli, "create @h --hidden 1M --hidden-pim 1 --pim 1 --yes").expect("script");
    for _ in 0..3 {
        typed.answer("Password of the outer volume h: ", "not the password\r");
    }
    let (code, shown) = typed.end();
    assert!(code == Some(3) && !shown.contains("New password"), "{shown}");
    // In a file there is one.
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    let told = String::from_utf8(cli.ends(3, &format!("cat @v {quick} --password-file @wrong")).stderr);
    assert_eq!(told.expect("text").matches("one of them is wrong").count(), 1);
}

/// What the outer volume's password shows is told before anyone thinks of the hidden one's.
#[test]
fn a_hidden_volume_over_files_is_refused_before_its_password_is_asked_for() {
    let cli = Cli::new();
    if keyway_testkit::require_tool("mkfs.fat").is_none() {
        return;
    }
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 12M --quick --pim 1 --filesystem fat --password-file @pw");
    // All of it but its headers.
    let words = "create @v --hidden 12032K --hidden-pim 1 --pim 1 --yes";
    let Some(mut typed) = Typed::new(&cli, words) else { return };
    typed.answer("Password of the outer volume v: ", &format!("{PASSWORD}\r"));
    let (code, shown) = typed.ends_unasked().expect("nothing else is asked");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == Some(2) && shown.contains("would overwrite files"), "{code:?}: {shown}");
    // Who says that they may be lost is asked.
    let mut typed = Typed::new(&cli, &format!("{words} --force")).expect("script");
    typed.answer("Password of the outer volume v: ", &format!("{PASSWORD}\r"));
    typed.answer("New password of the hidden volume in v: ", "\u{3}");
    assert_eq!(typed.end().0, Some(1));
}

/// A BitLocker volume has no PIM: the password that it gets instead is asked for, where somebody can be.
#[test]
fn a_bitlocker_volume_that_a_volume_with_a_pim_becomes_asks_for_its_password() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "create @v --size 64M --quick --pim 1 --password-file @pw");
    let words = "encrypt @v --reencrypt --format bitlocker --pim 1 --no-recovery-password --yes";
    let words = format!("{words} --password-file @pw");
    let Some(typed) = Typed::new(&cli, &format!("{words} --dry-run")) else { return };
    let (code, shown) = typed.end();
    assert!(code == Some(0) && shown.contains("Nothing was done."), "{code:?}: {shown}");
    let mut typed = Typed::new(&cli, &words).expect("script");
    for question in ["New password of v: ", "The same again: "] {
        typed.answer(question, "another-one-of-twenty\r");
    }
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    cli.keyway.secret("new", "another-one-of-twenty");
    cli.ends(0, "cat @v --length 1 --password-file @new");
}

#[test]
fn a_new_password_is_asked_for_when_the_old_one_was_right() {
    let cli = Cli::new();
    cli.volume("v");
    let change = "protector change @v --pim 1 --hash sha512";
    let Some(mut typed) = Typed::new(&cli, change) else { return };
    for _ in 0..3 {
        typed.answer("Password of v: ", "not the password\r");
    }
    let (code, shown) = typed.end();
    assert!(code == Some(3) && !shown.contains("New password"), "{code:?}: {shown}");
    let mut typed = Typed::new(&cli, change).expect("script");
    typed.answer("Password of v: ", &format!("{PASSWORD}\r"));
    for question in ["New password of v: ", "The same again: "] {
        typed.answer(question, "short\r");
    }
    let (code, shown) = typed.end();
    assert!(code == Some(0) && shown.contains("PIM below 485"), "{code:?}: {shown}");
    let encrypt = "encrypt @v --reencrypt --new-pim 2 --pim 1 --yes";
    let mut typed = Typed::new(&cli, encrypt).expect("script");
    for _ in 0..3 {
        typed.answer("Password of v: ", "not the password\r");
    }
    let (code, shown) = typed.end();
    assert!(code == Some(3) && !shown.contains("New password"), "{code:?}: {shown}");
}

/// Who takes another one then has not waited for the noise.
#[test]
fn a_weak_password_is_told_before_the_volume_is_filled() {
    let cli = Cli::new();
    cli.keyway.secret("weak", "short-9");
    let words = cli.words("create @v --size 600M --pim 1 --password-file @weak");
    let mut child =
        cli.command(words).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut told = String::new();
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    said.read_line(&mut told).expect("a line");
    assert!(told.contains("take a longer one"), "{told}");
    assert!(child.try_wait().expect("known").is_none(), "it was filled before");
    kill_process(Pid::from_child(&child), Signal::INT).expect("ours");
    child.wait().expect("it ends");
    assert!(!cli.path("v").exists());
}

/// A file without room of its own is told to be one, before it is made and in what is said of it.
#[test]
fn a_volume_that_can_outgrow_its_disk_is_told() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let disk = rustix::fs::statvfs(cli.path("")).expect("a file system");
    let size = (disk.f_bavail * disk.f_frsize * 2).next_multiple_of(1 << 20);
    let words = format!("create @v --size {size} --quick --pim 1 --password-file @pw");
    for more in ["--dry-run", ""] {
        let said = String::from_utf8_lossy(&cli.ends(0, &format!("{words} {more}")).stderr).into_owned();
        assert_eq!(said.matches("the file can grow to ").count(), 1, "{said}");
    }
    std::fs::remove_file(cli.path("v")).expect("there");
    let warnings = cli.json(0, &words)["warnings"].to_string();
    assert!(warnings.contains("the file can grow to ") && warnings.contains(" are free"), "{warnings}");
    cli.ends(0, "create @w --size 1M --quick --pim 1 --password-file @pw");
    let secret = "--pim 1 --password-file @pw --yes";
    let resized = cli.json(0, &format!("resize @w --size {size} --quick {secret}"));
    assert!(resized["warnings"].to_string().contains("the file can grow to "), "{resized}");
    let resized = cli.json(0, &format!("resize @w --size 1M --quick {secret}"));
    assert!(resized["warnings"].is_null(), "{resized}");
}

#[test]
fn each_weak_new_password_is_told() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("weak", "short-9");
    cli.keyway.secret("short", "elevenbytes");
    let tells = |words: &str, says: &str| {
        let told = String::from_utf8_lossy(&cli.ends(0, words).stderr).into_owned();
        assert_eq!(told.matches("take a longer one").count(), 1, "{words}: {told}");
        assert!(told.contains(says), "{words}: {told}");
    };
    let guess = "easier to guess";
    tells("create @w --size 1M --quick --pim 1 --password-file @weak", guess);
    tells("protector change @v --pim 1 --password-file @pw --new-password-file @weak", guess);
    tells("protector change @v --pim 1 --password-file @weak --new-hash sha256", guess);
    tells(
        "encrypt @v --reencrypt --yes --pim 1 --password-file @weak --new-pim 1 --new-password-file @weak",
        guess,
    );
    let trying = "found by trying";
    let create = "create --size 64M --format bitlocker --quick --filesystem fat";
    tells(&format!("{create} @b --password-file @short"), trying);
    cli.ends(0, &format!("{create} @c --no-password --recovery-file @key"));
    tells("protector add @c password --recovery-password @key --new-password-file @short", trying);
    tells("protector change @b --password-file @short --new-password-file @short", trying);
    if cli.make("d", 80 << 20, "mkfs.ext4", &["-q", "-F"]).is_some() {
        tells("encrypt @d --grow --yes --pim 1 --password-file @weak", guess);
    }
    if cli.make("f", 80 << 20, "mkfs.fat", &["-F", "32"]).is_some() {
        tells(
            "encrypt @f --format bitlocker --grow --yes --password-file @short --recovery-file @key2",
            trying,
        );
    }
}

#[test]
fn an_empty_password_file_is_told_as_that() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("empty", "");
    cli.keyway.secret("line", "\n");
    cli.keyway.secret("key", "a keyfile");
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --password-file @pw");
    for file in ["empty", "line"] {
        for words in
            ["cat @v", "open @v", "cat @b", "create @new --size 1M", "erase @v", "protector change @b --new"]
        {
            let words = if words.ends_with("--new") {
                format!("{words}-password-file @{file} --password-file @pw")
            } else {
                format!("{words} --password-file @{file}")
            };
            cli.refused("usage", &format!("/{file} is empty"), &words);
        }
    }
    // Keyfiles need no password.
    cli.ends(0, "create @k --size 1M --quick --pim 1 --password-file @empty --keyfile @key");
    cli.ends(0, "cat @k --length 1 --pim 1 --password-file @empty --keyfile @key");
}

#[test]
fn who_agrees_is_asked_for_secrets_then() {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --no-recovery-password --password-file @pw");
    let id = cli.json(0, "protector list @b")["key_protectors"][0]["id"].as_str().expect("one").to_owned();
    let before = ["v", "b"].map(|name| std::fs::read(cli.path(name)).expect("made"));
    let quick = "--pim 1 --hash sha512";
    cli.ends(0, "header backup @v @h --password-file @pw --pim 1");
    for (words, secret) in [
        (format!("erase @v {quick}"), "Password of v: "),
        (format!("protector remove @b {id} --last"), "Password of b: "),
        ("protector suspend @b".to_owned(), "Password of b: "),
        (format!("header restore @v @h {quick}"), "Password of h at the time of the backup: "),
        (format!("decrypt @v {quick}"), "Password of v: "),
        (format!("encrypt @v --reencrypt {quick}"), "Password of v: "),
        ("create @v --size 1M --force".to_owned(), "New password of v: "),
    ] {
        let Some(mut typed) = Typed::new(&cli, &words) else { return };
        typed.answer("Type `yes` to go on: ", "yes\r");
        typed.answer(secret, "\u{3}");
        let (code, shown) = typed.end();
        assert!(code == Some(1) && shown.contains("nothing was changed"), "{words}: {code:?}: {shown}");
    }
    assert!(["v", "b"].map(|name| std::fs::read(cli.path(name)).expect("there")) == before);
    // Whoever said no is asked for none.
    let mut typed = Typed::new(&cli, &format!("erase @v {quick}")).expect("script");
    typed.answer("Type `yes` to go on: ", "no\r");
    assert!(!typed.end().1.contains("Password of"));
}

#[test]
fn a_drive_has_no_keyfile_and_counts_what_is_wrong() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, "drive emulate @d --size 64M");
    cli.ends(0, "drive setup @d --password-file @pw --admin-password-file @pw");
    for (words, helps) in [
        ("drive unlock @d", "use --password-file FILE (`-` is standard input) or --password-fd N"),
        ("drive user password @d user1 --password-file @pw", "use --new-password-file FILE"),
    ] {
        let refused = cli.json(2, words)["error"]["hint"].as_str().expect("a hint").to_owned();
        assert!(refused.starts_with(helps) && !refused.contains("keyfile"), "{words}: {refused}");
    }
    let Some(mut typed) = Typed::new(&cli, "drive unlock @d") else { return };
    typed.answer("Password of d: ", "not the password\r");
    assert_eq!(typed.end().0, Some(3));
}

#[test]
fn no_letters_are_drawn_that_the_locale_has_not() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for (locale, full) in [("C", "#"), ("C.UTF-8", "\u{2588}")] {
        let words = "create @v --size 48M --force --yes --pim 1 --password-file @pw";
        let Some(typed) = Typed::in_locale(&cli, locale, words) else { return };
        let (code, shown) = typed.end();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(shown.is_ascii(), locale == "C", "{locale}: {shown}");
        // On a fast machine there may be nothing to show but that it began.
        assert!(
            shown.contains(full) || shown.contains("..") || shown.contains('\u{2026}'),
            "{locale}: {shown}"
        );
    }
}

#[test]
fn a_port_that_is_taken_and_a_volume_that_is_open_say_what_helps() {
    let cli = Cli::new();
    cli.volume("v");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    for way in [format!("--nbd tcp:127.0.0.1:{port}"), format!("--nvme-tcp 127.0.0.1:{port}")] {
        cli.fails(6, "busy", "choose another port", &format!("serve @v {way} --password-file @pw --pim 1"));
    }
    if !cli_support::has_fuse() || keyway_testkit::require_tool("mkfs.fat").is_none() {
        return;
    }
    let with = "--password-file @pw --pim 1";
    cli.ends(0, &format!("create @files --size 12M --quick --filesystem fat {with}"));
    std::fs::create_dir(cli.path("folder")).expect("made");
    cli.ends(0, &format!("open @files @folder --attach files {with}"));
    cli.fails(
        6,
        "already-open",
        &format!("mounted on {}", cli.path("folder").display()),
        &format!("open @files {with}"),
    );
}

#[test]
fn who_wants_quiet_gets_no_empty_line() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    cli.ends(0, "create @v --size 1M --quick --password-file @pw");
    let done = cli.ends(3, "info @v -q --hash argon2id --password-file @wrong");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.lines().all(|line| !line.trim_end().ends_with("keyway:")), "{said}");
}

#[test]
fn control_c_ends_a_question() {
    let cli = Cli::new();
    cli.volume("v");
    let Some(mut typed) = Typed::new(&cli, "info @v --ask") else { return };
    typed.answer("Password of v: ", "half a pass\u{3}");
    let (code, shown) = typed.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("interrupted: nothing was changed"), "{shown}");
    let before = std::fs::read(cli.path("v")).expect("the volume");
    for (keys, code) in [("\u{3}", 1), ("y\u{3}", 1), ("no\r", 1)] {
        let Some(mut typed) = Typed::new(&cli, "encrypt @v --reencrypt --pim 1 --password-file @pw") else {
            return;
        };
        typed.answer("Type `yes` to go on: ", keys);
        let (ended, shown) = typed.end();
        assert_eq!(ended, Some(code), "{shown}");
        let says = if keys.ends_with('\r') { "nothing was done" } else { "interrupted: nothing was changed" };
        assert!(shown.contains(says), "{keys:?}: {shown}");
    }
    assert!(std::fs::read(cli.path("v")).expect("the volume") == before);
}

#[test]
fn a_recovery_password_is_known_wherever_it_is_typed() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let made = "create @v --format bitlocker --size 64M --quick --filesystem none --password-file @pw";
    let made = cli.json(0, made);
    let text = |key: &str| made[key].as_str().expect("text").to_owned();
    let (digits, id) = (text("recovery_password"), text("recovery_password_id"));
    let Some(mut typed) = Typed::new(&cli, "info @v --ask") else { return };
    typed.answer("Password of v: ", &format!("{digits}\r"));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(&digits[..6]), "{shown}");

    // The last group's check digit.
    let last = if digits.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &digits[..digits.len() - 1]);
    let mut typed = Typed::new(&cli, "info @v --ask").expect("script");
    typed.answer("Password of v: ", &format!("{mistyped}\r"));
    typed.answer("group 8", "");
    typed.answer("Password of v: ", &format!("{digits}\r"));
    assert_eq!(typed.end().0, Some(0));

    // A wrong password: what else opens it.
    let mut typed = Typed::new(&cli, "info @v --ask").expect("script");
    for _ in 0..3 {
        typed.answer("Password of v: ", "not the password\r");
    }
    let (code, shown) = typed.end();
    assert_eq!(code, Some(3), "{shown}");
    // As the terminal's lines end.
    let running = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(running.contains(&format!("it also opens by recovery password {}…", &id[..8])), "{shown}");

    // No secret in the shell's history.
    let mut typed = Typed::new(&cli, "cat @v --length 1 --recovery-password").expect("script");
    typed.answer("Recovery password of v: ", &format!("{}\r", digits.replace('-', "")));
    let (code, shown) = typed.end();
    assert_eq!(code, Some(0), "{shown}");
}

/// What standard error says, which must be JSON objects, one in a line.
fn objects(done: &std::process::Output) -> Vec<serde_json::Value> {
    let text = String::from_utf8_lossy(&done.stderr);
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn progress_is_told_as_it_was_asked_for() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for (name, quiet) in [("a", ""), ("b", " -q")] {
        let words = format!("create @{name} --size 2M --password-file @pw --pim 1 --progress json{quiet}");
        let told = objects(&cli.ends(0, &words));
        let first = told.first().expect("an object");
        assert_eq!(first["total_bytes"], 2 << 20, "{first}");
        assert!(first["progress"].is_string() && first["done_bytes"].is_u64(), "{first}");
    }
    for (name, option) in [("c", "none"), ("d", "line")] {
        let words = format!("create @{name} --size 2M --password-file @pw --pim 1 --progress {option}");
        let done = cli.ends(0, &words);
        assert_eq!(String::from_utf8_lossy(&done.stderr), "", "{option}: so short a time has no line");
    }
    cli.refused("usage", "none, line, json", "status --progress bar");
}

#[test]
fn a_long_search_for_the_key_is_announced_and_ctrl_c_ends_it() {
    use std::os::unix::process::ExitStatusExt;
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    cli.ends(0, "create @v --size 1M --quick --password-file @pw");
    // So many iterations take long on the fastest machine: a search of seconds goes without saying.
    let told = cli.command(cli.words("info @v --password-file @wrong --pim 4000"));
    // Who runs the tests in the background may have Ctrl-C ignored, and so would whatever is started.
    let mut afresh = Command::new("env");
    afresh.arg("--default-signal=INT").arg(told.get_program()).args(told.get_args());
    told.get_envs().filter_map(|(name, value)| Some((name, value?))).for_each(|(name, value)| {
        afresh.env(name, value);
    });
    let mut child = afresh.stderr(Stdio::piped()).spawn().expect("keyway starts");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    BufRead::read_line(&mut said, &mut line).expect("a line");
    assert!(line.starts_with("keyway: looking for the key: ") && line.contains("--hash sha512"), "{line}");
    // Each hash on the primary header, the hidden one and the copies of both, for VeraCrypt and TrueCrypt.
    let count = line.split_whitespace().find_map(|word| word.parse::<u32>().ok()).expect("a number");
    assert!((20..60).contains(&count), "{line}");
    // Nothing has begun that could be left half done: the signal itself ends it.
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).expect("told");
    assert_eq!(child.wait().expect("ended").signal(), Some(2));
}

#[test]
fn a_bar_gives_way_to_what_is_said() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("wrong", "not-this-one-of-twenty");
    cli.ends(0, "create @v --size 1M --quick --password-file @pw");
    let words = "info @v --password-file @wrong --hash argon2id";
    let Some(typed) = Typed::new(&cli, words) else { return };
    let (code, shown) = typed.end();
    assert_eq!(code, Some(3), "{shown}");
    // On a fast machine it may be through before there is anything to show.
    if let Some((before, after)) = shown.rsplit_once("looking for the key  ") {
        assert!(before.ends_with('\r') && after.contains("\r\u{1b}[Kkeyway: "), "{shown:?}");
        // How long is known, or that it can't be told on a busy machine.
        assert!(after.contains("left") || after.contains('…'), "{shown:?}");
    }
}
