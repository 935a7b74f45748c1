//! Values that documents have from a format version on.

use bincode::de::BorrowDecoder;
use bincode::error::DecodeError;
use bincode::{BorrowDecode, Encode};
use serde::Serialize;

/// A value that documents have from a format version on, and the default before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Serialize)]
pub struct Since<const VERSION: u16, T>(pub T);

impl<const VERSION: u16, T: Default + PartialEq> Since<VERSION, T> {
    pub(super) fn is_default(&self) -> bool {
        self.0 == T::default()
    }
}

impl<'b, const VERSION: u16, T> BorrowDecode<'b, u16> for Since<VERSION, T>
where
    T: BorrowDecode<'b, u16> + Default,
{
    fn borrow_decode<D: BorrowDecoder<'b, Context = u16>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        match *decoder.context() >= VERSION {
            true => BorrowDecode::borrow_decode(decoder).map(Since),
            false => Ok(Since::default()),
        }
    }
}
