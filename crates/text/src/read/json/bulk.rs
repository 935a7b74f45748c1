//! Records of the bulk format of Elasticsearch and OpenSearch: the line of an action, and the line
//! of its document unless it deletes one.

use std::borrow::Cow;
use std::cell::Cell;

use super::JsonObject;
use super::values::{Kind, members, named, text_of};
use crate::read::ground::bytes::first_line;
use crate::read::ground::config::ReadConfig;
use crate::read::ground::fields::Known;
use crate::read::ground::outcome::{Interpreter, Outcome, refused};
use lookalike_source::Reason;

/// The longest line of an action.
const LONGEST: usize = 4 << 10;

/// The members that an action may have about its document. Other objects with a member such as
/// `delete`, as in streams of posts, are not actions.
const SAYS: &str = "_id _index _type _routing routing _version version version_type _version_type \
                    _parent parent pipeline op_type if_seq_no if_primary_term require_alias \
                    require_data_stream retry_on_conflict _retry_on_conflict dynamic_templates \
                    list_executed_pipelines _source timestamp ttl";

/// An action.
pub(crate) struct Action {
    /// Whether it deletes a document, which does not follow.
    pub deletes: bool,
    /// Whether its document is a part of what follows.
    updates: bool,
    id: Option<String>,
}

impl Action {
    /// The action in the first line of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Option<Action> {
        let line = first_line(bytes);
        let line = std::str::from_utf8(line.get(..line.len().min(LONGEST))?).ok()?;
        let (all, said) = (Cell::new(0), Cell::new(true));
        let count = |_: &str| {
            all.set(all.get() + 1);
            true
        };
        let members_of = members(line, count).ok()?;
        let (name, what) = members_of.first().filter(|_| all.get() == 1)?;
        if what.kind != Kind::Object || !matches!(&**name, "index" | "create" | "update" | "delete")
        {
            return None;
        }
        let inner = what.text(line);
        let says = members(inner, |name| {
            said.set(said.get() && SAYS.split(' ').any(|known| known == name));
            name == "_id"
        });
        let says = says.ok().filter(|_| said.get())?;
        let id = named(&says, "_id").filter(|id| id.kind != Kind::Null);
        Some(Action {
            deletes: name == "delete",
            updates: name == "update",
            id: id.map(|id| match id.kind {
                Kind::String { .. } => text_of(inner, id).into_owned(),
                _ => id.text(inner).to_string(),
            }),
        })
    }
}

/// An action with its document.
pub(crate) struct BulkRecord;

impl BulkRecord {
    /// The object with the document; empty if none follows. Of an update it is the part to change,
    /// or else the document for the case that there is none (`upsert`).
    fn source(bytes: &[u8]) -> &[u8] {
        let rest = bytes[first_line(bytes).len()..].trim_ascii_start();
        let updates = Action::of(bytes).is_some_and(|action| action.updates);
        let part = || Self::part(rest, "doc").or_else(|| Self::part(rest, "upsert"));
        updates.then(part).flatten().unwrap_or(rest)
    }

    /// A member of an update.
    fn part<'a>(rest: &'a [u8], name: &str) -> Option<&'a [u8]> {
        let text = std::str::from_utf8(rest).ok()?;
        let members = members(text, |found| found == name).ok()?;
        named(&members, name).map(|part| part.text(text).as_bytes())
    }
}

impl Interpreter for BulkRecord {
    fn document<'a>(&self, bytes: &'a [u8], config: &ReadConfig) -> Outcome<'a> {
        let action = Action::of(bytes);
        if action.as_ref().is_some_and(|action| action.deletes) {
            return Outcome::Skipped("delete");
        }
        let updates = action.as_ref().is_some_and(|action| action.updates);
        let id = action.and_then(|action| action.id).map(Cow::Owned);
        let source = Self::source(bytes);
        if source.is_empty() {
            return refused(id, Reason::MissingText, "no document follows the action");
        }
        match JsonObject.document(source, config) {
            Outcome::Document(mut parts) => {
                if let (true, Some(id)) = (parts.docno.is_empty(), id) {
                    parts.docno = id;
                }
                let rest = &bytes[first_line(bytes).len()..];
                if updates && Self::part(rest, "upsert").is_some_and(|other| other != source) {
                    let detail = "the update has doc and upsert, of which doc counts";
                    parts.notices.push((Reason::PartsLeft, detail.into()));
                }
                Outcome::Document(parts)
            }
            Outcome::Refused(docno, refusal) => Outcome::Refused(docno.or(id), refusal),
            other => other,
        }
    }

    fn docno(&self, head: &[u8]) -> Option<String> {
        let id = Action::of(head).and_then(|action| action.id);
        JsonObject.docno(Self::source(head)).or(id)
    }

    fn field(&self, bytes: &[u8], name: &str) -> Option<String> {
        JsonObject.field(Self::source(bytes), name)
    }

    fn known(&self, bytes: &[u8]) -> Vec<Known> {
        JsonObject.known(Self::source(bytes))
    }

    fn date(&self, bytes: &[u8]) -> Option<String> {
        JsonObject.date(Self::source(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_told_from_documents() {
        for (line, id) in [
            (r#"{"index":{"_index":"x","_id":"d0"}}"#, Some("d0")),
            ("{ \"create\" : { } }\r\n{\"text\":\"a\"}", None),
            (r#"{"update":{"_id":7,"retry_on_conflict":3}}"#, Some("7")),
            (r#"{"delete":{"_id":"a\"b"}}"#, Some("a\"b")),
        ] {
            let action = Action::of(line.as_bytes());
            assert_eq!(action.map(|action| action.id), Some(id.map(Into::into)));
        }
        for line in [
            r#"{"delete":{"status":{"id":7}}}"#,
            r#"{"index":{"_id":"a"},"text":"b"}"#,
            r#"{"index":7}"#,
            r#"{"text":"a"}"#,
            r#"{"index":{"#,
            "",
        ] {
            assert!(Action::of(line.as_bytes()).is_none(), "{line}");
        }
    }
}
