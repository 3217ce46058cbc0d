use keyway_attach::{
    Stop,
    nbd::{Listen, Options, Server},
};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::*;
use std::sync::Arc;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let store: Box<dyn Store> = if a[1] == "mem" {
        Box::new(MemStore::new(1 << 30))
    } else {
        Box::new(
            FileStore::open(
                a[1].as_ref(),
                OpenMode::ReadWrite,
                if a[2] == "direct" { Caching::Direct } else { Caching::Buffered },
            )
            .unwrap(),
        )
    };
    let s = Segment { start: 0, len: store.size(), mapping: Mapping::Plain { store_offset: 0 } };
    let d = Device::new(store, Layout::new(512, vec![s]).unwrap(), Access::ReadWrite).unwrap();
    let workers = a.get(4).map_or(16, |w| w.parse().unwrap());
    let server =
        Server::bind(&Listen::Unix(a[3].clone().into()), Options { workers, ..Options::default() }).unwrap();
    server.run(Arc::new(d), &Stop::new().unwrap()).unwrap();
}
