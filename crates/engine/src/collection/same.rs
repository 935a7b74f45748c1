//! The digests of the texts of documents that share their words.

use lookalike_base::{Bits, Ranks, Result};
use lookalike_store::Workspace;

use super::catalogue::Catalogue;
use super::text_digest::{Sameness, TextDigest};

/// The digests of the texts of all documents that share their words with another document.
pub struct SharedTexts {
    places: Ranks,
    digests: Vec<TextDigest>,
}

impl SharedTexts {
    /// Bytes of memory.
    pub fn bytes(workspace: &Workspace) -> Result<u64> {
        let (mut documents, mut duplicates) = (0, 0);
        Catalogue::each_representative(workspace, |document, first| {
            documents += 1;
            duplicates += u64::from(document != first);
            Ok(())
        })?;
        // Each duplicate, and at most as many documents that are the first with their words.
        Ok(Ranks::bytes(documents) + 2 * duplicates * size_of::<TextDigest>() as u64)
    }

    /// Finds these documents. Their digests are yet to be put.
    pub fn new(workspace: &Workspace) -> Result<SharedTexts> {
        let mut sharing = Bits::new(Catalogue::extent(workspace)?.documents as usize);
        Catalogue::each_representative(workspace, |document, first| {
            if document != first {
                sharing.insert(document);
                sharing.insert(first);
            }
            Ok(())
        })?;
        let places = Ranks::of(sharing);
        let digests = vec![TextDigest::default(); places.count() as usize];
        Ok(SharedTexts { places, digests })
    }

    /// Puts the digest of a document.
    pub fn put(&mut self, document: u32, digest: TextDigest) {
        if let Some(place) = self.places.get(document) {
            self.digests[place as usize] = digest;
        }
    }

    /// The digest of a document that shares its words, if it is known.
    pub fn digest(&self, document: u32) -> Option<u64> {
        let digest = self.digests[self.places.get(document)? as usize];
        (!digest.is_unknown()).then(|| u64::from_le_bytes(digest.0))
    }

    /// Compares two different documents that have the same words.
    pub fn compare(&self, a: u32, b: u32) -> Sameness {
        let [a, b] = [a, b].map(|document| match self.places.get(document) {
            Some(place) => self.digests[place as usize],
            None => TextDigest::default(),
        });
        Sameness::of(a, b)
    }
}
