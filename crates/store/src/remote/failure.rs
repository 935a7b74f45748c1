//! Failures of a store or of the way there.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

/// A failure that may be over next time, as the failure of a disk may: no property of the object.
#[derive(Debug)]
pub(super) struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> io::Error {
        io::Error::other(failure)
    }
}

/// The message of a reader that was stopped.
const STOPPED: &str = "a stop was asked for";

/// The error of a reader that is stopped. The reader has not read everything, so this is a failure.
pub fn stopped() -> io::Error {
    Failure(STOPPED.into()).into()
}

/// Whether an error is [`stopped`].
pub fn is_stop(error: &io::Error) -> bool {
    is_failure(error) && error.to_string() == STOPPED
}

/// Whether an error is such a failure.
pub fn is_failure(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Failure>())
}

/// The messages of the failures that have numbers. Each ends a command, so there are few.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The number of an error that the operating system or a store returned, for [`failed`]. Those of
/// stores are below zero.
pub fn number_of(error: &io::Error) -> Option<i32> {
    if !is_failure(error) {
        return error.raw_os_error();
    }
    let text = error.to_string();
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let place = said.iter().position(|known| *known == text);
    let place = place.unwrap_or_else(|| {
        said.push(text);
        said.len() - 1
    });
    Some(-1 - i32::try_from(place).unwrap_or(i32::MAX - 1))
}

/// The error with this number.
pub fn failed(number: i32) -> io::Error {
    let place = usize::try_from(-1 - i64::from(number));
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    match place.ok().and_then(|place| said.get(place)) {
        Some(text) => Failure(text.clone()).into(),
        None => io::Error::from_raw_os_error(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_survive_as_numbers() {
        let error: io::Error = Failure("the server is gone".into()).into();
        let number = number_of(&error).unwrap();
        let again = failed(number);
        assert!(number < 0 && is_failure(&again));
        assert_eq!(again.to_string(), "the server is gone");
        assert_eq!(number_of(&again), Some(number));
        let system = io::Error::from_raw_os_error(5);
        assert_eq!(number_of(&system), Some(5));
        assert_eq!(failed(5).raw_os_error(), Some(5));
        assert_eq!(number_of(&io::Error::other("x")), None);
    }
}
