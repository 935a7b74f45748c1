"""Runs over files."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Union

from . import _native
from ._progress import Progress, command
from ._sources import text_columns
from ._spool import Texts, as_text, filled, optional_path
from ._table import Table, of_directory

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

# Set by the functions themselves.
OWN_FLAGS = {"output", "json", "quiet", "verbose", "tsv", "progress", "help"}
# About files, in functions that take texts.
INPUT_FLAGS = {
    "include",
    "exclude",
    "hidden",
    "read-outputs",
    "format",
    "record",
    "text-field",
    "id-field",
    "columns",
    "warc-type",
    "include-url",
    "exclude-url",
}


def run(
    inputs: Paths,
    out: str | os.PathLike[str],
    *,
    strict: bool = False,
    allow_empty: bool = False,
    skip_unreadable: bool = False,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    hidden: bool = False,
    read_outputs: bool = False,
    format: str | None = None,
    record: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    columns: str | None = None,
    markup: str | None = None,
    warc_type: str | None = None,
    include_url: Iterable[str] = (),
    exclude_url: Iterable[str] = (),
    max_document: int | str = "64MiB",
    max_ratio: int = 1000,
    detect_charset: bool = True,
    url_field: str | None = None,
    keep_text: bool = False,
    tokens: str = "words",
    fold: str = "none",
    shingle_size: int = 10,
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
    size_groups: str = "500,1000,2000,3000,4000,5000,6000,7000,8000,9000",
    segment_size: int | str = "64MiB",
    threshold: float | str = 0.85,
    score: str = "resemblance",
    sampling: str = "full",
    precision: float | None = None,
    recall: float | None = None,
    ratios: str = "1/2,1/4,1/8,1/16,1/32",
    subset: str = "10%",
    plan_seed: int = 0,
    verified: bool = False,
    candidates: float | None = None,
    join: str = "auto",
    pairs: str = "all",
    max_postings: int | None = None,
    spill: str = "auto",
    fan_in: int | None = None,
    method: str | None = None,
    against: str | os.PathLike[str] | None = None,
    results: str = "tsv",
    memory: int | str | None = None,
    threads: int | None = None,
    ignore_disk_space: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Run:
    """Find near-duplicate pairs and clusters of documents in files.

    The same call continues a run that was stopped. Ctrl-C stops at the next safe point, raises
    KeyboardInterrupt, and leaves a directory that can be continued.

    Parameters
    ----------
    inputs
        Files, or directories with files.
    out
        The output directory. It is made, or continued if it is of the same run.
    progress
        True for bars of tqdm. Or a callable, which is called as ``progress(event, stage, unit, done,
        total, text)`` in this thread, about ten times a second; `event` is ``"start"``,
        ``"progress"`` or ``"end"`` of a stage, or ``"note"``.
    **flags
        The flags of ``lookalike run``; ``lookalike run --help`` describes them.

    Returns
    -------
    Run
        The finished directory.

    Raises
    ------
    ValueError
        A parameter is not allowed.
    Error
        The run failed; `path`, `offset` and `help` say where and what to do.

    Examples
    --------
    >>> import lookalike, tempfile
    >>> out = tempfile.mkdtemp()
    >>> lookalike.run(["../sample-corpora/trec-web"], out).summary["ingest"]["documents"] > 0
    True
    """
    given = dict(locals())
    for name in ("inputs", "out", "progress"):
        del given[name]
    arguments = ["run", f"--output={os.fspath(out)}", "--json", *_flags("run", given)]
    command([*arguments, "--", *_paths(inputs)], progress)
    return Run(out)


def dedup(
    inputs: Paths,
    out: str | os.PathLike[str],
    *,
    strict: bool = False,
    allow_empty: bool = False,
    skip_unreadable: bool = False,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    hidden: bool = False,
    read_outputs: bool = False,
    format: str | None = None,
    record: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    columns: str | None = None,
    markup: str | None = None,
    warc_type: str | None = None,
    include_url: Iterable[str] = (),
    exclude_url: Iterable[str] = (),
    max_document: int | str = "64MiB",
    max_ratio: int = 1000,
    detect_charset: bool = True,
    url_field: str | None = None,
    keep_text: bool = False,
    tokens: str = "words",
    fold: str = "none",
    shingle_size: int = 10,
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
    size_groups: str = "500,1000,2000,3000,4000,5000,6000,7000,8000,9000",
    segment_size: int | str = "64MiB",
    threshold: float | str = 0.85,
    score: str = "resemblance",
    removed: str | os.PathLike[str] | None = None,
    work: str | os.PathLike[str] | None = None,
    from_: str | os.PathLike[str] | None = None,
    against: str | os.PathLike[str] | None = None,
    remove: str | os.PathLike[str] | None = None,
    keep: Iterable[str] = (),
    rule: str = "star",
    empty: str = "keep",
    rejects: str = "keep",
    revisit: str | None = None,
    annotate: bool = False,
    ids_only: bool = False,
    link: bool = False,
    report: str | os.PathLike[str] | bool | None = None,
    by: Iterable[str] = (),
    samples: int | None = None,
    review: str | os.PathLike[str] | None = None,
    sample_seed: int = 0,
    results: str = "tsv",
    memory: int | str | None = None,
    threads: int | None = None,
    ignore_disk_space: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Write files again without their near-duplicates.

    Parameters
    ----------
    inputs
        Files, or directories with files. None with `from_`.
    out
        The directory of the new files.
    report
        The file of the page by which the result can be judged; True for ``OUT.report.html``.
    progress
        As in `run`.
    **flags
        The flags of ``lookalike dedup``; ``lookalike dedup --help`` describes them.

    Returns
    -------
    dict
        The counts that ``lookalike dedup --json`` prints.

    Raises
    ------
    ValueError
        A parameter is not allowed.
    Error
        The command failed; `path`, `offset` and `help` say where and what to do.
    """
    given = dict(locals())
    for name in ("inputs", "out", "progress"):
        del given[name]
    given["from"] = given.pop("from_")
    page = given.pop("report")
    given["report"] = None if isinstance(page, bool) else page
    arguments = ["dedup", f"--output={os.fspath(out)}", "--json", *_flags("dedup", given)]
    if page is True:
        arguments.append("--report")
    printed = command([*arguments, "--", *_paths(inputs)], progress)
    counts: dict[str, Any] = json.loads(printed)
    return counts


