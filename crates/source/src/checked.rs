//! Members whose checksums are compared before anything of them is used: members of gzip, frames of
//! zstd, blocks of bzip2 and xz.
//!
//! # Rule
//! Nothing of a member is delivered before its end is reached and its checksum is right, if its
//! text has at most [`HOLD`] bytes, as the records of web archives do. The text of a larger one is
//! delivered while it is decompressed, because no bound would suffice for a file that is one
//! member. If it turns out to be damaged, the fault says how many bytes were delivered
//! ([`super::Fault::delivered`]), so that nobody uses what came from them.
//!
//! A damaged member is one fault, with the beginning of its text, for its name. Reading continues
//! at the next place where a member begins (in bzip2 and xz, the next stream): after the member, if
//! it has an end, and otherwise at the first place behind its first byte where a decoder gets to
//! the end of a member, with another member or the end of the file after it. So a file within a
//! member is not taken for one, except if it is at the end of the damaged one.
//!
//! A last member that is cut off has no checksum. Its text up to the cut is delivered.
//!
//! # Cost
//! Members whose text fits into the reader's buffer are not copied. Memory: the text of a member
//! and its compressed bytes, up to [`HOLD`] each. A search takes time in proportion to the file
//! ([`SEARCH_FREE`]).

use std::io::BufRead;

use super::ahead::{Helped, Shared, Text};
use super::input::Input;
use super::{Codec, Failure, Reason, Stepped};

/// The longest text of a member that is held back, and the most compressed bytes of it.
pub(super) const HOLD: usize = 2 << 20;
/// Bytes of memory for text that is held back.
pub(super) const MEMORY: u64 = 2 * HOLD as u64;
/// Bytes decompressed at a time, of a member that has no room in the reader's buffer.
const STEP: usize = 256 << 10;
/// Bytes of a text that are kept for the name of a record.
const HEAD: usize = 64 << 10;
/// The bytes that searches may decompress in vain: this many bytes, and [`SEARCH_RATIO`] for each
/// byte of the file before. A file may be full of beginnings that are none.
const SEARCH_FREE: u64 = 64 << 20;
const SEARCH_RATIO: u64 = 32;

/// A decoder of a file whose members, one after the other, have checksums.
pub(super) trait Member: Sized {
    /// How a member begins, or a stream of some.
    const MAGIC: &'static [u8];

    /// Whether a member, or what may lie between two of them, can begin with this byte.
    fn may_begin(byte: u8) -> bool;

    /// Decompresses a block of input: some bytes, perhaps none, or the end of the member.
    fn step(&mut self, input: &mut Input, out: &mut [u8]) -> Result<Stepped, Failure>;

    /// Whether the input is where the next member begins, and not inside of one, or of a stream.
    fn is_between(&self) -> bool;

    /// Begins where the input is.
    fn restart(&mut self);

    /// Whether the last member, which failed, has an end.
    fn ended(&self) -> bool {
        false
    }

    /// The parts of a file that others can decompress.
    fn parts(of: &Helped<'_>) -> Option<Shared>;
}

/// A decoder that delivers only members that are sound, whatever their format.
pub(super) trait Sound: Send {
    fn input(&self) -> &Input;

    /// As [`Member::parts`]. The decoder may have to go on in the file.
    fn parts(&mut self, of: &Helped<'_>) -> Option<Shared>;

    /// The byte of the file at which the next member begins, unless this is inside of one.
    fn boundary(&self) -> Option<u64>;

    /// Goes on behind a text that was decompressed elsewhere.
    fn pass(&mut self, text: &Text);

    /// The number of members that have begun.
    fn members(&self) -> u64;

    /// Decompresses until there are some bytes, or a member ends. The bytes of one call are of one
    /// member. After a fault that says so, the next call continues behind the damage.
    fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure>;
}

/// Where a reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between two members.
    Between,
    /// In a member, after this number of delivered bytes.
    Large {
        start: u64,
        delivered: u64,
    },
    End,
}

/// A decoder of members, which delivers only members that are sound.
pub(super) struct Checked<F> {
    input: Input,
    decoder: F,
    codec: Codec,
    state: State,
    /// A text that is sound, and how much of it was delivered.
    held: Vec<u8>,
    given: usize,
    /// The failure after the text.
    fault: Option<Failure>,
    /// Bytes that searches decompressed.
    searched: u64,
    /// The number of members that have begun.
    members: u64,
}

impl<F: Member> Checked<F> {
    pub(super) fn new(input: Input, decoder: F, codec: Codec) -> Self {
        Checked {
            input,
            decoder,
            codec,
            state: State::Between,
            held: Vec::new(),
            given: 0,
            fault: None,
            searched: 0,
            members: 0,
        }
    }
}

impl<F: Member + Send> Sound for Checked<F> {
    fn input(&self) -> &Input {
        &self.input
    }

    fn parts(&mut self, of: &Helped<'_>) -> Option<Shared> {
        self.input.may_go_on_in(of.file.clone());
        F::parts(of)
    }

