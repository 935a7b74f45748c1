//! Items of a sort: small types with named fields, which the sort keeps as six numbers.

/// An item that [`super::Sort`] can sort. It is kept as six numbers of 32 bits, and sorted by them.
pub trait Item: Copy {
    /// Its numbers, the first sort key first.
    fn words(&self) -> [u32; 6];

    /// The item that has these numbers.
    fn of(words: [u32; 6]) -> Self;
}

/// A field of an item, stored as a number that sorts as the field does.
pub trait Field: Copy {
    /// Bits of the number, a multiple of 32.
    const BITS: u32;

    fn number(self) -> u128;
    fn of(number: u128) -> Self;

    /// Writes the number at the end of the first `at` words.
    #[inline(always)]
    fn put(self, words: &mut [u32; 6], at: &mut usize) {
        for n in (0..Self::BITS / 32).rev() {
            words[*at] = (self.number() >> (32 * n)) as u32;
            *at += 1;
        }
    }

    /// Reads the number behind the first `at` words.
    #[inline(always)]
    fn take(words: &[u32; 6], at: &mut usize) -> Self {
        let mut number = 0;
        for _ in 0..Self::BITS / 32 {
            number = number << 32 | u128::from(words[*at]);
            *at += 1;
        }
        Self::of(number)
    }
}

/// Makes fields of types, given how they become numbers and numbers become them.
#[macro_export]
macro_rules! field {
    ($($type:ty, $bits:literal, $number:expr, $of:expr;)+) => {$(
        impl $crate::item::Field for $type {
            const BITS: u32 = $bits;

            #[inline(always)]
            fn number(self) -> u128 {
                $number(self)
            }

            #[inline(always)]
            fn of(number: u128) -> Self {
                $of(number)
            }
        }
    )+};
}
pub use field;

field! {
    bool, 32, u128::from, |number| number != 0;
    u32, 32, u128::from, |number| number as u32;
    u64, 64, u128::from, |number| number as u64;
    u128, 128, u128::from, |number| number;
}

/// Declares a type of items, whose fields are sort keys in the order in which they stand.
#[macro_export]
macro_rules! item {
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $name {
            /// Makes an item of these fields.
            #[allow(dead_code, reason = "some items are made field by field")]
            #[inline]
            pub fn new($($field: $type),+) -> $name {
                $name { $($field),+ }
            }
        }

        impl $crate::Item for $name {
            #[inline]
            fn words(&self) -> [u32; 6] {
                let (mut words, mut at) = ([0; 6], 0);
                $($crate::item::Field::put(self.$field, &mut words, &mut at);)+
                words
            }

            #[inline]
            fn of(words: [u32; 6]) -> $name {
                let mut at = 0;
                $name { $($field: $crate::item::Field::take(&words, &mut at),)+ }
            }
        }
    };
}
pub use item;

#[cfg(test)]
mod tests {
    use super::*;

    item! {
        /// An item with every kind of field.
        struct Any {
            wide: u64,
            is_last: bool,
            narrow: u32,
            more: u64,
        }
    }

    item! {
        struct Key {
            key: u128,
        }
    }

    #[test]
    fn fields_are_kept_in_order() {
        let any = Any {
            wide: 1 << 32 | 2,
            is_last: true,
            narrow: 3,
            more: 4 << 32 | 5,
        };
        assert_eq!(any.words(), [1, 2, 1, 3, 4, 5]);
        assert_eq!(Any::of(any.words()), any);
        let key = Key {
            key: 1 << 96 | 2 << 64 | 3 << 32 | 4,
        };
        assert_eq!(key.words(), [1, 2, 3, 4, 0, 0]);
        assert_eq!(Key::of(key.words()), key);
    }
}
