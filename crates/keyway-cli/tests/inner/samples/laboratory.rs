//! Of the laboratory.

use super::super::Failure;
use super::{failed, io, v};
use keyway::lab::LabError;
use keyway::lab::trace::TraceError;
use keyway::session::{Lack, LackReason, Need};
use keyway_engine::{DeviceError, LayoutError};
use keyway_model::ModelError;
use keyway_model::trace::TraceFormatError;
use keyway_store::Operation;

fn no_json() -> serde_json::Error {
    serde_json::from_str::<u8>("{").expect_err("no number")
}

pub(super) fn laboratory() -> Vec<Failure> {
    use LabError as E;
    use TraceError as T;
    let name = || "d.img".to_owned();
    let traces = [
        T::Io(name(), io(13)),
        T::Missing(name(), io(2)),
        T::TooLarge,
        T::TooLong,
        T::Recording(TraceFormatError::Magic),
        T::Recording(TraceFormatError::TooLong),
        T::Recording(TraceFormatError::Record(7)),
        T::Recording(TraceFormatError::Trailing),
        T::Unknown,
        T::Line { line: 3, what: "a number was expected: \"x\"".to_owned() },
        T::Version("4".to_owned()),
        T::Empty,
        T::TooLate,
        T::PastEnd { needed: 4096, present: 512 },
    ];
    let mut all: Vec<Failure> = traces.map(|error| E::Trace(error).into()).into();
    all.extend(
        [13, 30, 16, 28, 2]
            .map(|errno| Failure::from(E::Io { doing: "write to", path: v(), source: io(errno) })),
    );
    all.extend(failures![
        E::Workload { file: "w.toml".to_owned(), line: 3, what: "no such pattern".to_owned() },
        E::NoSuchWorkload("oltp9".to_owned()),
        E::NoSuchTrace("boot9".to_owned()),
        E::Target("rot13".to_owned(), "there is no such format".to_owned()),
        E::EntrantWords("cryptsetup".to_owned(), "there is no `=` behind its name".to_owned()),
        E::OtherProgram {
            name: "cryptsetup".to_owned(),
            what: "ended with exit status: 1: no key".to_owned()
        },
        E::TooSmall { what: name(), present: 512, needed: 4096 },
        E::SmallDrive { what: name(), present: 512, needed: 4096 },
        E::WouldDestroy { what: name() },
        E::InUse { what: name(), how: "it is mounted at /mnt".to_owned() },
        E::ReadOnly(name()),
        E::NoSpace { what: name(), needed: 4096 },
        E::Unsuited("nothing is left of oltp with these options".to_owned()),
        E::LargerThanModel { what: "to verify it", option: "--size 1G" },
        E::MeasuredOtherwise { what: "--size", then: "16 MiB".to_owned(), now: "32 MiB".to_owned() },
        E::System { doing: "write", path: "report.html".into(), source: io(13) },
        E::Folder("reports".into()),
        E::NotADocument { path: name().into(), source: no_json() },
        E::NoSuchModel("fastest".to_owned()),
        E::NoModel("fastest".to_owned(), "sata-ssd, hdd-7200".to_owned()),
        E::Model(ModelError::Range { model: "mine".to_owned(), what: "queue_depth", value: -1.0 }),
        E::NoFolder("/dev/sdb".to_owned()),
        E::NeverUnlocked,
        E::Lack(Lack { need: Need::LoopDevice, reason: LackReason::NotRoot }),
        E::ClosedMeanwhile(v()),
        E::Store(failed(Operation::Read)),
        E::Device(DeviceError::ReadOnly),
        E::Layout(LayoutError::Empty),
        E::Differs { offset: 512 },
        E::Stopped,
    ]);
    all
}