    fn boundary(&self) -> Option<u64> {
        let between = self.state == State::Between && self.held.is_empty() && self.fault.is_none();
        (between && self.decoder.is_between()).then_some(self.input.consumed)
    }

    fn pass(&mut self, text: &Text) {
        self.input.go_on_at(text.place.end);
        self.decoder.restart();
        self.state = match text.last {
            true => State::End,
            false => State::Between,
        };
    }

    fn members(&self) -> u64 {
        self.members
    }

    fn step(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        if self.given < self.held.len() {
            let rest = &self.held[self.given..];
            let n = rest.len().min(out.len());
            out[..n].copy_from_slice(&rest[..n]);
            self.given += n;
            if self.given == self.held.len() {
                (self.held, self.given) = (Vec::new(), 0);
            }
            return Ok(Stepped::Bytes(n));
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        match self.state {
            State::End => Ok(Stepped::End),
            State::Between => self.member(out),
            State::Large { start, delivered } => loop {
                match self.decoder.step(&mut self.input, out) {
                    Ok(Stepped::Bytes(0)) => {}
                    Ok(Stepped::Bytes(n)) => {
                        let delivered = delivered + n as u64;
                        self.state = State::Large { start, delivered };
                        return Ok(Stepped::Bytes(n));
                    }
                    Ok(ended) => {
                        self.state = State::Between;
                        return Ok(ended);
                    }
                    Err(failure) => {
                        return Err(self.damaged(failure, (start, 0), delivered, Vec::new()));
                    }
                }
            },
        }
    }
}

impl<F: Member + Send> Checked<F> {
    /// Decompresses a member, or the first [`HOLD`] bytes of one.
    fn member(&mut self, out: &mut [u8]) -> Result<Stepped, Failure> {
        let padding = self.skip_padding()?;
        self.input.mark();
        let start = self.input.consumed;
        let mut in_out = 0;
        loop {
            let step = if in_out < out.len() {
                let step = self.decoder.step(&mut self.input, &mut out[in_out..]);
                if let Ok(Stepped::Bytes(n)) = step {
                    in_out += n;
                }
                step
            } else {
                let length = self.held.len();
                self.held.resize(length + STEP, 0);
                let step = self.decoder.step(&mut self.input, &mut self.held[length..]);
                let made = match step {
                    Ok(Stepped::Bytes(n)) => n,
                    _ => 0,
                };
                self.held.truncate(length + made);
                step
            };
            let total = in_out + self.held.len();
            match step {
                Ok(Stepped::Bytes(_)) => {
                    let compressed = self.input.consumed - start;
                    if total > HOLD || compressed > HOLD as u64 {
                        let delivered = total as u64;
                        self.state = State::Large { start, delivered };
                        break;
                    }
                }
                Ok(Stepped::End) if total == 0 => {
                    self.state = State::End;
                    self.input.unmark();
                    return Ok(Stepped::End);
                }
                Ok(_) if total == 0 => {
                    self.members += 1;
                    self.input.unmark();
                    return Ok(Stepped::Boundary);
                }
                Ok(_) => break,
                Err(failure) => {
                    let head = [&out[..in_out], &self.held].concat();
                    self.held.clear();
                    return self.failed(failure, (start, padding), head, out);
                }
            }
        }
        self.members += 1;
        self.input.unmark();
        match in_out {
            0 => self.step(out),
            _ => Ok(Stepped::Bytes(in_out)),
        }
    }

    /// Skips zeros after a member: the padding of tapes and of some writers.
    fn skip_padding(&mut self) -> Result<u64, Failure> {
        let mut skipped = 0;
        while self.members > 0 && self.decoder.is_between() {
            let bytes = self.input.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let all = zeros == bytes.len() && zeros > 0;
            self.input.consume(zeros);
            skipped += zeros as u64;
            if !all {
                break;
            }
        }
        Ok(skipped)
    }

    /// A member failed before any of its bytes, `text`, was delivered.
    fn failed(
        &mut self,
        failure: Failure,
        start: (u64, u64),
        mut text: Vec<u8>,
        out: &mut [u8],
    ) -> Result<Stepped, Failure> {
        let head = text[..text.len().min(HEAD)].to_vec();
        let mut failure = self.damaged(failure, start, 0, head);
        let cut = matches!(&failure, Failure::Fault(fault)
            if fault.reason == Reason::TruncatedCompression);
        // The disk may deliver these bytes another time.
        let kept = cut || matches!(&failure, Failure::Fault(fault) if fault.failure.is_some());
        if !kept || text.is_empty() {
            return Err(failure);
        }
        self.members += 1;
        // The text is used, so the failure does not name its first record.
        if let Failure::Fault(fault) = &mut failure {
            fault.head.clear();
        }
        self.fault = Some(failure);
        let n = text.len().min(out.len());
        out[..n].copy_from_slice(&text[..n]);
        self.held = text.split_off(n);
        Ok(Stepped::Bytes(n))
    }

