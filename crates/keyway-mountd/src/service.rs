//! The helper on the bus: hears, asks polkit, has a worker look, mounts, and takes down.

use crate::authority::{Action, authorize};
use crate::label::folder_name;
use crate::later::later;
use crate::mounting::{mount, take_down, wait_until_detached};
use crate::options::driver;
use crate::place::Place;
use crate::refusal::{Kind, Refusal};
use crate::table::{Mounted, Slot, Table};
use crate::worker::{Asked, Looked, Worker};
use crate::{NAME, PATH};
use keyway_sys::Account;
use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;
use zbus::export::futures_core::Stream;
use zbus::message::{Flags, Header};
use zbus::names::UniqueName;
use zbus::{Connection, MatchRule, MessageStream, interface};

/// Where the table is kept.
const STATE: &str = "/run/keyway-mountd/mounts.json";
/// Without anything mounted, and nobody who asks, it ends after this time.
const IDLE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(5);
/// The bus itself.
const BUS: &str = "org.freedesktop.DBus";

/// What is on the bus.
struct Service {
    table: Table,
    place: Place,
}

/// A request that a worker has looked at.
struct Request {
    slot: Slot,
    worker: Worker,
    looked: Looked,
    account: Account,
    caller: String,
}

/// What comes of it.
struct Done {
    mounted: Mounted,
    filesystem: String,
    read_only: bool,
    unclean: bool,
}

#[interface(name = "org.keyway.Mount1")]
impl Service {
    /// Mounts what is in the volume for the user who asks.
    #[zbus(out_args("folder", "device", "filesystem", "read_only", "unclean"))]
    async fn mount(
        &self,
        volume: zbus::OwnedFd,
        sector_bytes: u32,
        read_only: bool,
        #[zbus(header)] header: Header<'_>,
        #[zbus(connection)] bus: &Connection,
    ) -> Result<(String, String, String, bool, bool), Refusal> {
        self.table.asked();
        let (caller, user) = caller(bus, &header).await?;
        let slot = self.table.enter(user)?;
        let asked = Asked { sector_bytes, read_only };
        let look = move || Request::look(volume.into(), asked, user, caller, slot);
        let request = later(look).await.ok_or_else(no_thread)??;
        if user != 0 {
            let action = if request.looked.system_device { Action::MountSystemDevice } else { Action::Mount };
            authorize(bus, &request.caller, action, is_interactive(&header)).await?;
        }
        let (table, place) = (self.table.clone(), self.place.clone());
        let done = later(move || request.mount(&table, &place)).await.ok_or_else(no_thread)??;
        let Done { mounted, filesystem, read_only, unclean } = done;
        // Whoever went before this was in the table has not been noticed.
        if !is_here(bus, &mounted).await {
            let table = self.table.clone();
            let caller = mounted.caller.clone();
            later(move || abandon(&table, |mounted| mounted.caller == caller)).await;
            return Err(Kind::Failed.says("whoever asked is gone"));
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok((text(&mounted.folder), text(&mounted.device), filesystem, read_only, unclean))
    }

    /// Unmounts what was mounted there, and removes the folder.
    async fn unmount(
        &self,
        folder: String,
        #[zbus(header)] header: Header<'_>,
        #[zbus(connection)] bus: &Connection,
    ) -> Result<(), Refusal> {
        self.table.asked();
        let (caller, user) = caller(bus, &header).await?;
        let folder = Path::new(&folder);
        let not_mounted = || Kind::NotMounted.says(format!("nothing was mounted at {}", folder.display()));
        let mounted = self.table.at(folder).ok_or_else(not_mounted)?;
        if user != mounted.user && user != 0 {
            authorize(bus, &caller, Action::Change, is_interactive(&header)).await?;
        }
        // Whose it is was asked of this one, not of another that may have its folder by now.
        let mut going = self.table.begin_to_go(|now| *now == mounted);
        let mounted = going.pop().ok_or_else(not_mounted)?;
        let table = self.table.clone();
        let done = later(move || {
            let done = take_down(&mounted.folder, &mounted.device, false);
            match done {
                Ok(()) => table.is_gone(&mounted.folder),
                Err(_) => table.stays(&mounted.folder),
            }
            (done, mounted)
        })
        .await;
        let (done, mounted) = done.ok_or_else(no_thread)?;
        // Whoever went in the meantime was left to this request.
        if done.is_err() && !is_here(bus, &mounted).await {
            let table = self.table.clone();
            later(move || abandon(&table, |other| *other == mounted)).await;
        }
        done
    }
}

impl Request {
    /// Has a worker look at the volume.
    fn look(
        volume: std::os::fd::OwnedFd,
        asked: Asked,
        user: u32,
        caller: String,
        slot: Slot,
    ) -> Result<Self, Refusal> {
        let unknown = || Kind::Failed.says(format!("there is no user {user}"));
        let account =
            Account::of(user).map_err(|e| Kind::Failed.of("look the user up", e))?.ok_or_else(unknown)?;
        let worker = Worker::start(volume, &account, asked)?;
        let looked = worker.looked()?;
        Ok(Self { slot, worker, looked, account, caller })
    }

