//! State that belongs to one command, of which a process may run several at once.
//!
//! A module that keeps something for the length of a command asks for it with [`state`]. The threads
//! that a command starts (`base::threads`) belong to it. All calls of the library
//! outside of commands share one state.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The state of a command: one value of each type.
#[derive(Clone, Default)]
pub struct Command(Arc<Mutex<Vec<Arc<dyn Any + Send + Sync>>>>);

thread_local! {
    static CURRENT: RefCell<Option<Command>> = const { RefCell::new(None) };
}

/// The command of this thread.
pub fn current() -> Command {
    static OUTSIDE: LazyLock<Command> = LazyLock::new(Command::default);
    let current = CURRENT.with_borrow(Clone::clone);
    current.unwrap_or_else(|| OUTSIDE.clone())
}

/// The state of this type, which begins as its default.
pub fn state<T: Any + Default + Send + Sync>() -> Arc<T> {
    let command = current();
    let mut states = command.0.lock().unwrap_or_else(PoisonError::into_inner);
    let known = states
        .iter()
        .find_map(|state| state.clone().downcast().ok());
    known.unwrap_or_else(|| {
        let state = Arc::<T>::default();
        states.push(state.clone());
        state
    })
}

impl Command {
    /// Does work of this command.
    pub fn run<T>(self, work: impl FnOnce() -> T) -> T {
        /// The command that the thread had before, also after a panic.
        struct Before(Option<Command>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _before = Before(CURRENT.replace(Some(self)));
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::{lock, scope, wait_together};

    #[test]
    fn threads_have_the_state_of_their_command_and_no_other() {
        let name = || lock(&state::<Mutex<String>>()).clone();
        let named = |text: &str| {
            let begun = |text: &str| {
                assert_eq!(name(), "");
                lock(&state::<Mutex<String>>()).push_str(text);
                scope(|scope| {
                    let inner = scope.spawn(|| scope_of(name));
                    assert_eq!(inner.join().unwrap(), text);
                });
                wait_together(&[0; 8], 3, |_| match name() == text {
                    true => Ok(()),
                    false => Err(()),
                })
                .unwrap();
                assert_eq!(name(), text);
            };
            Command::default().run(|| begun(text));
        };
        fn scope_of(name: impl Fn() -> String + Sync) -> String {
            scope(|scope| scope.spawn(&name).join().unwrap())
        }
        std::thread::scope(|scope| {
            let texts = ["a", "b", "c"];
            for text in texts {
                scope.spawn(move || (0..100).for_each(|_| named(text)));
            }
        });
        let panicked = std::panic::catch_unwind(|| Command::default().run(|| panic!("as asked")));
        assert!(panicked.is_err() && CURRENT.with_borrow(Option::is_none));
    }
}