    /// Looks for the next member after a failure in the member at `start`, and reports the loss.
    fn damaged(
        &mut self,
        failure: Failure,
        (start, padding): (u64, u64),
        delivered: u64,
        head: Vec<u8>,
    ) -> Failure {
        self.state = State::End;
        if let Some(failure) = self.input.failure.clone() {
            self.input.unmark();
            return Failure::Fault(failure);
        }
        let begun = self.input.begun;
        let mut fault = failure.fault(self.codec);
        // An end with a wrong checksum is an end, if another member follows it.
        let ended = self.decoder.ended() && self.is_end();
        let (next, given_up) = if ended {
            (self.here(), false)
        } else {
            if self.input.is_marked() {
                self.input.rewind();
                self.input.consume(1);
            }
            self.search()
        };
        self.input.unmark();
        if let Some(failure) = self.input.failure.clone() {
            return Failure::Fault(failure);
        }
        let end = self.input.consumed;
        let lost = next.unwrap_or(end) - start + if begun { 0 } else { padding };
        let codec = self.codec;
        if !begun && next.is_none() && self.members > 0 && !given_up {
            fault.reason = Reason::StrayBytes;
            fault.detail = format!("{lost} bytes after the end of the {codec} stream");
        } else if !begun && self.members > 0 {
            fault.reason = Reason::CorruptCompression;
            fault.detail = format!("{codec}: {lost} bytes between two members, at byte {start}");
        } else if fault.reason != Reason::TruncatedCompression || next.is_some() {
            if fault.reason == Reason::TruncatedCompression {
                fault.reason = Reason::CorruptCompression;
            }
            fault.detail = format!(
                "{}; {lost} bytes from byte {start} of the file on are left out",
                fault.detail
            );
        }
        if given_up {
            fault.detail += "; too much looks like a beginning, so the rest is not read";
        }
        fault.delivered = delivered;
        fault.head = head;
        if next.is_some() {
            fault.goes_on = true;
            self.decoder.restart();
            self.state = State::Between;
        }
        Failure::Fault(fault)
    }

    /// The byte of the file at which this is, unless the file ends there.
    fn here(&mut self) -> Option<u64> {
        let input = &mut self.input;
        let ends = input.fill_buf().map_or(true, <[u8]>::is_empty);
        (!ends).then_some(input.consumed)
    }

    /// Whether a member certainly begins here, or the file ends.
    fn is_end(&mut self) -> bool {
        if self.here().is_none() {
            return true;
        }
        let input = &mut self.input;
        let at = input.consumed;
        if !input.is_marked() {
            input.mark();
        }
        let is_member = self.is_member(&mut Vec::new());
        let input = &mut self.input;
        input.rewind();
        input.consume((at - input.consumed) as usize);
        is_member
    }

    /// Whether a member begins here, as far as its first byte shows, or the file ends.
    fn begins_or_ends(&mut self) -> bool {
        match self.input.fill_buf() {
            Ok(bytes) => bytes.first().is_none_or(|&byte| F::may_begin(byte)),
            Err(_) => true,
        }
    }

    /// Finds the next place where a member certainly begins, and moves there. Also returns whether
    /// it gave up.
    fn search(&mut self) -> (Option<u64>, bool) {
        let mut scratch = Vec::new();
        loop {
            let input = &mut self.input;
            let Ok(bytes) = input.fill_buf() else {
                return (None, false);
            };
            if bytes.is_empty() {
                return (None, false);
            }
            let found = memchr::memchr(F::MAGIC[0], bytes);
            let passed = found.unwrap_or(bytes.len());
            input.consume(passed);
            if found.is_none() {
                continue;
            }
            input.mark();
            let at = input.consumed;
            if self.searched > SEARCH_FREE + SEARCH_RATIO * at {
                return (None, true);
            }
            let is_member = self.is_member(&mut scratch);
            let input = &mut self.input;
            input.rewind();
            if is_member {
                return (Some(at), false);
            }
            input.consume(1);
            input.unmark();
        }
    }

    /// Whether a member begins here and has an end, or is larger than [`HOLD`].
    fn is_member(&mut self, scratch: &mut Vec<u8>) -> bool {
        scratch.resize(STEP, 0);
        self.decoder.restart();
        let (mut made, start) = (0, self.input.consumed);
        let is_member = loop {
            match self.decoder.step(&mut self.input, scratch) {
                Ok(Stepped::Bytes(n)) => {
                    made += n as u64;
                    let compressed = self.input.consumed - start;
                    if made.max(compressed) > HOLD as u64 {
                        break true;
                    }
                }
                Ok(_) => break self.begins_or_ends(),
                // Also damaged: it is a fault of its own.
                Err(_) => {
                    let next = self.input.fill_buf().unwrap_or_default();
                    let follows = next.first().is_none_or(|&byte| byte == F::MAGIC[0]);
                    break follows && self.decoder.ended();
                }
            }
        };
        let compressed = self.input.consumed - start;
        self.searched += made.max(compressed) + u64::from(self.input.begun) * STEP as u64 / 4;
        is_member
    }
}
