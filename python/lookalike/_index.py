"""Look texts up in a collection that is kept."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from . import _native
from ._native import Spool
from ._progress import Progress, command
from ._sources import source_of, text_columns
from ._spool import TEXT_FIELD, Texts, filled, flags_of

# The directory of the collection in the directory of an index.
COLLECTION = "collection"


def _removed(place: Path, process: int) -> None:
    """Remove a temporary directory, but not in a copy of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(place, ignore_errors=True)


class Index:
    """Texts in which other texts are looked up, exactly.

    The index is on disk. Several threads may call `query` at the same time, without the interpreter's
    lock; `add` waits for queries that have begun.

    Parameters
    ----------
    texts
        The texts, as for `find_pairs`.
    text
        The column with the texts, as for `find_pairs`.
    directory
        A new directory for the index and its texts, which `Index.open` opens again. By default a
        temporary directory that is removed with the index.
    markup, shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.
    memory, threads, scratch, progress
        As for `find_pairs`. The limits also hold for later calls.

    Examples
    --------
    >>> import lookalike
    >>> index = lookalike.Index(["one two three four", "something else"], shingle_size=2)
    >>> index.add(["one two three"])
    >>> [(match["id"], match["score"]) for match in index.query("one two three", threshold=0.6)]
    [(2, 1.0), (0, 0.666667)]
    """

    def __init__(
        self,
        texts: Texts,
        text: str | Iterable[str] = "text",
        *,
        directory: str | os.PathLike[str] | None = None,
        markup: str = "never",
        shingle_size: int = 10,
        tokens: str = "words",
        fold: str = "none",
        short: str = "whole",
        fingerprint: int | str = 64,
        seed: int = 0,
        memory: int | str | None = None,
        threads: int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> None:
        if directory is None:
            place = Path(tempfile.mkdtemp(prefix="lookalike-", dir=scratch))
            weakref.finalize(self, _removed, place, os.getpid())
        else:
            place = Path(directory)
            place.mkdir(parents=True)
        self._prepare(place / COLLECTION, memory, threads)
        self._flags: list[str] | None = flags_of(locals())
        self._text = text
        try:
            self._fill(filled(self._spool(text), texts, text), progress)
        except BaseException:
            # The same call can be made again.
            shutil.rmtree(place, ignore_errors=True)
            raise

    def _spool(self, text: str | Iterable[str], start: int = 0, every: bool = True) -> Spool:
        """A spool in which every row is a document, so that documents have the numbers of rows."""
        place = os.fspath(self.directory.parent)
        return Spool(place, text_columns(text), start=start, every=every)

    def _fill(self, spool: Spool, progress: Progress) -> None:
        """Make the collection of the first texts."""
        reading = spool.flags("ingest")
        reading = [flag for flag in reading if not flag.startswith("--max-document")]
        path = self._moved(spool)
        command(["stage", "ingest", path, "-o", self.directory, *reading, *(self._flags or ())], progress)
        self._command("index", progress)

    def _prepare(self, directory: Path, memory: int | str | None, threads: int | None) -> None:
        # The directory of the collection, as of a run.
        self.directory = directory
        self._limits = flags_of({"memory": memory, "threads": threads})
        self._queries = 0
        self._changed = threading.Condition()
        self._adding = threading.Lock()

    @classmethod
    def open(
        cls,
        directory: str | os.PathLike[str],
        *,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> Index:
        """Open the directory of an index, or of a `run`, whose documents can then be looked up. If it
        has no index yet, one is made in it.

        Parameters
        ----------
        directory
            The directory.
        memory, threads
            As for `find_pairs`.
        """
        index = cls.__new__(cls)
        place = Path(directory)
        own = (place / COLLECTION).is_dir() and not (place / "manifest.json").exists()
        index._prepare(place / COLLECTION if own else place, memory, threads)
        index._text = "text"
        index._flags = None
        index._command("index", None)
        return index

    @property
    def _own(self) -> bool:
        """Whether the documents are texts of this class, whose docnos are rows."""
        return self.directory.name == COLLECTION and any(self.directory.parent.glob("texts-*.jsonl"))

    def __len__(self) -> int:
        return int(self._status()["catalogue"]["documents"])

    def _status(self) -> Any:
        return json.loads(_native.command(["status", "--json", "--", self.directory]))

    def query(
        self,
        texts: Texts,
        threshold: float | str = 0.85,
        *,
        text: str | Iterable[str] = "text",
        score: str = "resemblance",
        containing: float | str | None = 0.8,
        top: int | None = 10,
    ) -> Any:
        """Find the texts that resemble or contain a text, the most similar first.

        Parameters
        ----------
        texts
            A text, or several as for `find_pairs`.
        threshold
            The lowest score of a match, as for `find_pairs`.
        text
            The column with the texts, if it is a table.
        score
            As for `find_pairs`.
        containing
            Also list texts that contain this share of the shingles of the query; None for no such
            texts.
        top
            The largest number of matches of a text; None for all.

        Returns
        -------
        list of dict
            For a single text, its matches; for several, a list of matches for each. A match has the
            members `id` (the row of the text, from 0, in the order in which the texts were added; the
            docno, if the index is of a `run`), `match` (identical, same words, near or contains), `score`,
            `contains_query`, `in_query` (shares of the shingles), `shared` and `keys` (numbers of
            shingles). Exact duplicates are represented by the first of them.
        """
        single = isinstance(texts, str)
        source = source_of([texts] if single else texts)
        flags = flags_of(locals(), ("threshold", "score"))
        flags.append(f"--containing={'none' if containing is None else containing}")
        flags.append(f"--top={top or 0}")
        spool = filled(Spool(None, text_columns(text), every=True), source, text)
        arguments = ["--json", *spool.flags("query"), *flags, *self._limits]
        with self._querying():
            printed = command(["query", *arguments, "--", self.directory, spool.path], None)
        replies = [json.loads(line) for line in printed.splitlines()]
        for row, reply in enumerate(replies):
            if "rejected" in reply:
                raise ValueError(f"the text in row {row} cannot be looked up: {reply['detail']}")
        own = self._own
        answers = []
        for reply in replies:
            matches = []
            for match in reply["matches"]:
                docno = match.pop("docno")
                matches.append({"id": int(docno) if own else docno, **match})
            answers.append(matches)
        return answers[0] if single else answers

    def add(
        self, texts: Texts, text: str | Iterable[str] | None = None, *, progress: Progress = None
    ) -> None:
        """Add texts, which get the next rows.

        Parameters
        ----------
        texts
            The texts, as for `find_pairs`. Not to an index of a `run`: use `Run.add` for its files.
        text
            The column with the texts; the same as before by default.
        progress
            As for `find_pairs`.
        """
        if not self._own:
            raise ValueError("this index is of a run over files: add files with Run.add")
        text = self._text if text is None else text
        with self._adding:
            known = TEXT_FIELD + self._status()["collection"]["read"]["text_field"]
            # An index of several columns that an earlier version made has no documents of other rows.
            every = not len(self) or "lookalike text" in known
            spool = filled(self._spool(text, len(self), every), texts, text)
            if not spool.rows:
                return
            field = next(flag for flag in spool.flags("add") if flag.startswith(TEXT_FIELD))
            with self._changed:
                self._changed.wait_for(lambda: self._queries == 0)
                if field != known and self._flags is not None and not len(self):
                    # It has no texts that are read otherwise.
                    shutil.rmtree(self.directory)
                    return self._fill(spool, progress)
                if field != known:
                    raise ValueError(
                        f"text={text!r}: the texts of this index are not in the same columns, but"
                        f" in {known.removeprefix(TEXT_FIELD)}: give the new ones the same names"
                    )
                path = self._moved(spool)
                flags = ["--strict", *self._limits]
                command(["add", *flags, "--", self.directory, path], progress)
                self._command("index", progress)

    def _moved(self, spool: Spool) -> Path:
        """The file of a spool at its final place."""
        place = self.directory.parent
        path = place / f"texts-{len(list(place.glob('texts-*.jsonl')))}.jsonl"
        os.rename(spool.path, path)
        return path

    def _command(self, name: str, progress: Progress) -> None:
        command(["stage", name, *self._limits, "--", self.directory], progress)

    @contextlib.contextmanager
    def _querying(self) -> Iterator[None]:
        with self._changed:
            self._queries += 1
        try:
            yield
        finally:
            with self._changed:
                self._queries -= 1
                self._changed.notify_all()

    def __repr__(self) -> str:
        return f"lookalike.Index({os.fspath(self.directory)!r})"
