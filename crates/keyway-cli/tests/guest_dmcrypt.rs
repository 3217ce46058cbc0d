//! The kernel's dm-crypt, with the tables that `keyway open --attach dm-crypt` loads, against the mapping that
//! cryptsetup makes of the same volume: the same bytes on the whole device, and what one writes the other reads;
//! and no key is left where one could be found.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Guest, Job, Keyway, Rng, require_tool, unpack_xz, volumes};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// VeraCrypt asks for 20 characters where the PIM is small, and the guest derives keys slowly.
const PASSWORD: &str = "the-kernel-does-it-itself";
/// Of the volumes that TrueCrypt made.
const TRUECRYPT: &str = "aaaaaaaaaaaa";
/// Of those that Windows made.
const WINDOWS: &str = "anaconda";
/// Written through our mapping, and read through cryptsetup's.
const PATTERN_BYTES: usize = 2 * 4096;

/// A volume, and with which ciphers it should come out of the kernel.
struct Case {
    name: &'static str,
    ciphers: &'static [&'static str],
}

struct Bench {
    keyway: Keyway,
    job: Job,
    cases: Vec<Case>,
    table: String,
    /// Images that are disks of the guest's, `/dev/vda` first.
    disks: Vec<PathBuf>,
}

impl Bench {
    fn add(&mut self, name: &'static str, ciphers: &'static [&'static str], words: [&str; 3]) {
        self.table += &format!("{name}\t{}\n", words.join("\t"));
        self.cases.push(Case { name, ciphers });
    }

    /// A VeraCrypt volume of ours.
    fn create(&self, at: PathBuf, size: &str, cipher: &str, filesystem: &str) {
        let password = self.job.path().join("password");
        let options = ["create", "--quick", "--pim", "1", "--size", size, "--cipher", cipher];
        let mut words: Vec<OsString> = options.map(OsString::from).into();
        words.extend(["--filesystem".into(), filesystem.into(), at.into()]);
        words.extend(["--password-file".into(), password.into()]);
        self.keyway.ok(words);
    }

    fn ours(&mut self, name: &'static str, cipher: &str, ciphers: &'static [&'static str]) {
        let at = if name == "disk" { self.disk(name) } else { self.job.path().join(name) };
        self.create(at, "2M", cipher, "none");
        self.add(name, ciphers, ["password", &there(cipher), "--pim 1 --hash sha512"]);
    }

    /// Where the next disk's image goes.
    fn disk(&mut self, name: &str) -> PathBuf {
        let at = self.keyway.path(name);
        self.disks.push(at.clone());
        at
    }

    /// A volume that another program made, where there is one. Windows' are large, and disks: which, the job is told.
    fn foreign(
        &mut self,
        name: &'static str,
        from: &str,
        ciphers: &'static [&'static str],
        words: [&str; 3],
    ) {
        let Some(image) = volumes().and_then(|volumes| unpack_xz(&volumes.join(from))) else { return };
        let at = if name.starts_with("bitlocker-") {
            self.job.put(name, char::from(b'a' + self.disks.len() as u8).to_string());
            self.disk(name)
        } else {
            self.job.path().join(name)
        };
        std::fs::copy(image.path(), at).expect("room");
        self.add(name, ciphers, words);
    }
}

/// cryptsetup's options for a volume of ours; it names a cascade from the innermost cipher on.
fn there(cipher: &str) -> String {
    let cipher = cipher.split('-').rev().collect::<Vec<_>>().join("-");
    format!("--type tcrypt --veracrypt -c {cipher} -h sha512 --veracrypt-pim 1")
}

/// Windows' passwords take the emulator most of a minute each: the quick run has one volume of each kind.
fn all_volumes() -> bool {
    std::env::var_os("KEYWAY_SLOW").is_some()
}

fn bench() -> Bench {
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let job = Job::new(keyway.path("job"), include_str!("guest_dmcrypt.sh"));
    job.program(env!("CARGO_BIN_EXE_keyway"));
    job.put("password", PASSWORD);
    job.put("password-truecrypt", TRUECRYPT);
    job.put("password-windows", WINDOWS);
    job.put("pattern", Rng::new(80).bytes(PATTERN_BYTES));
    let mut bench = Bench { keyway, job, cases: Vec::new(), table: String::new(), disks: Vec::new() };
    bench.ours("veracrypt-aes", "aes", &["aes-xts-plain64"]);
    let triple = &["aes-xts-plain64", "twofish-xts-plain64", "serpent-xts-plain64"];
    bench.ours("veracrypt-triple", "aes-twofish-serpent", triple);
    bench.ours("camellia-serpent", "camellia-serpent", &["camellia-xts-plain64", "serpent-xts-plain64"]);
    bench.ours("disk", "serpent-aes", &["serpent-xts-plain64", "aes-xts-plain64"]);
    let truecrypt = |cipher: &str, hash: &str| {
        let theirs = format!("--type tcrypt --disable-veracrypt -c {cipher} -h {hash}");
        (theirs, format!("--hash {hash}"))
    };
    let mut old = |name, from, ciphers, (theirs, ours): (String, String)| {
        bench.foreign(name, from, ciphers, ["password-truecrypt", &theirs, &ours]);
    };
    let triple = &["serpent-xts-plain64", "twofish-xts-plain64", "aes-xts-plain64"];
    let with = truecrypt("aes-twofish-serpent", "sha512");
    old("truecrypt-xts", "tcrypt/tc_5-sha512-xts-serpent-twofish-aes.xz", triple, with);
    let with = truecrypt("serpent-twofish", "ripemd160");
    let double = &["twofish-lrw-benbi", "serpent-lrw-benbi"];
    old("truecrypt-lrw", "tcrypt/tc_2-ripemd160-lrw-twofish-serpent.xz", double, with);
    let with = truecrypt("aes", "ripemd160");
    old("truecrypt-cbc", "tcrypt/tc_1-ripemd160-cbc-aes.xz", &["aes-cbc-tcw"], with);
    let with = truecrypt("des3_ede", "sha1");
    if all_volumes() {
        old("truecrypt-3des", "tcrypt/tc_1-sha1-cbc-des3_ede.xz", &["des3_ede-cbc-tcw"], with);
    }
    let windows = ["password-windows", "--type bitlk", ""];
    bench.foreign("bitlocker-xts", "bitlocker/bitlk-aes-xts-128.img.xz", &["aes-xts-plain64"], windows);
    let elephant = "bitlocker/bitlk-aes-cbc-elephant-128.img.xz";
    bench.foreign("bitlocker-elephant", elephant, &["aes-cbc-elephant"], windows);
    if !all_volumes() {
        return bench;
    }
    bench.foreign("bitlocker-4k", "bitlocker/bitlk-aes-xts-128-4k.img.xz", &["aes-xts-plain64"], windows);
    bench.foreign("bitlocker-cbc", "bitlocker/bitlk-aes-cbc-128.img.xz", &["aes-cbc-eboiv"], windows);
    bench
}

#[test]
fn the_kernel_decrypts_as_cryptsetup_has_it() {
    let tools = ["qemu-system-x86_64", "mkfs.ext4"];
    let Some(volumes) = volumes().filter(|_| tools.iter().all(|tool| require_tool(tool).is_some())) else {
        return;
    };
    let bench = bench();
    let job = &bench.job;
    job.put("cases.tsv", &bench.table);
    if all_volumes() {
        job.put("whole", "");
    }
    bench.create(job.path().join("files"), "16M", "aes", "ext4");
    job.put("files-options", there("aes"));
    bench.create(job.path().join("files-twofish"), "1M", "twofish", "none");
    std::fs::copy(volumes.join("veracrypt-1.23/c-kuznyechik-aes-sha512.hc"), job.path().join("kuznyechik"))
        .expect("room");
    job.put("password-kuznyechik", "mortise-probe-password-0123");

    let disks = bench.disks.iter().map(|disk| disk.to_string_lossy());
    let guest = disks.fold(Guest::new(), |guest, disk| guest.disk(&disk));
    let Some(ran) = guest.run(job.path()) else { return };
    assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
    let said = job.said();
    let wrong: Vec<String> = bench.cases.iter().filter_map(|case| judge(case, &said).err()).collect();
    assert!(wrong.is_empty(), "{}\n\nThe guest said:\n{}", wrong.join("\n"), ran.output);
    whole_life(&said, &ran.output);
    println!("the kernel decrypted {} volumes as cryptsetup has it", bench.cases.len());
}

fn judge(case: &Case, said: &HashMap<String, String>) -> Result<(), String> {
    let name = case.name;
    let of = |key: &str| said.get(&format!("{name}.{key}")).map_or("", String::as_str);
    let same = |what: &str, found: &str, expected: &str| {
        if found == expected { Ok(()) } else { Err(format!("{name}: {what}: {found:?}, not {expected:?}")) }
    };
    if of("theirs").is_empty() {
        return Err(format!("{name}: cryptsetup could not open it"));
    }
    same("the device", of("ours"), of("theirs"))?;
    same("attachment", of("attachment"), "dm-crypt")?;
    same("the pattern in cryptsetup's mapping", of("written"), "yes")?;
    same("closing what is in use", of("busy"), "6")?;
    same("left after closing", of("left"), "")?;
    same("keys in the keyring", of("keys"), "0")?;
    let table = of("table");
    for cipher in case.ciphers {
        if !table.contains(&format!(" crypt {cipher} :")) {
            return Err(format!("{name}: no {cipher} in {table}"));
        }
    }
    // Each by name, none in hexadecimal.
    let crypts = table.matches(" crypt ").count();
    if crypts < case.ciphers.len() || table.matches(":logon:keyway:keyway-").count() != crypts {
        return Err(format!("{name}: a key that is not the keyring's: {table}"));
    }
    let hexadecimal = |word: &str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if table.split([' ', ':']).any(hexadecimal) {
        return Err(format!("{name}: a key in the table: {table}"));
    }
    Ok(())
}

/// Chosen by itself, killed, closed, opened anew; and what the kernel can't do.
fn whole_life(said: &HashMap<String, String>, output: &str) {
    let of = |key: &str| said.get(key).map_or("", String::as_str);
    let expected = [
        ("key.known", "32"),
        ("key.dm-crypt", "0"),
        ("auto.attachment", "dm-crypt"),
        ("auto.mounted", "/tmp/at"),
        ("auto.trimmed", "yes"),
        ("auto.counted", "1"),
        ("killed.served", "yes"),
        ("killed.again", "6"),
        ("killed.busy", "6"),
        ("killed.closed", "0"),
        ("killed.left", ""),
        ("killed.kept", "yes"),
        ("reading.getro", "1"),
        ("anew.attachment", "dm-crypt"),
        ("anew.mappings", "1"),
        ("anew.left", ""),
        ("refused.code", "5"),
        ("instead.attachment", "fuse"),
        ("module.code", "5"),
        ("module.attachment", "fuse"),
        ("end.left", ""),
    ];
    for (key, value) in expected {
        assert_eq!(of(key), value, "{key}; the guest said:\n{output}");
    }
    // The search finds it where it is.
    assert_ne!(of("key.nbd"), "0");
    assert!(of("auto.why").contains("the kernel"), "{}", of("auto.why"));
    assert!(of("auto.table").contains(" allow_discards no_read_workqueue no_write_workqueue"));
    for key in ["refused.message", "instead.why"] {
        assert!(of(key).contains("no Kuznyechik"), "{key}: {}", of(key));
    }
    for key in ["module.message", "module.why"] {
        assert!(of(key).contains("twofish-xts-plain64"), "{key}: {}", of(key));
    }
}
