//! Addresses of objects.

use std::io;
use std::path::Path;

use lookalike_base::cut_after;
use object_store::path::Path as Key;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    S3,
    Google,
    Azure,
    Web,
    /// The Hugging Face hub.
    Hub,
}

/// The address of an object, or of the objects below a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub kind: Kind,
    /// The part before the key, as given: `s3://bucket`.
    pub base: String,
    /// The bucket, the container, or the host.
    pub bucket: String,
    /// The rest, as given.
    pub key: String,
}

/// A dataset of the hub, a revision, and a path in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InDataset<'a> {
    pub dataset: String,
    pub revision: &'a str,
    pub path: &'a str,
}

fn wrong(address: &str, why: &str) -> io::Error {
    let address = shown(address);
    io::Error::new(io::ErrorKind::InvalidInput, format!("{address}: {why}"))
}

/// A name as a message has it: that of a stranger may fill the screen.
pub(super) fn shown(name: &str) -> String {
    const CHARS: usize = 200;
    cut_after(name.into(), CHARS)
}

impl Address {
    pub fn of(path: &Path) -> io::Result<Address> {
        let text = path
            .to_str()
            .ok_or_else(|| wrong(&path.display().to_string(), "an address is UTF-8"))?;
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong(text, "an address begins with SCHEME://"))?;
        let kind = match scheme.to_ascii_lowercase().as_str() {
            "s3" => Kind::S3,
            "gs" => Kind::Google,
            "az" => Kind::Azure,
            "http" | "https" => Kind::Web,
            "hf" => Kind::Hub,
            _ => return Err(wrong(text, "this scheme is not known")),
        };
        if let Some((shown, why)) = super::secret(path) {
            return Err(wrong(&shown, why));
        }
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            let what = match kind {
                Kind::Web => "it names no host",
                _ => "it names no bucket",
            };
            return Err(wrong(text, what));
        }
        let address = Address {
            kind,
            base: format!("{}://{bucket}", scheme.to_ascii_lowercase()),
            bucket: bucket.into(),
            key: key.into(),
        };
        if kind == Kind::Hub {
            address.in_dataset()?;
        }
        address.check()?;
        Ok(address)
    }

    /// Refuses an address that is too long for a request, or for the name of an input.
    pub fn check(&self) -> io::Result<()> {
        let path = format!("{}/{}", self.bucket, self.key);
        match super::is_short(path.trim_end_matches('/')) {
            true => Ok(()),
            false => {
                let parts = path.split('/').count();
                let found = format!("{} bytes and {parts} names", path.len());
                let what = format!("an address has {}; this one has {found}", super::short());
                Err(wrong(&self.text(), &what))
            }
        }
    }

    /// Its key in the store.
    pub fn path(&self) -> io::Result<Key> {
        let key = self.key.trim_end_matches('/');
        let parsed = match self.kind {
            Kind::Web => Key::from_url_path(key),
            Kind::Hub => {
                let of = self.in_dataset()?;
                let (dataset, revision, path) = (of.dataset, of.revision, of.path);
                Key::parse(format!("datasets/{dataset}/resolve/{revision}/{path}"))
            }
            _ => Key::parse(key),
        };
        parsed.map_err(|error| wrong(&self.text(), &error.to_string()))
    }

    /// The address as text.
    pub fn text(&self) -> String {
        match self.key.is_empty() {
            true => self.base.clone(),
            false => format!("{}/{}", self.base, self.key),
        }
    }

    /// `hf://datasets/OWNER/NAME@REVISION/PATH`
    pub fn in_dataset(&self) -> io::Result<InDataset<'_>> {
        let mut parts = self.key.splitn(3, '/');
        let (owner, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let path = parts.next().unwrap_or("");
        let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
        if self.bucket != "datasets" || [owner, name, revision].contains(&"") {
            return Err(wrong(
                &self.text(),
                "an address on the hub is hf://datasets/OWNER/NAME@REVISION/PATH; @REVISION may be left out",
            ));
        }
        Ok(InDataset {
            dataset: format!("{owner}/{name}"),
            revision,
            path,
        })
    }

    /// Another object in the same store.
    pub fn at(&self, key: &str) -> Address {
        Address {
            key: key.into(),
            ..self.clone()
        }
    }

    /// If the key has the signs of a glob: the part before the component that has the first, and
    /// whether it ends there.
    pub fn before_glob(&self) -> Option<&str> {
        if self.kind == Kind::Web {
            return None;
        }
        let at = self.key.find(super::GLOB)?;
        Some(&self.key[..self.key[..at].rfind('/').map_or(0, |slash| slash + 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> io::Result<Address> {
        Address::of(Path::new(text))
    }

    #[test]
    fn addresses_have_parts() {
        let address = of("S3://bucket/a b/c#d.gz").unwrap();
        assert_eq!((address.kind, &*address.bucket), (Kind::S3, "bucket"));
        assert_eq!(address.text(), "s3://bucket/a b/c#d.gz");
        assert_eq!(address.path().unwrap().as_ref(), "a b/c#d.gz");
        assert_eq!(of("gs://bucket").unwrap().path().unwrap().as_ref(), "");
        let web = of("https://host:80/a%20b.gz").unwrap();
        assert_eq!(web.path().unwrap().as_ref(), "a b.gz");
        let hub = of("hf://datasets/o/n@r/d/x.parquet").unwrap();
        assert_eq!(
            hub.path().unwrap().as_ref(),
            "datasets/o/n/resolve/r/d/x.parquet"
        );
        let hub = of("hf://datasets/o/n").unwrap();
        let parts = hub.in_dataset().unwrap();
        assert_eq!((parts.revision, parts.path), ("main", ""));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "s3:///key",
            "https://host/a?b",
            "hf://models/a/b",
            "hf://datasets/a",
            "hf://datasets/a/b@/c",
            "x://a/b",
            &format!("s3://bucket/{}", "k".repeat(4089)),
            &format!("s3://bucket{}", "/d".repeat(256)),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.len() < 400, "{error}");
        }
        assert!(of(&format!("s3://bucket/{}", "k".repeat(4088))).is_ok());
        assert!(of(&format!("s3://bucket{}/", "/d".repeat(255))).is_ok());
        assert!(of("s3://bucket/a//b").unwrap().path().is_err());
    }

    #[test]
    fn globs_begin_at_a_component() {
        let before = |text: &str| of(text).unwrap().before_glob().map(String::from);
        assert_eq!(before("s3://b/a/*.gz").as_deref(), Some("a/"));
        assert_eq!(before("s3://b/x*/y").as_deref(), Some(""));
        assert_eq!(before("s3://b/x/y"), None);
        assert_eq!(before("https://b/x*"), None);
    }
}
