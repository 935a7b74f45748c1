//! Texts of several fields, and of fields in lists: `prompt,completion` and `messages[].content`.
//!
//! The text of most objects is one field, which `json.rs` takes without copying it. What this
//! module gathers costs another pass over the object for each field.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A step on the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'p> {
    /// The field of this name, or the element of this number, from 0.
    Name(&'p str),
    /// All elements of a list.
    All,
}

/// The steps of a path: names joined by dots, each with any number of `[]` or `[N]` after it.
pub(super) fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let name = part.len() - brackets(part).map(|(_, length)| length).sum::<usize>();
        let at = steps.len();
        steps.extend(brackets(part).map(|(step, _)| step));
        steps[at..].reverse();
        steps.insert(at, Step::Name(&part[..name]));
    }
    steps
}

/// The brackets at the end of a part, the last first, and their lengths.
fn brackets(part: &str) -> impl Iterator<Item = (Step<'_>, usize)> {
    let mut rest = part;
    std::iter::from_fn(move || {
        let (before, inside) = rest.strip_suffix(']')?.rsplit_once('[')?;
        if before.is_empty() || !inside.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        rest = before;
        let step = if inside.is_empty() {
            Step::All
        } else {
            Step::Name(inside)
        };
        Some((step, inside.len() + 2))
    })
}

/// Whether the field of the last step of every path is called `name`.
pub(super) fn all_end_in(paths: &str, name: &str) -> bool {
    let mut paths = paths.split(',');
    paths.all(|path| steps(path).last() == Some(&Step::Name(name)))
}

/// The strings at these paths, which are separated by commas, joined as lines in the order of the
/// paths; `None` if there is no string.
pub(super) fn gather(object: &str, paths: &str) -> serde_json::Result<Option<String>> {
    let mut found = None;
    for path in paths.split(',') {
        let steps = steps(path);
        let (steps, found) = (&steps[..], &mut found);
        Gather { steps, found }.deserialize(&mut serde_json::Deserializer::from_str(object))?;
    }
    Ok(found)
}

/// Appends the strings at the end of the steps.
struct Gather<'s> {
    steps: &'s [Step<'s>],
    found: &'s mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Gather<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Gather<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.steps.is_empty() {
            match self.found {
                Some(found) => {
                    found.push('\n');
                    found.push_str(text);
                }
                None => *self.found = Some(text.to_string()),
            }
        }
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let (steps, wanted) = match self.steps {
            // A list of strings is a text, too.
            [] => (self.steps, None),
            [Step::All, steps @ ..] => (steps, None),
            [Step::Name(name), steps @ ..] => (steps, Some(name.parse().unwrap_or(usize::MAX))),
        };
        let mut at = 0;
        loop {
            let found = &mut *self.found;
            let more = if wanted.is_none_or(|wanted| wanted == at) {
                values.next_element_seed(Gather { steps, found })?.is_some()
            } else {
                values.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                return Ok(());
            }
            at += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut wanted = match self.steps {
            [Step::Name(name), steps @ ..] => Some((*name, steps)),
            _ => None,
        };
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            // Of a repeated name, the first counts.
            match wanted.take_if(|(wanted, _)| *wanted == name) {
                Some((_, steps)) => {
                    let found = &mut *self.found;
                    map.next_value_seed(Gather { steps, found })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_objects_and_lists() {
        let object = r#"{"prompt":"p","n":1,"messages":[{"role":"u","content":"a\nb"},{"role":"s"},
            {"content":"c"}],"parts":[["x","y"],["z"]],"tags":["t",5,"u"],"a":{"0":"zero"},"html":"<p>",
            "b[c]":"literal","prompt":"again"}"#;
        for (paths, expected) in [
            ("prompt", Some("p")),
            ("prompt,html", Some("p\n<p>")),
            ("html,none,prompt", Some("<p>\np")),
            ("messages[].content", Some("a\nb\nc")),
            ("messages.0.content", Some("a\nb")),
            ("messages[2].content", Some("c")),
            ("messages.1.content", None),
            ("messages.9.content", None),
            ("messages.content", None),
            ("messages[].role,prompt", Some("u\ns\np")),
            ("parts[][]", Some("x\ny\nz")),
            ("parts[1]", Some("z")),
            ("parts[][0]", Some("x\nz")),
            ("tags", Some("t\nu")),
            ("a.0", Some("zero")),
            ("a[]", None),
            ("b[c]", Some("literal")),
            ("n", None),
            ("n.x", None),
        ] {
            let found = gather(object, paths).unwrap();
            assert_eq!(found.as_deref(), expected, "{paths}");
        }
        assert!(all_end_in("page.html", "html") && !all_end_in("html,text", "html"));
    }
}
