//! Items of a sort: small types with named fields, of which the sort keeps six numbers.

/// An item that [`super::Sort`] can sort. It is kept as six numbers of 32 bits, and sorted by them.
pub trait Item: Copy {
    /// Its numbers, the first sort key first.
    fn words(&self) -> [u32; 6];

    /// The item that has these numbers.
    fn of(words: [u32; 6]) -> Self;
}

/// A field of an item: one number of 32 bits or several, whose order is that of the field.
pub(crate) trait Field: Sized {
    /// Writes its numbers. Returns the rest of `words`.
    fn put(self, words: &mut [u32]) -> &mut [u32];

    /// Reads its numbers. Returns also the rest of `words`.
    fn take(words: &[u32]) -> (Self, &[u32]);
}

impl Field for u32 {
    #[inline(always)]
    fn put(self, words: &mut [u32]) -> &mut [u32] {
        let (own, rest) = words.split_at_mut(1);
        own[0] = self;
        rest
    }

    #[inline(always)]
    fn take(words: &[u32]) -> (u32, &[u32]) {
        (words[0], &words[1..])
    }
}

/// Fields that consist of two others: the type, how it is split, and how it is put together.
macro_rules! halves {
    ($type:ty, $half:ty, $split:expr, $join:expr) => {
        impl $crate::store::item::Field for $type {
            #[inline(always)]
            fn put(self, words: &mut [u32]) -> &mut [u32] {
                let (high, low): ($half, $half) = $split(self);
                low.put(high.put(words))
            }

            #[inline(always)]
            fn take(words: &[u32]) -> (Self, &[u32]) {
                let (high, words) = <$half>::take(words);
                let (low, words) = <$half>::take(words);
                ($join(high, low), words)
            }
        }
    };
}
pub(crate) use halves;

halves!(
    u64,
    u32,
    |number| ((number >> 32) as u32, number as u32),
    |high, low| u64::from(high) << 32 | u64::from(low)
);
halves!(
    u128,
    u64,
    |number| ((number >> 64) as u64, number as u64),
    |high, low| u128::from(high) << 64 | u128::from(low)
);

impl Field for bool {
    #[inline(always)]
    fn put(self, words: &mut [u32]) -> &mut [u32] {
        u32::from(self).put(words)
    }

    #[inline(always)]
    fn take(words: &[u32]) -> (bool, &[u32]) {
        let (number, rest) = u32::take(words);
        (number != 0, rest)
    }
}

/// Declares a type of items, whose fields are sort keys in the order in which they stand.
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

        impl $crate::store::Item for $name {
            #[inline]
            fn words(&self) -> [u32; 6] {
                let mut words = [0; 6];
                let rest = &mut words[..];
                $(let rest = $crate::store::item::Field::put(self.$field, rest);)+
                let _ = rest;
                words
            }

            #[inline]
            fn of(words: [u32; 6]) -> $name {
                let rest = &words[..];
                $(let ($field, rest) = <$type as $crate::store::item::Field>::take(rest);)+
                let _ = rest;
                $name { $($field,)+ }
            }
        }
    };
}
pub(crate) use item;

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
