//! Standard input, which may be idle.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use lookalike_base::Stop;

/// While standard input is idle, this is the interval between checks for a stop request: 0.1 s.
const LOOK_FOR_STOP: Duration = Duration::from_millis(100);

/// Standard input, which may be idle for ever.
pub(crate) struct StandardInput {
    pub stop: Stop,
}

impl Read for StandardInput {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        io::stdin().read(out)
    }
}

impl StandardInput {
    /// Waits for input or its end; returns an error once a stop is requested.
    fn wait(&self) -> io::Result<()> {
        while !self.stop.requested() {
            if comes_within(LOOK_FOR_STOP)? {
                return Ok(());
            }
        }
        Err(io::Error::other("a stop was asked for"))
    }
}

/// Whether input or its end comes on standard input within this time. If a signal arrives, the
/// answer may be "no" too early.
fn comes_within(time: Duration) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let most = Timespec {
        tv_sec: time.as_secs() as i64,
        tv_nsec: time.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&most)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether nothing comes on standard input for this time. An error is left to the next read.
pub(crate) fn pauses_for(patience: Duration, stop: &Stop) -> bool {
    let begun = Instant::now();
    loop {
        let left = patience.saturating_sub(begun.elapsed());
        match comes_within(left.min(LOOK_FOR_STOP)) {
            Ok(false) if stop.requested() => return false,
            Ok(false) if begun.elapsed() >= patience => return true,
            Ok(false) => {}
            Ok(true) | Err(_) => return false,
        }
    }
}
