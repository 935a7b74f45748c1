//! Stand-ins for a program without the feature `remote`. No path is an address there, so nothing of
//! this is called.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Begun;
use crate::metadata::Metadata;

fn none<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn list(_: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    none()
}

pub fn below(_: &Path, _: usize) -> io::Result<Vec<(String, Metadata)>> {
    none()
}

pub fn check_writable(_: &Path) -> io::Result<()> {
    none()
}

pub fn abort(_: &Path, _: &str) -> io::Result<()> {
    none()
}

pub fn memory_of_upload(_: u64) -> u64 {
    0
}

#[derive(Debug)]
pub enum Upload {}

impl Upload {
    pub fn create(_: &Path, _: u64, _: Option<Arc<Begun>>) -> io::Result<Upload> {
        none()
    }

    pub fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub fn seal(&mut self) -> io::Result<()> {
        match *self {}
    }

    pub fn place(&mut self) -> io::Result<Option<String>> {
        match *self {}
    }
}
