//! Metadata contexts: which parts of the volume read as zeros, for clients that want to copy the rest.
//!
//! There is one context, `base:allocation`, of the protocol's specification. What it says of a
//! volume is what its layout says: nothing is stored for these bytes, and they read as zeros. A hole in the
//! file under an encrypted volume is nothing of the kind, and is not told.

use super::reader::{MAX_STRING, Reader};
use keyway_engine::Device;

/// The one context, and the number that stands for it in answers.
pub(crate) const ALLOCATION: &[u8] = b"base:allocation";
pub(crate) const ALLOCATION_ID: u32 = 1;

/// What `LIST_META_CONTEXT` may ask for: all of its namespace.
const NAMESPACE: &[u8] = b"base:";

/// `NBD_STATE_HOLE` and `NBD_STATE_ZERO`: nothing is stored, and it reads as zeros.
const STATE_HOLE_ZERO: u32 = 3;

/// Runs in one answer at most; a client asks again for the rest.
const MOST: usize = 1024;

/// The data of `LIST_META_CONTEXT` and `SET_META_CONTEXT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextQuery<'a> {
    pub(crate) name: &'a [u8],
    /// Whether no context was named.
    all: bool,
    exact: bool,
    namespace: bool,
}

impl<'a> ContextQuery<'a> {
    pub(crate) fn parse(data: &'a [u8]) -> Option<Self> {
        let mut cut = Reader(data);
        let string = |cut: &mut Reader<'a>| {
            let len = cut.u32()? as usize;
            if len <= MAX_STRING { cut.bytes(len) } else { None }
        };
        let name = string(&mut cut)?;
        let count = cut.u32()?;
        let mut query = Self { name, all: count == 0, exact: false, namespace: false };
        for _ in 0..count {
            let wanted = string(&mut cut)?;
            query.exact |= wanted == ALLOCATION;
            query.namespace |= wanted == NAMESPACE;
        }
        cut.0.is_empty().then_some(query)
    }

    /// Whether our context is among those to be listed.
    pub(crate) fn lists(&self) -> bool {
        self.all || self.exact || self.namespace
    }

    /// Whether it is among those to be used.
    pub(crate) fn sets(&self) -> bool {
        self.exact
    }
}

/// The answer to `BLOCK_STATUS`: the context's number, then runs, each with its length and its state.
pub(crate) fn block_status(device: &Device, offset: u64, len: u32, only_one: bool) -> Vec<u8> {
    let mut answer = ALLOCATION_ID.to_be_bytes().to_vec();
    let (mut at, end) = (offset, offset + u64::from(len));
    for _ in 0..if only_one { 1 } else { MOST } {
        let Some(extent) = device.extent(at, end.saturating_sub(at)) else { break };
        // No longer than the request, whose length has 32 bits.
        answer.extend((extent.len as u32).to_be_bytes());
        answer.extend(if extent.zero { STATE_HOLE_ZERO } else { 0 }.to_be_bytes());
        at += extent.len;
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(name: &str, contexts: &[&str]) -> Vec<u8> {
        let mut data = Vec::new();
        let put = |text: &str, data: &mut Vec<u8>| {
            data.extend((text.len() as u32).to_be_bytes());
            data.extend(text.as_bytes());
        };
        put(name, &mut data);
        data.extend((contexts.len() as u32).to_be_bytes());
        contexts.iter().for_each(|context| put(context, &mut data));
        data
    }

    #[test]
    fn queries_are_understood_or_refused() {
        let of = |contexts: &[&str]| {
            let data = query("keyway", contexts);
            let parsed = ContextQuery::parse(&data).map(|q| (q.lists(), q.sets()));
            parsed.unwrap_or_default()
        };
        assert_eq!(of(&[]), (true, false));
        assert_eq!(of(&["base:"]), (true, false));
        assert_eq!(of(&["qemu:dirty-bitmap:x", "base:allocation"]), (true, true));
        assert_eq!(of(&["base:alloc", "base:allocation:depth"]), (false, false));
        let good = query("keyway", &["base:allocation", "other:"]);
        for cut in 0..good.len() {
            assert_eq!(ContextQuery::parse(&good[..cut]), None, "cut at {cut}");
        }
        let mut long = good.clone();
        long.push(0);
        assert_eq!(ContextQuery::parse(&long), None);
    }
}
