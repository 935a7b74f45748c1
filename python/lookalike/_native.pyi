"""The compiled part of the package."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

__version__: str

class Error(Exception):
    """A failure."""

    path: Path | None
    offset: int | None
    help: str | None

def command(
    arguments: Sequence[str | PathLike[str]],
    progress: Callable[
        [str, str | None, str | None, int | None, int | None, str | None], object
    ]
    | None = None,
) -> str: ...
def flags(name: str) -> list[tuple[str, bool, bool, list[str], str]]: ...

class Table:
    """A table that can be read any number of times, by the Arrow PyCapsule interface."""

    @property
    def columns(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Spool:
    """Texts that wait for a command."""

    def __init__(
        self,
        directory: str | None,
        text: str,
        id: str | None = None,
        fields: list[str] = ...,
        memory: str | None = None,
    ) -> None: ...
    @property
    def directory(self) -> Path: ...
    @property
    def rows(self) -> int: ...
    @property
    def path(self) -> Path: ...
    def flags(self, command: str) -> list[str]: ...
    def add(self, object: object) -> None: ...
    def add_texts(self, texts: list[str]) -> None: ...
    def identify(self, ids: object) -> None: ...
    def pairs(self, directory: str | PathLike[str]) -> Table: ...
    def kept(self, removed: str | PathLike[str]) -> Table: ...

def table(directory: str | PathLike[str], name: str) -> Table: ...
def tokens(text: str, tokens: str) -> list[str]: ...
def shingles(text: str, shingle_size: int, tokens: str, short: str) -> list[str]: ...
def fingerprints(
    text: str, shingle_size: int, tokens: str, short: str, fingerprint: str, seed: int
) -> list[int]: ...
def score(
    a: str,
    b: str,
    measure: str,
    shingle_size: int,
    tokens: str,
    short: str,
    fingerprint: str,
    seed: int,
) -> float: ...
