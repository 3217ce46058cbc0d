//! Random I/O against a model: reads, writes and flushes of odd sizes, each read compared with a
//! plain buffer that took the same writes. In the spirit of `fsx`, repeatable by its seed.

use crate::Rng;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What the model drives: anything with positions.
pub trait Medium {
    /// Fills `buf` from `offset`.
    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `buf` at `offset`.
    fn write(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Puts everything on the medium.
    fn flush(&self) -> io::Result<()>;
}

impl Medium for File {
    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buf, offset)
    }
    fn write(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(buf, offset)
    }
    fn flush(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// One request, kept so that a difference can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A compared read.
    Read {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        len: usize,
    },
    /// A write of fresh random bytes.
    Write {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        len: usize,
    },
    /// A flush.
    Flush,
}

/// The buffer that knows what the medium must hold.
pub struct Model {
    expected: Vec<u8>,
    rng: Rng,
    seed: u64,
    unit: u64,
    largest: u64,
    steps: Vec<Step>,
}

impl Model {
    /// A model of what `medium` holds now in its first `size` bytes. Requests are multiples of
    /// `unit` bytes at multiples of `unit` (1 for a buffered file, the sector size for direct
    /// I/O) and at most `largest` bytes long.
    ///
    /// # Panics
    /// When the medium can't be read.
    pub fn of(medium: &impl Medium, size: usize, unit: u64, largest: u64, seed: u64) -> Self {
        let mut expected = vec![0; size];
        for (i, chunk) in expected.chunks_mut(1 << 20).enumerate() {
            medium.read(chunk, (i as u64) << 20).expect("the medium is readable before the run");
        }
        Self { expected, rng: Rng::new(seed), seed, unit, largest, steps: Vec::new() }
    }

    /// What the medium must hold now.
    pub fn expected(&self) -> &[u8] {
        &self.expected
    }

    /// Runs that many random requests.
    ///
    /// # Panics
    /// When a read differs from the model or a request fails; the message holds the seed and the
    /// last requests that touched the place.
    pub fn run(&mut self, medium: &impl Medium, steps: usize) {
        for _ in 0..steps {
            let step = self.choose();
            self.apply(medium, step);
        }
    }

    /// Compares all of the medium with the model.
    ///
    /// # Panics
    /// When they differ.
    pub fn compare_all(&self, medium: &impl Medium) {
        for at in (0..self.expected.len()).step_by(1 << 20) {
            self.compare(medium, at as u64, (self.expected.len() - at).min(1 << 20));
        }
    }

    fn choose(&mut self) -> Step {
        let units = self.expected.len() as u64 / self.unit;
        let dice = self.rng.below(100);
        if dice < 3 {
            return Step::Flush;
        }
        // Small requests, and ones that hug a boundary, find more than uniform ones do.
        let longest = (self.largest / self.unit).clamp(1, units);
        let len = match self.rng.below(3) {
            0 => 1 + self.rng.below(longest),
            1 => 1 + self.rng.below(longest.min(9000 / self.unit + 1)),
            _ => 1 + self.rng.below(longest.min(600 / self.unit + 1)),
        };
        let mut start = self.rng.below(units - len + 1);
        if self.rng.below(4) == 0 {
            let boundary = 4096u64.max(self.unit) / self.unit;
            start = start / boundary * boundary;
        }
        let (offset, len) = (start * self.unit, (len * self.unit) as usize);
        if dice < 50 { Step::Read { offset, len } } else { Step::Write { offset, len } }
    }

    fn apply(&mut self, medium: &impl Medium, step: Step) {
        self.steps.push(step);
        match step {
            Step::Read { offset, len } => self.compare(medium, offset, len),
            Step::Write { offset, len } => {
                let at = offset as usize;
                self.rng.fill(&mut self.expected[at..at + len]);
                if let Err(e) = medium.write(&self.expected[at..at + len], offset) {
                    panic!("seed {}: {step:?} failed: {e}", self.seed);
                }
            }
            Step::Flush => {
                if let Err(e) = medium.flush() {
                    panic!("seed {}: a flush failed: {e}", self.seed);
                }
            }
        }
    }

    fn compare(&self, medium: &impl Medium, offset: u64, len: usize) {
        let mut got = vec![0xa5; len];
        if let Err(e) = medium.read(&mut got, offset) {
            panic!("seed {}: reading {len} bytes at {offset} failed: {e}", self.seed);
        }
        let expected = &self.expected[offset as usize..offset as usize + len];
        let Some(first) = got.iter().zip(expected).position(|(a, b)| a != b) else { return };
        let at = offset + first as u64;
        let wrong = got.iter().zip(expected).filter(|(a, b)| a != b).count();
        let touched = |step: &&Step| match **step {
            Step::Read { offset, len } | Step::Write { offset, len } => {
                (offset..offset + len as u64).contains(&at)
            }
            Step::Flush => false,
        };
        let history: Vec<&Step> = self.steps.iter().rev().filter(touched).take(6).collect();
        panic!(
            "seed {}, step {}: {wrong} of {len} bytes read at {offset} are wrong, the first at {at}; \
             what touched it, newest first: {history:?}",
            self.seed,
            self.steps.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Memory that loses the last byte of every write longer than a page.
    struct Forgetful(RefCell<Vec<u8>>);

    impl Medium for Forgetful {
        fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            buf.copy_from_slice(&self.0.borrow()[offset as usize..offset as usize + buf.len()]);
            Ok(())
        }
        fn write(&self, buf: &[u8], offset: u64) -> io::Result<()> {
            let kept = if buf.len() > 4096 { buf.len() - 1 } else { buf.len() };
            self.0.borrow_mut()[offset as usize..offset as usize + kept].copy_from_slice(&buf[..kept]);
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_honest_file_passes() {
        let file = tempfile::tempfile().expect("temporary file");
        file.set_len(1 << 20).expect("room");
        let mut model = Model::of(&file, 1 << 20, 1, 64 << 10, 1);
        model.run(&file, 500);
        model.compare_all(&file);
        assert!(model.expected().iter().any(|byte| *byte != 0));
    }

    #[test]
    fn requests_keep_to_their_unit() {
        let file = tempfile::tempfile().expect("temporary file");
        file.set_len(1 << 20).expect("room");
        let mut model = Model::of(&file, 1 << 20, 512, 64 << 10, 2);
        model.run(&file, 300);
        for step in &model.steps {
            if let Step::Read { offset, len } | Step::Write { offset, len } = step {
                assert!(offset % 512 == 0 && len % 512 == 0 && *len > 0 && *len <= 64 << 10, "{step:?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "are wrong")]
    fn a_lost_byte_is_found() {
        let medium = Forgetful(RefCell::new(vec![0; 1 << 20]));
        let mut model = Model::of(&medium, 1 << 20, 1, 64 << 10, 3);
        model.run(&medium, 500);
        model.compare_all(&medium);
    }
}