class Run:
    """The output directory of a run.

    Parameters
    ----------
    directory
        A directory that `run` or the command ``lookalike run`` has begun or finished.

    Raises
    ------
    Error
        It is not the output directory of a run.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        _ = self.summary

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> Run:
        """Open a directory."""
        return cls(directory)

    def add(
        self,
        inputs: Paths,
        *,
        strict: bool = False,
        skip_unreadable: bool = False,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        hidden: bool = False,
        read_outputs: bool = False,
        results: str | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        ignore_disk_space: bool = False,
        scratch: str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> None:
        """Add files to the collection, and update its results.

        The same call continues an addition that was stopped.

        Parameters
        ----------
        inputs
            Files, or directories with files.
        **flags
            The flags of ``lookalike add``; ``lookalike add --help`` describes them.

        Examples
        --------
        >>> import lookalike, tempfile
        >>> run = lookalike.run("../sample-corpora/trec-web/a.gz", tempfile.mkdtemp())
        >>> run.add("../sample-corpora/trec-web/b.gz")
        >>> run.summary["ingest"]["documents"]
        253
        """
        given = dict(locals())
        for name in ("self", "inputs", "progress"):
            del given[name]
        arguments = ["add", "--json", *_flags("add", given)]
        command([*arguments, "--", os.fspath(self.directory), *_paths(inputs)], progress)

    @property
    def summary(self) -> dict[str, Any]:
        """Parameters, counts and costs of the committed stages, as in ``summary.json``."""
        printed = _native.command(["status", "--json", "--", os.fspath(self.directory)])
        summary: dict[str, Any] = json.loads(printed)
        return summary

    def pairs(self) -> Table:
        """The pairs, as in ``pairs.tsv``.

        Returns
        -------
        Table
            Columns `id_a`, `id_b` (the docnos), `resemblance` (or `score`; six decimals), `shared`,
            `shingles_a`, `shingles_b` (numbers of fingerprints), `document_a` and `document_b`.

        Examples
        --------
        >>> import lookalike, pyarrow, tempfile
        >>> run = lookalike.run("../sample-corpora/trec-web", tempfile.mkdtemp())
        >>> pyarrow.table(run.pairs()).num_rows == run.summary["join"]["pairs"]
        True
        """
        return of_directory(self.directory, "pairs")

    def clusters(self) -> Table:
        """The members of all clusters, as in ``clusters.jsonl``: a row for each member.

        Returns
        -------
        Table
            Columns `cluster`, `representative`, `id` (the docno), `kind` (representative, exact or near) and
            `resemblance` (or `score`) to the representative (null if that pair is below the
            threshold).
        """
        return of_directory(self.directory, "clusters")

    def documents(self) -> Table:
        """The documents, as in ``documents.tsv``.

        Returns
        -------
        Table
            Columns `id` (the docno), `url`, `words`, `shingles`, `size_group`, `cluster` (null if it is in
            none), `document`, `file`, `record` and `offset` (bytes).
        """
        return of_directory(self.directory, "documents")

    def exact_duplicates(self) -> Table:
        """The exact duplicates, as in ``exact-duplicates.tsv``.

        Returns
        -------
        Table
            Columns `id` (the docno), `representative` (the first document with the same tokens) and `md5` of
            the tokens.
        """
        return of_directory(self.directory, "exact_duplicates")

    def rejects(self) -> Table:
        """What could not be read, and warnings, as in ``rejects.jsonl``.

        Returns
        -------
        Table
            Columns `file`, `offset` (bytes), `id` (the docno), `reason`, `detail` and `document` (used or
            rejected).
        """
        return of_directory(self.directory, "rejects")

    def evaluate(
        self,
        truth: str | os.PathLike[str] | Run | None = None,
        *,
        thresholds: Iterable[str] = (),
        documents: str | os.PathLike[str] | None = None,
        columns: str | None = None,
        truth_columns: str | None = None,
        run_columns: str | None = None,
        judged: str | os.PathLike[str] | None = None,
        families: str | os.PathLike[str] | None = None,
        scratch: str | os.PathLike[str] | None = None,
        memory: int | str | None = None,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Compute precision and recall of the pairs against a ground truth.

        Parameters
        ----------
        truth
            A directory of a run, or a file with a list of pairs.
        **flags
            The flags of ``lookalike evaluate``; ``lookalike evaluate --help`` describes them.

        Returns
        -------
        dict
            What ``lookalike evaluate --json`` prints.

        Examples
        --------
        >>> import lookalike, tempfile
        >>> run = lookalike.run("../sample-corpora/trec-web", tempfile.mkdtemp())
        >>> run.evaluate(run)["pairs"][0]["representatives"]["all"]["recall"]
        1.0
        """
        given = dict(locals())
        if isinstance(truth, Run):
            given["truth"] = truth.directory
        arguments = ["evaluate", f"--run={os.fspath(self.directory)}", "--json"]
        flags = _flags("evaluate", given, without={"run"})
        result: dict[str, Any] = json.loads(command([*arguments, *flags], progress))
        return result

    def query(
        self,
        texts: Texts,
        *,
        text: str | Iterable[str] = "text",
        threshold: float | str = 0.85,
        score: str = "resemblance",
        containing: float | str | None = None,
        top: int = 10,
        method: str | None = None,
        markup: str | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        ignore_disk_space: bool = False,
        scratch: str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> list[dict[str, Any]]:
        """Find the documents of the collection that resemble texts.

        Parameters
        ----------
        texts
            Texts, or a table of them, as for `find_pairs`.
        text
            The column with the texts, if it is a table.
        **flags
            The flags of ``lookalike query``; ``lookalike query --help`` describes them.

        Returns
        -------
        list of dict
            For each text what ``lookalike query --json`` prints: `query` (its row, from 0), `words`,
            `keys_query`, `found` and `matches`, the most similar document first.

        Examples
        --------
        >>> import lookalike, tempfile
        >>> run = lookalike.run("../sample-corpora/trec-web", tempfile.mkdtemp())
        >>> [answer["found"] for answer in run.query(["a text that nobody has written before"])]
        [0]
        """
        given = dict(locals())
        spool = filled(_native.Spool(optional_path(scratch), text_columns(text)), texts, text)
        flags = ["--json", *spool.flags("query"), *_flags("query", given, without=INPUT_FLAGS)]
        arguments = ["query", *flags, "--", os.fspath(self.directory), str(spool.path)]
        replies = [json.loads(line) for line in command(arguments, progress).splitlines()]
        answers = [reply for reply in replies if "rejected" not in reply]
        if len(answers) != spool.rows:
            without = spool.rows - len(answers)
            raise ValueError(
                f"{without} of {spool.rows} texts have no answer: they are larger than the"
                " documents that lookalike query reads"
            )
        for answer in answers:
            answer["query"] = int(answer["query"])
        return answers

    def report(
        self,
        output: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        replay: str | None = None,
        clusters: int = 20,
        split: bool = False,
        study: bool = False,
        pairs: int = 10,
        seed: int = 0,
        by: Iterable[str] = (),
        samples: int | None = None,
        review: str | os.PathLike[str] | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> Path:
        """Write an HTML page with clusters, pairs and their texts.

        Parameters
        ----------
        output
            The file to write; ``report.html`` in the directory if it is not given. Not with
            `split`, which writes a folder, and not with `study`.
        **flags
            The flags of ``lookalike report``; ``lookalike report --help`` describes them.

        Returns
        -------
        Path
            The page; with `split` the front page, with `study` the page of the study.
        """
        given = dict(locals())
        arguments = ["report", *_flags("report", given)]
        page = "report/index.html" if split else "study/study.html" if study else "report.html"
        path = self.directory / page
        if output is not None:
            path = Path(output)
            arguments.append(f"--output={os.fspath(path)}")
        command([*arguments, "--", os.fspath(self.directory)], progress)
        return path

    def __repr__(self) -> str:
        return f"lookalike.Run({os.fspath(self.directory)!r})"


def _paths(inputs: Paths) -> list[str]:
    """The inputs as a list of paths."""
    if isinstance(inputs, (str, os.PathLike)):
        return [os.fspath(inputs)]
    return [os.fspath(path) for path in inputs]


def _flags(
    name_of_command: str, given: dict[str, Any], without: Collection[str] = ()
) -> list[str]:
    """The arguments for the values that differ from the defaults of a command."""
    arguments: list[str] = []
    for name, takes_value, several, defaults, _ in _native.flags(name_of_command):
        if name in OWN_FLAGS or name in without:
            continue
        value = given[name.replace("-", "_")]
        flag = f"--{name}"
        if not takes_value:
            arguments += [flag] if value else []
        elif several:
            texts = [value] if isinstance(value, str) else value
            arguments += [f"{flag}={as_text(text)}" for text in texts]
        elif value is not None and [as_text(value)] != defaults:
            arguments.append(f"{flag}={as_text(value)}")
    return arguments
