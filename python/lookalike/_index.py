"""Look texts up in a collection that is kept."""

# A text is also an iterable of str.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Union, overload

from . import _native
from ._native import Spool
from ._progress import Progress, command
from ._sources import source_of, text_columns
from ._spool import TEXT_FIELD, Texts, filled, flags_of, formerly, hinting, identify, ids_of
from ._table import Table

# This file says how the texts of an index are read, how many were removed, and which generation of
# files is valid: a removal that is stopped leaves the generation before it valid.
ABOUT = "index.json"
# The flags that may stand in it.
READING = {
    (f"--{name}", "=")
    for name in "format id-field text-field markup shingle-size tokens fold short fingerprint seed".split()
}

# What a text may be called; and what a line of a row and its name has.
Id = Union[int, str]
KINDS = [[int, int], [int, str]]
Match = dict[str, Any]


def _removed(place: Path, process: int) -> None:
    """Remove a temporary directory, but not in a copy of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(place, ignore_errors=True)


def _open(path: Path, mode: str) -> IO[Any]:
    """Open a file of an index for writing. It is never a link to a file elsewhere."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (os.O_APPEND if mode == "a" else os.O_EXCL)
    if mode != "a":
        path.unlink(missing_ok=True)
    return open(path, mode, opener=lambda path, _: os.open(path, flags, 0o666))


def _reading(path: Path, mode: str = "r") -> IO[Any]:
    """Open a file of an index for reading. It is never a link, and a pipe in its place is empty."""
    more = os.O_NONBLOCK | os.O_NOFOLLOW
    return open(path, mode, opener=lambda path, flags: os.open(path, flags | more))


