//! Closing several volumes, some of which may lie inside others.

use keyway_attach::AttachError;
use keyway_attach::session::{Closed, Closing, close_so};
use std::io;

/// What became of each volume that was to be closed, by the name that it was given.
pub type ClosedEach = Vec<(String, Result<Closed, AttachError>)>;

/// Closes volumes side by side: none waits for another one's medium, and one that can't be closed does not keep the
/// others open. One that another is inside of is tried again when that has gone. `tell` hears whom it waits for;
/// `destroy` is asked of a volume whose file was deleted, and that nobody can open again.
pub fn close_each(
    names: Vec<String>,
    tell: &(dyn Fn(&str) + Sync),
    mut destroy: impl FnMut(&str) -> bool,
) -> ClosedEach {
    let (mut left, mut done) = (names, Vec::new());
    loop {
        let (mut busy, mut any) = (Vec::new(), false);
        for (name, mut closed) in side_by_side(left, tell) {
            if let Err(AttachError::Deleted { volume }) = &closed
                && destroy(volume)
            {
                closed = close_so(&name, &Closing { deleted: true, tell });
                any |= closed.is_ok();
                done.push((name, closed));
            } else if let Err(AttachError::Busy { .. }) = closed {
                busy.push((name, closed));
            } else {
                any |= closed.is_ok();
                done.push((name, closed));
            }
        }
        if busy.is_empty() || !any {
            done.extend(busy);
            return done;
        }
        left = busy.into_iter().map(|(name, _)| name).collect();
    }
}

fn side_by_side(names: Vec<String>, tell: &(dyn Fn(&str) + Sync)) -> ClosedEach {
    let close = &|name: &str| close_so(name, &Closing { deleted: false, tell });
    std::thread::scope(|scope| {
        let closing: Vec<_> = names.iter().map(|name| scope.spawn(move || close(name))).collect();
        let panicked = |_| Err(AttachError::io("close it", io::Error::other("the thread panicked")));
        let done: Vec<_> = closing.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect();
        names.iter().cloned().zip(done).collect()
    })
}
