//! What the tests share that show a virtual drive to a guest's kernel: the drive, its power switch, the job.
//! `judge.sh` is what the jobs' scripts share.
#![allow(dead_code, reason = "each test file uses its own part")]

use keyway_testkit::{Guest, GuestRun, Job, Keyway, skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A folder with a guest's job in it, and a virtual drive that is served while this lives.
pub(crate) struct Served {
    pub(crate) keyway: Keyway,
    pub(crate) job: Job,
    pub(crate) made: Value,
    emulator: Child,
    /// A word for each time that its power came back.
    cycled: Mutex<Receiver<()>>,
    /// Arguments for the guest's QEMU.
    pub(crate) qemu: Vec<String>,
    /// What to do when the job makes a file of that name, with its content.
    doors: Vec<(&'static str, Door)>,
}

type Door = Box<dyn Fn(&str) + Sync>;

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.emulator.kill();
        let _ = self.emulator.wait();
    }
}

impl Served {
    /// Makes a drive of that size with further options, serves it over NVMe/TCP, and lays out the job: the script,
    /// the program, and where the drive is.
    pub(crate) fn new(script: &str, size: &str, options: &[&str]) -> Self {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let served =
            Self::of(keyway, ("", script), size, &[&["--nvme-tcp", "127.0.0.1:0"], options].concat());
        served.note("nqn", &served.said("nqn"));
        let address = served.said("address");
        served.note("port", address.rsplit(':').next().expect("a port"));
        served
    }

    /// As [`Served::new`], as a SCSI disk of the guest's.
    pub(crate) fn as_scsi(script: &str, size: &str) -> Self {
        let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
        let socket = keyway.path("socket").into_os_string().into_string().expect("a path of ours");
        let mut served =
            Self::of(keyway, (include_str!("scsi.sh"), script), size, &["--vhost-user-scsi", &socket]);
        let arguments = [
            "-object",
            "memory-backend-memfd,id=shared,size=1024M,share=on",
            "-machine",
            "memory-backend=shared",
            // A smaller start, which does not look for a system on the disk.
            "-bios",
            "qboot.rom",
            "-chardev",
            &format!("socket,id=drive,path={socket}"),
            "-device",
            "vhost-user-scsi-pci,chardev=drive,num_queues=1",
        ];
        served.qemu.extend(arguments.map(str::to_owned));
        served
    }

    fn of(keyway: Keyway, (shared, script): (&str, &str), size: &str, options: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
        let script = std::fs::read_to_string(script).expect("the job's script");
        let job = Job::new(keyway.path("job"), &format!("{}\n{shared}\n{script}", include_str!("judge.sh")));
        job.program(env!("CARGO_BIN_EXE_keyway"));
        let words = ["drive", "emulate", "--size", size, "--json"];
        let mut command = keyway.command(words.iter().chain(options));
        let command = command.arg(keyway.path("drive")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut emulator = command.spawn().expect("keyway starts");
        let mut text = String::new();
        for line in BufReader::new(emulator.stdout.take().expect("piped")).lines().map_while(Result::ok) {
            text.push_str(&line);
            if line == "}" {
                break;
            }
        }
        let (cycles, cycled) = channel();
        let warnings = BufReader::new(emulator.stderr.take().expect("piped"));
        std::thread::spawn(move || {
            for line in warnings.lines().map_while(Result::ok) {
                eprintln!("{line}");
                if line.contains("the power was cycled") {
                    // Nobody may be waiting any more.
                    let _ = cycles.send(());
                }
            }
        });
        let made: Value = serde_json::from_str(&text).expect("JSON");
        let (cycled, qemu, doors) = (Mutex::new(cycled), Vec::new(), Vec::new());
        let served = Self { keyway, job, made, emulator, cycled, qemu, doors };
        for name in ["psid", "msid"] {
            served.note(name, &served.said(name));
        }
        served
    }

    /// When the job makes a file of that name, `act` gets its content, and then the file goes away.
    pub(crate) fn on(&mut self, name: &'static str, act: impl Fn(&str) + Sync + 'static) {
        self.doors.push((name, Box::new(act)));
    }

    /// What the emulator said when it began.
    pub(crate) fn said(&self, key: &str) -> String {
        self.made[key].as_str().expect("text").to_owned()
    }

    /// Lays a file beside the job's script.
    pub(crate) fn note(&self, name: &str, content: &str) {
        self.job.put(name, content);
    }

    /// What the job wrote there; nothing where it did not.
    pub(crate) fn told(&self, name: &str) -> String {
        std::fs::read_to_string(self.job.path().join(name)).unwrap_or_default()
    }

    /// Runs the job, and holds it to all that it tried. Whether there was a guest to run it in.
    pub(crate) fn judge(&self) -> bool {
        let Some(ran) = self.run() else {
            skip("no guest");
            return false;
        };
        assert_eq!(ran.code, Some(0), "the guest said:\n{}", ran.output);
        self.held("said.tsv");
        true
    }

    /// Holds the job to all that it tried, as the file says.
    pub(crate) fn held(&self, file: &str) {
        let told = self.told(file);
        let wrong: Vec<&str> = told.lines().filter(|line| !line.ends_with("\tok")).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{}\n{}", self.told("log"), self.told("suite.log"));
        assert!(told.contains("finished\tok"), "{told}");
    }

    /// Runs the job. When it makes the file `cycle`, the drive's power goes away for a moment, and then that file.
    pub(crate) fn run(&self) -> Option<GuestRun> {
        let over = AtomicBool::new(false);
        let pid = Pid::from_child(&self.emulator);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let cycle = self.job.path().join("cycle");
                while !over.load(Ordering::Acquire) {
                    if cycle.exists() {
                        kill_process(pid, Signal::USR1).expect("it is there");
                        let cycled = self.cycled.lock().expect("one thread");
                        cycled.recv_timeout(Duration::from_secs(60)).expect("the power comes back");
                        std::fs::remove_file(&cycle).expect("the job's note");
                    }
                    for (name, act) in &self.doors {
                        if let Ok(content) = std::fs::read_to_string(self.job.path().join(name)) {
                            act(&content);
                            std::fs::remove_file(self.job.path().join(name)).expect("the job's note");
                        }
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            let ran =
                self.qemu.iter().fold(Guest::new(), |guest, word| guest.qemu(word)).run(self.job.path());
            over.store(true, Ordering::Release);
            ran
        })
    }
}
