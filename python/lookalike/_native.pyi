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
