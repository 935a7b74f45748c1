//! Values that have a text: in flags, in columns and members of result files, in manifests.

/// Stores a type in serde formats as the text that it is displayed as and read from.
#[macro_export]
macro_rules! stored_as_text {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let text: String = serde::Deserialize::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub use stored_as_text;

/// Declares an enum of words, with the word of each value.
///
/// The enum is [`Copy`] and [`Eq`], and displayed as its word. It has `ALL`, every value in the
/// order of the declaration, and `text`, the word. A text after the name of the enum makes it a
/// choice of the user: the enum is read from its words (by serde as well), and the error for
/// another word consists of this word, the text, and the words that are possible. After `|` stands the
/// word of an earlier version.
#[macro_export]
macro_rules! keywords {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident $(: $wrong:literal)? {
            $($(#[$of_value:meta])* $value:ident = $word:literal $(| $old:literal)?),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$of_value])* $value),+
        }

        impl $name {
            /// Every value, in the order of the declaration.
            #[allow(dead_code, reason = "not every enum is listed")]
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$value),+];

            const WORDS: &'static [&'static str] = &[$($word),+];

            /// The words of earlier versions, which are still read.
            #[allow(dead_code, reason = "not every enum is read")]
            const OLD: &'static [(&'static str, $name)] = &[$($(($old, $name::$value),)?)+];

            /// The word.
            #[must_use]
            pub fn text(self) -> &'static str {
                Self::WORDS[self as usize]
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.text())
            }
        }

        $(impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let found = $name::ALL.into_iter().find(|value| value.text() == text);
                let mut old = $name::OLD.iter().filter(|(word, _)| *word == text);
                let found = found.or_else(|| old.next().map(|(_, value)| *value));
                found.ok_or_else(|| {
                    let words = $crate::keywords::alternatives($name::WORDS);
                    format!("`{text}` {} {words}", $wrong)
                })
            }
        }

        $crate::keywords::stored_as_text!($name);)?
    };
}

pub use keywords;

/// Words as a sentence offers them: `a, b or c`.
pub fn alternatives(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        words => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    keywords! {
        /// A fruit.
        #[derive(Default)]
        enum Fruit: "is not a fruit; use" {
            #[default]
            Apple = "apple",
            BlackCurrant = "black-currant" | "cassis",
            Pear = "pear",
        }
    }

    #[test]
    fn a_keyword_is_its_word_everywhere() {
        for fruit in Fruit::ALL {
            assert_eq!(fruit.text().parse(), Ok(fruit));
            assert_eq!(fruit.to_string(), fruit.text());
            let json = format!("\"{fruit}\"");
            assert_eq!(serde_json::to_string(&fruit).unwrap(), json);
            assert_eq!(serde_json::from_str::<Fruit>(&json).unwrap(), fruit);
        }
        assert_eq!(format!("{:>6}|", Fruit::default()), " apple|");
        assert_eq!("cassis".parse(), Ok(Fruit::BlackCurrant));
        let unknown = "fig".parse::<Fruit>().unwrap_err();
        let possible = "apple, black-currant or pear";
        assert_eq!(unknown, format!("`fig` is not a fruit; use {possible}"));
        let stored = serde_json::from_str::<Fruit>("\"fig\"").unwrap_err();
        assert!(stored.to_string().starts_with(&unknown), "{stored}");
    }

    #[test]
    fn alternatives_read_as_a_sentence() {
        let read = [vec![], vec!["a"], vec!["a", "b"], vec!["a", "b", "c"]];
        assert_eq!(
            read.map(|words| alternatives(&words)),
            ["", "a", "a or b", "a, b or c"]
        );
    }
}