    /// Mounts it. What fails leaves nothing.
    fn mount(self, table: &Table, place: &Place) -> Result<Done, Refusal> {
        let Self { slot, worker, looked, account, caller } = self;
        let unknown = || Kind::NoFileSystem.says("no such file system is mounted for users");
        let kind = looked.kind().ok_or_else(unknown)?;
        let driver = driver(kind, looked.read_only, account.user, account.group).ok_or_else(unknown)?;
        let name = [&looked.label, &looked.uuid].into_iter().flatten().find_map(|name| folder_name(name));
        // Dropped at the end, with what is mounted as the only one that has it open.
        let (device, open) = worker.attach()?;
        let folder = place.make(&account, name.as_deref().unwrap_or("volume"))?;
        let mounted = Mounted { caller, user: account.user, folder: folder.path, device, file: looked.file };
        // It is empty, and root's.
        let remove = || drop(std::fs::remove_dir(&mounted.folder));
        table.comes(mounted.clone()).inspect_err(|_| remove())?;
        if let Err(refusal) = mount(&mounted.device, &folder.open, &driver, looked.read_only) {
            remove();
            table.is_gone(&mounted.folder);
            // The request's process has the device open, too, until it has ended.
            drop((open, worker));
            wait_until_detached(&mounted.device);
            return Err(refusal);
        }
        table.is_here(&mounted.folder);
        drop(slot);
        let Looked { read_only, unclean, .. } = looked;
        Ok(Done { mounted, filesystem: kind.mount_type().to_owned(), read_only, unclean })
    }
}

/// Takes down what nobody waits for any more, whoever uses it.
fn abandon(table: &Table, is_meant: impl Fn(&Mounted) -> bool) {
    for mounted in table.begin_to_go(is_meant) {
        if let Err(refusal) = take_down(&mounted.folder, &mounted.device, true) {
            eprintln!("keyway-mountd: {refusal}");
        }
        table.is_gone(&mounted.folder);
    }
}

/// Serves the system bus until there is nothing more to do.
///
/// # Errors
/// There is no bus, or it does not let this process have its name.
pub fn serve() -> zbus::Result<()> {
    // A descriptor comes with each request.
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: most.maximum, ..most },
    );
    let table = Table::load(STATE);
    let place = Place::system();
    zbus::block_on(async {
        let service = Service { table: table.clone(), place };
        let bus = zbus::connection::Builder::system().serve_at(PATH, service).build().await?;
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .sender(BUS)
            .interface(BUS)
            .member("NameOwnerChanged")
            .build()?;
        let mut changes = MessageStream::for_match_rule(rule, &bus, None).await?;
        // Those whose helper was killed: who is still there keeps what he has.
        for mounted in table.all() {
            if !is_here(&bus, &mounted).await {
                abandon(&table, |other| *other == mounted);
            }
        }
        bus.request_name(NAME).await?;
        let idle = (table.clone(), bus.clone());
        std::thread::spawn(move || end_when_idle(&idle.0, &idle.1));
        while let Some(change) = poll_fn(|context| Pin::new(&mut changes).poll_next(context)).await {
            let Ok(change) = change else { break };
            let body = change.body();
            if let Ok((name, _, "")) = body.deserialize::<(&str, &str, &str)>()
                && UniqueName::try_from(name).is_ok()
            {
                let (table, gone) = (table.clone(), name.to_owned());
                // What hangs while it is unmounted keeps nobody else waiting.
                std::thread::spawn(move || abandon(&table, |mounted| mounted.caller == gone));
            }
        }
        // The bus is gone, and everybody with it.
        abandon(&table, |_| true);
        Ok(())
    })
}

/// Ends this process when nothing is mounted and nobody has asked for a while. Who asks while it goes is heard: the name is given
/// up first, and what had been sent to it by then arrives.
fn end_when_idle(table: &Table, bus: &Connection) {
    loop {
        std::thread::sleep(LOOK);
        if table.is_idle_for(IDLE) && zbus::block_on(bus.release_name(NAME)).is_ok() {
            std::thread::sleep(LOOK);
            if table.is_idle_for(IDLE) {
                std::process::exit(0);
            }
            if zbus::block_on(bus.request_name(NAME)).is_err() {
                // Another helper has it; what is mounted here is looked after as long as this one lives.
                return;
            }
        }
    }
}

fn no_thread() -> Refusal {
    Kind::Failed.says("there is no room for the request")
}

fn is_interactive(call: &Header<'_>) -> bool {
    call.primary().flags().contains(Flags::ALLOW_INTERACTIVE_AUTH)
}

/// Who asks: the name on the bus, and the user, both by the bus' word.
async fn caller(bus: &Connection, call: &Header<'_>) -> Result<(String, u32), Refusal> {
    let sender = call.sender().ok_or_else(|| Kind::Failed.says("the bus does not say who asks"))?;
    let answer = bus
        .call_method(Some(BUS), "/org/freedesktop/DBus", Some(BUS), "GetConnectionUnixUser", &sender.as_str())
        .await?;
    Ok((sender.to_string(), answer.body().deserialize()?))
}

/// Whether who has something mounted is still on the bus, and still the same user.
async fn is_here(bus: &Connection, mounted: &Mounted) -> bool {
    let name = mounted.caller.as_str();
    let answer =
        bus.call_method(Some(BUS), "/org/freedesktop/DBus", Some(BUS), "GetConnectionUnixUser", &name).await;
    answer.is_ok_and(|answer| answer.body().deserialize::<u32>().is_ok_and(|user| user == mounted.user))
}