def _write(path: Path, text: str, mode: str = "w") -> None:
    """Write a file to the disk."""
    with _open(path, mode) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file of texts, each with its row."""
    with _reading(path, "rb") as file:
        for line in file:
            if line != b"\n":
                yield int(json.loads(line)["lookalike row"]), line


class _Busy(_native.Error):
    """The collection is being changed."""


class Index:
    """Texts in which other texts are looked up, exactly.

    The index is on disk. Several threads may call `query` at the same time, without the interpreter's
    lock; `add` and `remove` wait for queries that have begun.

    Parameters
    ----------
    texts
        The texts, as for `find_pairs`; none by default.
    text
        The column with the texts, as for `find_pairs`.
    ids
        What answers call the texts, as for `find_pairs`: each a str or an int that no other text has.
        Without it, texts are called by their row, from 0, in the order in which they were added.
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

    # How the texts are read and shingled; not known of an index of an earlier version or of a run.
    _flags: list[str] | None
    _reading: list[str] | None
    # The state of the files when they were read.
    _seen: list[tuple[int, int, int]] | None

    @hinting
    def __init__(
        self,
        texts: Texts = (),
        text: str | Iterable[str] = "text",
        *,
        ids: Any = None,
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
        self._prepare(place, memory, threads, True)
        self._temporary = directory is None
        self._flags = [flag for flag in flags_of(locals()) if flag not in self._limits]
        self._text = text
        try:
            self._fill(*self._read(texts, text, ids), progress)
        except BaseException:
            # The same call can be made again.
            shutil.rmtree(place, ignore_errors=True)
            raise

    def _read(
        self, texts: Texts, text: str | Iterable[str], ids: Any, start: int = 0, every: bool = True
    ) -> tuple[Spool, list[Id] | None]:
        """A spool in which every row is a document, so that documents have the numbers of rows; and
        what these are called."""
        source = source_of(texts)
        column, ids = ids_of(source, ids)
        place = os.fspath(self._place)
        spool = Spool(place, text_columns(text), column, start=start, every=every)
        filled(spool, source, text, column)
        if ids is not None:
            identify(spool, ids)
        elif column is None:
            return spool, None
        names = [row["id"] for row in Table(spool.ids())]
        known = set(self._rows)
        for row, name in enumerate(names):
            if isinstance(name, bool) or not isinstance(name, (int, str)):
                kind = type(name).__name__
                raise TypeError(f"ids: the id in row {row} is {kind}, not str or int")
            if name in known:
                raise ValueError(f"ids: the id {name!r} in row {row} is that of another text")
            known.add(name)
        return spool, names

    def _fill(self, spool: Spool, names: list[Id] | None, progress: Progress) -> None:
        """Make the collection of the first texts."""
        own = ("--max-document", "--strict", "--allow-empty")
        flags = spool.flags("ingest")
        self._reading = [flag for flag in flags if not flag.startswith(own)]
        self._remember()
        self._note(spool.start, names)
        self._make(self.directory, self._moved(spool), not spool.rows, progress)
        self._name(spool.start, names)
        self._seen = self._state()

    def _make(self, directory: Path, path: Path, empty: bool, progress: Progress) -> None:
        """Make a collection of a file of texts, and its index."""
        reading = [*(self._reading or ()), *(self._flags or ()), *self._limits]
        reading.append("--allow-empty" if empty else "--strict")
        command(["stage", "ingest", path, "-o", directory, *reading], progress)
        command(["stage", "index", *self._limits, "--", directory], progress)

    def _remember(self) -> None:
        """Write what is known of the index beside it."""
        names = ("flags", "reading", "removed", "generation")
        new = self._place / f"{ABOUT}.new"
        _write(new, json.dumps({name: getattr(self, f"_{name}") for name in names}))
        os.replace(new, self._place / ABOUT)

    def _name(self, start: int, names: list[Id] | None) -> None:
        """Give the rows from this one on their names."""
        for row, name in enumerate(names or (), start):
            self._names[row] = name
            self._rows[name] = row

    def _note(self, start: int, names: list[Id] | None) -> None:
        """Write the names of rows, before the texts are there."""
        if names:
            # After a line that was cut, which stays alone.
            lines = "".join(f"{json.dumps(row)}\n" for row in enumerate(names, start))
            _write(self._file("names", 0), "\n" + lines, "a")

    def _file(self, kind: str, number: int) -> Path:
        """A file of this generation: texts, or rows and what these are called. Of several lines for a
        row, the last one counts."""
        of = f"{self._generation}-" if self._generation else ""
        return self._place / f"{kind}-{of}{number}.jsonl"

    @property
    def directory(self) -> Path:
        """The directory of the collection, as of a run."""
        of = f"-{self._generation}" if self._generation else ""
        return self._place / f"collection{of}" if self._own else self._place

    def _prepare(
        self, place: Path, memory: int | str | None, threads: int | None, own: bool
    ) -> None:
        self._place = place
        # Whether the documents are texts of this class, whose docnos are rows.
        self._own = own
        self._temporary = False
        self._limits = flags_of({"memory": memory, "threads": threads})
        self._flags = self._reading = None
        self._removed = self._generation = 0
        self._seen, self._busy = None, False
        self._names: dict[int, Id] = {}
        self._rows: dict[Id, int] = {}
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
        # Earlier versions did not write ABOUT, but they wrote the texts.
        own = (place / ABOUT).exists() or (place / "texts-0.jsonl").exists()
        index._prepare(place, memory, threads, own and not (place / "manifest.json").exists())
        index._text = "text"
        with index._alone():
            index._finish()
            index._command("index", None)
        return index

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Wait for every other `Index` of this directory, in any process, that changes it, or (to
        change it) that looks texts up."""
        with contextlib.ExitStack() as held:
            # On a medium that is only read, nobody changes anything.
            with contextlib.suppress(OSError):
                if self._own:
                    file = held.enter_context(_open(self._place / "index.lock", "a"))
                    fcntl.flock(file, how)
            yield

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with self._adding, self._locked(fcntl.LOCK_EX):
            with self._changed:
                self._again()
            yield

    def _finish(self) -> None:
        """Finish an addition that was stopped."""
        if self._own and not self._status().get("catalogue"):
            flags = ["--strict", *self._limits]
            command(["add", *flags, "--", self.directory, self._files()[-1]], None)
            self._command("index", None)
            with self._changed:
                self._again()

    def _state(self) -> list[tuple[int, int, int]]:
        """What changes with the files that say what the index has."""
        state = []
        for path in (self._place / ABOUT, self._file("names", 0), self.directory / "manifest.json"):
            with contextlib.suppress(FileNotFoundError):
                of = path.stat()
                state.append((of.st_ino, of.st_size, of.st_mtime_ns))
        return state

    def _again(self) -> None:
        """Read what the index has, if another `Index` of this directory may have changed it."""
        state = self._state()
        if self._own and self._seen != state:
            with contextlib.suppress(FileNotFoundError):
                with _reading(self._place / ABOUT) as file:
                    self._about(file.read())
            if self.directory.is_symlink():
                raise _native.Error(f"{self.directory} is a link: an index has its own directory")
            try:
                self._busy = False
                self._recall()
            except _Busy:
                self._busy = True
            self._seen = state

    def _about(self, text: str) -> None:
        """Take what is known of an index that may come from somebody else: nothing but how texts are
        read and shingled becomes a flag."""
        try:
            about = json.loads(text)
            for name in ("flags", "reading"):
                for flag in about[name]:
                    if flag.partition("=")[:2] not in READING:
                        raise ValueError(f"expected how texts are read in {name}, found {flag!r}")
                setattr(self, f"_{name}", list(about[name]))
            for name in ("removed", "generation"):
                if type(about[name]) is not int or about[name] < 0:
                    raise ValueError(f"expected a number as {name}, found {about[name]!r}")
                setattr(self, f"_{name}", about[name])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            place = self._place / ABOUT
            raise _native.Error(f"{place} is damaged: {error}: make the index again") from error

    def _recall(self) -> None:
        """Read what the texts are called."""
        end, names = self._end(), dict[int, Id]()
        with contextlib.suppress(FileNotFoundError), _reading(self._file("names", 0)) as file:
            for line in file:
                # A line may be cut off.
                with contextlib.suppress(json.JSONDecodeError):
                    known = json.loads(line)
                    if not isinstance(known, list) or [type(item) for item in known] not in KINDS:
                        raise _native.Error(f"{file.name}: expected a row and its id, found {line!r}")
                    row, name = known
                    # Of later rows, the texts did not get here.
                    if row < end:
                        names[row] = name
        self._names, self._rows = names, {name: row for row, name in names.items()}

    @property
    def ids(self) -> list[Id]:
        """What answers call the texts, in the order of their rows."""
        if not self._own:
            return [row["docno"] for row in Table(_native.table(self.directory, "documents"))]
        with self._querying():
            if self._names or not self._removed:
                names = (name for _, name in sorted(self._names.items()))
                return list(names if self._names else range(self._end()))
            rows, end = set[int](), self._end()
            for file in reversed(self._files()):
                own = [row for row, _ in _records(file)]
                rows.update(row for row in own if row < end)
                end = min([end, *own[:1]])
            return sorted(rows)

    def _calls(self) -> tuple[bool, dict[int, Id] | None]:
        """Whether docnos are rows, and what these are called."""
        if not self._own:
            return False, None
        with self._querying():
            names = self._names
        if len({type(name) for name in names.values()}) > 1:
            return True, {row: str(name) for row, name in names.items()}
        return True, names or None

    def __contains__(self, id: object) -> bool:
        return id in self.ids

    def __iter__(self) -> Iterator[Id]:
        return iter(self.ids)

    def __len__(self) -> int:
        with self._querying():
            return self._documents()

    def _documents(self) -> int:
        if catalogue := self._status().get("catalogue"):
            return int(catalogue["documents"])
        # An addition has begun. The manifest changes when it ends.
        raise _Busy("texts are being added to this index: try again when they are there")

    def _end(self) -> int:
        """The number of the next row."""
        return self._documents() + self._removed

    def _row(self, id: Id) -> int:
        """The row of a text."""
        row = self._rows.get(id) if self._names else id
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < self._end():
            raise KeyError(f"the index has no text {id!r}")
        return row

    def _status(self) -> Any:
        return json.loads(_native.command(["status", "--json", "--", self.directory]))

    @overload
    def query(
        self,
        texts: str,
        *,
        text: str | Iterable[str] = ...,
        threshold: float | str = ...,
        score: str = ...,
        containing: float | str | None = ...,
        top: int | None = ...,
    ) -> list[Match]: ...
    @overload
    def query(
        self,
        texts: Texts,
        *,
        text: str | Iterable[str] = ...,
        threshold: float | str = ...,
        score: str = ...,
        containing: float | str | None = ...,
        top: int | None = ...,
    ) -> list[list[Match]]: ...
    @formerly(2, "threshold")
    @hinting
    def query(
        self,
        texts: Texts,
        *,
        text: str | Iterable[str] = "text",
        threshold: float | str = 0.85,
        score: str = "resemblance",
        containing: float | str | None = None,
        top: int | None = None,
    ) -> Any:
        """Find the texts that reach the threshold, as `find_pairs` finds them, the most similar first.

        Parameters
        ----------
        texts
            A text, or several as for `find_pairs`.
        text
            The column with the texts, if it is a table.
        threshold, score
            As for `find_pairs`.
        containing
            Also list texts that contain this share of the shingles of the query, such as 0.8, whatever
            their score.
        top
            The largest number of matches of a text; all by default.

        Returns
        -------
        list of dict
            For a single text, its matches; for several, a list of matches for each. A match has the
            members `id` (of the text: its row or what `ids` calls it; the docno, if the index is of a
            `run`), `match` (identical, same words, near or contains), `score`, `contains_query`,
            `in_query` (shares of the shingles), `shared` and `keys` (numbers of shingles). Exact
            duplicates are represented by the first of them.
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
            names = self._names
        replies = [json.loads(line) for line in printed.splitlines()]
        for row, reply in enumerate(replies):
            if "rejected" in reply:
                raise ValueError(f"the text in row {row} cannot be looked up: {reply['detail']}")
        answers = []
        for reply in replies:
            matches = []
            for match in reply["matches"]:
                id = match.pop("docno")
                if self._own:
                    id = names.get(int(id), int(id))
                matches.append({"id": id, **match})
            answers.append(matches)
        return answers[0] if single else answers

    @hinting
    def add(
        self,
        texts: Texts,
        text: str | Iterable[str] | None = None,
        *,
        ids: Any = None,
        progress: Progress = None,
    ) -> None:
        """Add texts, which get the next rows.

        Parameters
        ----------
        texts
            The texts, as for `find_pairs`. Not to an index of a `run`: use `Run.add` for its files.
        text
            The column with the texts; the same as before by default.
        ids
            The ids of the new texts, required if the texts of the index have ids.
        progress
            As for `find_pairs`.
        """
        if not self._own:
            raise ValueError("this index is of a run over files: add files with Run.add")
        text = self._text if text is None else text
        with self._alone():
            self._finish()
            size = self._documents()
            known = TEXT_FIELD + self._status()["collection"]["read"]["text_field"]
            # An index of several columns that an earlier version made has no documents of other rows.
            every = not size or "lookalike text" in known
            spool, names = self._read(texts, text, ids, self._end(), every)
            if not spool.rows:
                return
            if size and bool(self._names) != (names is not None):
                expected = "have ids" if self._names else "are called by their rows"
                raise ValueError(f"ids: the texts of this index {expected}, and so do all that are added")
            field = next(flag for flag in spool.flags("add") if flag.startswith(TEXT_FIELD))
            with self._changed:
                self._changed.wait_for(lambda: self._queries == 0)
                if field != known and self._flags is not None and not size:
                    # It has no texts that are read otherwise.
                    shutil.rmtree(self.directory)
                    return self._fill(spool, names, progress)
                if field != known:
                    raise ValueError(
                        f"text={text!r}: the texts of this index are not in the same columns, but"
                        f" in {known.removeprefix(TEXT_FIELD)}: give the new ones the same names"
                    )
                self._note(spool.start, names)
                path = self._moved(spool)
                flags = ["--strict", *self._limits]
                command(["add", *flags, "--", self.directory, path], progress)
                self._command("index", progress)
                self._name(spool.start, names)
                self._seen = self._state()

    def remove(self, ids: Id | Iterable[Id], *, progress: Progress = None) -> None:
        """Remove texts. Their rows are not used again.

        The index is made again without them, which takes as long as it took at first: remove many
        texts by one call.

        Parameters
        ----------
        ids
            What answers call the texts: one, or several.
        progress
            As for `find_pairs`.

        Examples
        --------
        >>> import lookalike
        >>> index = lookalike.Index(["a b c", "d e f"], ids=["x", "y"])
        >>> index.remove("x")
        >>> index.query("a b c"), index.text("y")
        ([], 'd e f')
        """
        if not self._own:
            raise ValueError("this index is of a run over files, from which nothing can be removed")
        if self._reading is None:
            raise ValueError("this index was made by an earlier version: make it again without the texts")
        with self._alone():
            self._finish()
            rows = {self._row(id): id for id in ([ids] if isinstance(ids, (int, str)) else ids)}
            if rows:
                with self._changed:
                    self._changed.wait_for(lambda: self._queries == 0)
                    self._make_without(rows, progress)

    def _make_without(self, rows: dict[int, Id], progress: Progress) -> None:
        """Make the index again without some rows, as the next generation."""
        files, end, ends = self._files(), self._end(), {}
        removed, old = self._removed, self._file("names", 0)
        # Rows that are in a later file as well did not get into the collection from an earlier one.
        for file in reversed(files):
            ends[file] = end
            end = min(end, next((row for row, _ in _records(file)), end))
        former, left, kept = self.directory, dict(rows), 0
        self._generation += 1
        try:
            names = {row: name for row, name in self._names.items() if row not in rows}
            _write(self._file("names", 0), "".join(f"{json.dumps(row)}\n" for row in names.items()))
            path = self._file("texts", 0)
            with _open(path, "wb") as out:
                for file in files:
                    for row, line in _records(file):
                        if row < ends[file] and left.pop(row, None) is None:
                            kept += out.write(line) > 0
                # A file without any byte would be a reject.
                out.write(b"" if kept else b"\n")
            if left:
                raise KeyError(f"the index has no text {next(iter(left.values()))!r}")
            if self.directory.is_symlink():
                self.directory.unlink()
            shutil.rmtree(self.directory, ignore_errors=True)
            self._make(self.directory, path, not kept, progress)
            self._removed += len(rows)
            self._remember()
        except BaseException:
            # It may have been written, and the exception of Ctrl-C have come after that.
            if json.loads((self._place / ABOUT).read_text())["generation"] != self._generation:
                for made in self._files():
                    made.unlink()
                self._generation, self._removed = self._generation - 1, removed
            raise
        self._names, self._rows = names, {name: row for row, name in names.items()}
        self._seen = self._state()
        shutil.rmtree(former)
        for file in [*files, old]:
            file.unlink(missing_ok=True)

    @hinting
    def text(self, id: Id) -> str:
        """The text that answers call by this id."""
        limits = [flag for flag in self._limits if flag.startswith("--memory")]
        with self._querying():
            name = str(self._row(id)) if self._own else str(id)
            try:
                return command(["show", "--text-only", *limits, "--", self.directory, name], None)
            except _native.Error as error:
                if "no document is called" not in str(error):
                    raise
                raise KeyError(f"the index has no text {id!r}") from None

    def _moved(self, spool: Spool) -> Path:
        """The file of a spool at its final place."""
        path = self._file("texts", len(self._files()))
        os.rename(spool.path, path)
        return path

    def _files(self) -> list[Path]:
        """The files with texts."""
        numbered = (self._file("texts", n) for n in itertools.count())
        return list(itertools.takewhile(Path.exists, numbered))

    def _command(self, name: str, progress: Progress) -> None:
        command(["stage", name, *self._limits, "--", self.directory], progress)

    @contextlib.contextmanager
    def _querying(self) -> Iterator[None]:
        while True:
            with self._locked(fcntl.LOCK_SH):
                with self._changed:
                    self._again()
                    self._queries += 1
                try:
                    if not self._busy:
                        yield
                        return
                finally:
                    with self._changed:
                        self._queries -= 1
                        self._changed.notify_all()
            with self._alone():
                self._finish()

    def __reduce__(self) -> tuple[Any, ...]:
        use = f"open it there with lookalike.Index.open({os.fspath(self._place)!r})"
        if self._temporary:
            use = "make it with directory=DIR, and open it there with lookalike.Index.open(DIR)"
        raise TypeError(f"an index cannot be pickled for another process: {use}")

    def __repr__(self) -> str:
        return f"lookalike.Index({os.fspath(self.directory)!r})"
