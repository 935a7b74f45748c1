"""Runs over files."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from . import _native
from ._progress import Progress, command
from ._sources import text_columns
from ._spool import Texts, as_text, filled, optional_path, policies_of
from ._table import Table, of_directory

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

# Set by the functions themselves.
OWN_FLAGS = {"output", "json", "quiet", "verbose", "tsv", "progress", "help"}
# Variables of the environment say how object stores are reached.
OWN_FLAGS |= {"endpoint", "region", "anonymous", "allow-store"}
# About files, in functions that take texts.
INPUT_FLAGS = {
    "include",
    "exclude",
    "hidden",
    "read-outputs",
    "format",
    "record",
    "records",
    "text-field",
    "id-field",
    "columns",
    "null",
    "warc-type",
    "include-url",
    "exclude-url",
    "split-at",
    "delimiter",
    "quote",
    "convert",
    "convert-timeout",
    "convert-memory",
}


def run(
    inputs: Paths,
    out: str | os.PathLike[str],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    format: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    markup: str | None = None,
    convert: Mapping[str, str] | Iterable[str] = (),
    tokens: str = "words",
    fold: str = "none",
    shingle_size: int = 10,
    exclude_text: Iterable[str | os.PathLike[str]] = (),
    threshold: float | str = 0.85,
    score: str = "resemblance",
    sampling: str = "full",
    pairs: str = "all",
    against: str | os.PathLike[str] | None = None,
    results: str = "tsv",
    memory: int | str | None = None,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **flags: Any,
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
    include
        Read only the files of directories that match GLOB.
    exclude
        Read no files of directories that match GLOB.
    format
        Read every input in this format; by default it is detected from the content.
    text_field
        The JSON field or column with the text; by default text, body and other usual names. Of
        ``"full_text|text"``, the first that a record has counts.
    id_field
        The JSON field or column with the docno; by default id, docno and other usual names.
    markup
        Read fields as markup: ``"auto"``, ``"never"``, ``"always"``, or ``"declared"``: those
        that another field says are. By default as the format says.
    convert
        Programs that convert documents to text, by extension or media type:
        ``{"pdf": "pdftotext -enc UTF-8 - -"}``.
    tokens, fold, shingle_size, threshold, score, sampling
        As for `find_pairs`.
    exclude_text
        Files of texts whose shingles count for nobody, such as a template.
    pairs
        Pairs to list: all, none (only clusters) or across (of old and new).
    against
        The directory of an earlier run, whose documents the new ones are compared with. It is
        only read.
    results
        Format of the result files: tsv, parquet as well, or none.
    memory
        Memory for buffers and tables, in bytes or as ``"2GiB"``; by default a quarter of the
        free memory, between 256 MiB and 4 GiB.
    threads
        The number of threads; by default the number of cores.
    scratch
        The directory for temporary files; by default in `out`.
    progress
        True for bars of tqdm. Or a callable, which is called as ``progress(event, stage, unit, done,
        total, text)`` in this thread, about ten times a second; `event` is ``"start"``,
        ``"progress"`` or ``"end"`` of a stage, or ``"note"``.
    **flags
        Every other flag of ``lookalike run``, by its name with underscores: ``keep_text=True``,
        ``max_document="1GiB"``, ``null=["NULL"]``. ``lookalike help run`` describes them.

    Returns
    -------
    Run
        The finished directory.

    Raises
    ------
    TypeError
        The command has no flag of this name.
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
    arguments = ["run", f"--output={os.fspath(out)}", "--json", *_flags("run", given, without={"from"})]
    command([*arguments, "--", *_paths(inputs)], progress)
    return Run(out)


def dedup(
    inputs: Paths | None,
    out: str | os.PathLike[str],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    format: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    markup: str | None = None,
    convert: Mapping[str, str] | Iterable[str] = (),
    tokens: str = "words",
    fold: str = "none",
    shingle_size: int = 10,
    exclude_text: Iterable[str | os.PathLike[str]] = (),
    threshold: float | str = 0.85,
    score: str = "resemblance",
    removed: str | os.PathLike[str] | None = None,
    work: str | os.PathLike[str] | None = None,
    from_: str | os.PathLike[str] | None = None,
    against: str | os.PathLike[str] | None = None,
    keep: str | Iterable[str] = "first",
    rule: str = "star",
    annotate: bool = False,
    ids_only: bool = False,
    report: str | os.PathLike[str] | bool | None = None,
    results: str = "tsv",
    memory: int | str | None = None,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    **flags: Any,
) -> dict[str, Any]:
    """Write files again without their near-duplicates.

    For a table or texts in memory, use `deduplicate`.

    Parameters
    ----------
    inputs
        Files, or directories with files. None with `from_`.
    out
        The directory of the new files, or an address of an object store (``"s3://bucket/kept"``).
    include, exclude, format, text_field, id_field, markup, convert, tokens, fold, shingle_size,
    exclude_text, threshold, score, memory, threads, scratch, progress
        As for `run`.
    removed
        A directory for the removed records, with the reason for each; also an address.
    work
        The directory of the search; by default ``OUT.work``, in the current directory for an
        address.
    from_
        The directory of a finished run whose pairs are used, in place of `inputs`.
    against
        The directory of an earlier run: records that resemble one of its documents are also
        removed.
    keep
        The documents to prefer among duplicates, as for `deduplicate`, with fields in place of
        columns.
    rule
        Which documents are kept, as for `deduplicate`.
    annotate
        Write all records, and add to each whether it is kept (JSON, Parquet).
    ids_only
        Write lists of the kept and removed documents, not the records.
    report
        The file of the page by which the result can be judged; True for ``OUT.report.html``.
    results
        The format of the lists of documents: ``"tsv"`` or ``"parquet"``.
    **flags
        Every other flag of ``lookalike dedup``, by its name with underscores: ``link=True``,
        ``revisit="identical"``, ``empty="drop"``. ``lookalike help dedup`` describes them.

    Returns
    -------
    dict
        The counts that ``lookalike dedup --json`` prints.

    Raises
    ------
    TypeError
        The command has no flag of this name.
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
    policies = policies_of(keep)
    given["keep"] = [] if policies == ["first"] else policies
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
        """Open a directory: the same as ``Run(directory)``."""
        return cls(directory)

    def add(
        self,
        inputs: Paths,
        *,
        strict: bool = False,
        skip_unreadable: bool = False,
        results: str | None = None,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        hidden: bool = False,
        read_outputs: bool = False,
        convert: Mapping[str, str] | Iterable[str] = (),
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
        strict, skip_unreadable, include, exclude, hidden, read_outputs
            As for `run`.
        results
            The format of the result files: ``"tsv"``, ``"parquet"`` as well, or ``"none"``; by
            default as before.
        convert
            The programs that the collection was made with; no other program runs.
        memory, threads, ignore_disk_space, scratch, progress
            As for `run`.

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
            `shingles_a`, `shingles_b` (numbers of fingerprints), `document_a` and `document_b`. If
            web archives were read, also `url_a`, `url_b`, `date_a` and `date_b`; the other tables
            have `url` and `date`.

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
            Columns `cluster`, `representative`, `id` (the docno), `kind` (representative, exact or
            near) and `resemblance` (or `score`) to the representative (null if that pair is below
            the threshold).
        """
        return of_directory(self.directory, "clusters")

    def documents(self) -> Table:
        """The documents, as in ``documents.tsv``.

        Returns
        -------
        Table
            Columns `id` (the docno), `url`, `words`, `shingles`, `size_group`, `cluster` (null if it
            is in none), `document`, `file`, `record` and `offset` (bytes).
        """
        return of_directory(self.directory, "documents")

    def exact_duplicates(self) -> Table:
        """The exact duplicates, as in ``exact-duplicates.tsv``.

        Returns
        -------
        Table
            Columns `id` (the docno), `representative` (the first document with the same tokens) and
            `md5` of the tokens.
        """
        return of_directory(self.directory, "exact_duplicates")

    def review(self) -> Table:
        """The pairs below the threshold, as in ``review.tsv``, if the run has `review`.

        Returns
        -------
        Table
            The columns of `pairs`.
        """
        return of_directory(self.directory, "review")

    def rejects(self) -> Table:
        """What could not be read, and warnings, as in ``rejects.jsonl``.

        Returns
        -------
        Table
            Columns `file`, `offset` (bytes), `id` (the docno), `reason`, `detail` and `document`
            (used or rejected).
        """
        return of_directory(self.directory, "rejects")

    def evaluate(
        self,
        truth: str | os.PathLike[str] | Run | None = None,
        *,
        thresholds: Iterable[str] = (),
        documents: str | os.PathLike[str] | None = None,
        pair_columns: str | None = None,
        truth_columns: str | None = None,
        run_columns: str | None = None,
        judged: str | os.PathLike[str] | None = None,
        true_grade: int = 1,
        disagreements: str | os.PathLike[str] | None = None,
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
        thresholds
            Evaluate at each of these thresholds; by default all listed pairs.
        documents
            A file documents.tsv with size groups, if the ground truth is a list.
        pair_columns
            The columns of both lists: ``"DOCNO,DOCNO"`` or ``"DOCNO,DOCNO,RESEMBLANCE"``, by
            name or number.
        truth_columns
            The columns of the ground truth, if they differ from `pair_columns`.
        run_columns
            The columns of the run, if they differ from `pair_columns`.
        judged
            Pairs that people judged: a file with lines of two docnos and a grade.
        true_grade
            The least grade of a pair that counts as true.
        disagreements
            A file for the judged pairs about which the run and people disagree, or for the
            documents that are counted of a list of removed or kept ones.
        families
            Families of documents: a file with lines of a docno and a family.
        scratch, memory, progress
            As for `run`.

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
        arguments = ["evaluate", "--json", *_flags("evaluate", given, without={"run"})]
        said = command([*arguments, "--", os.fspath(self.directory)], progress)
        result: dict[str, Any] = json.loads(said)
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
            Texts, or a table of them, as for `find_pairs`. For many calls with few texts each, use
            `Index.open`.
        text
            The column with the texts, if it is a table.
        threshold, score
            As for `find_pairs`.
        containing
            Also list documents that contain this share of the query's shingles; 0.8 by default,
            and ``"none"`` for no such documents.
        top
            The largest number of documents to list for a text; 0 for all.
        method
            Use the features of a published method in place of shingles.
        markup
            As for `find_pairs`; by default as the collection was read.
        memory, threads, ignore_disk_space, scratch, progress
            As for `run`.

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
        sample_seed: int = 0,
        split: bool = False,
        convert: Mapping[str, str] | Iterable[str] = (),
        by: Iterable[str] = (),
        samples: int | None = None,
        verdicts: str | os.PathLike[str] | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Progress = None,
    ) -> Path:
        """Write an HTML page with clusters, pairs and their texts.

        Parameters
        ----------
        output
            The file to write; ``report.html`` in the directory if it is not given. Not with
            `split`, which writes a folder.
        title
            The title of the page.
        replay
            Link captures to a web archive: an address with ``{timestamp}`` and ``{url}``.
        clusters
            The number of clusters to show without the page's script, the largest first.
        sample_seed
            The seed of the random pairs.
        split
            Write a folder of pages with all clusters.
        samples
            The number of pairs to show in each sample; by default 10.
        by, verdicts
            As for `dedup`.
        convert
            The programs that the collection was made with; no other program runs.
        memory, threads, progress
            As for `run`.

        Returns
        -------
        Path
            The page; with `split` the front page.
        """
        given = dict(locals())
        arguments = ["report", *_flags("report", given)]
        page = "report/index.html" if split else "report.html"
        path = self.directory / page
        if output is not None:
            path = Path(output)
            arguments.append(f"--output={os.fspath(path)}")
        command([*arguments, "--", os.fspath(self.directory)], progress)
        return path

    def __repr__(self) -> str:
        return f"lookalike.Run({os.fspath(self.directory)!r})"


def _paths(inputs: Paths | None) -> list[str]:
    """The inputs as a list of paths."""
    if isinstance(inputs, (str, os.PathLike)):
        return [os.fspath(inputs)]
    return [os.fspath(path) for path in inputs or ()]


def _flags(
    name_of_command: str, given: dict[str, Any], without: Collection[str] = ()
) -> list[str]:
    """The arguments for the values that differ from the defaults of a command."""
    known = [flag for flag in _native.flags(name_of_command) if flag[0] not in OWN_FLAGS | set(without)]
    more = given.pop("flags", {})
    names = {name.replace("-", "_") for name, *_ in known}
    if unknown := sorted(more.keys() - names):
        near = difflib.get_close_matches(unknown[0], names, 1)
        raise TypeError(
            f"{name_of_command}() has no parameter {unknown[0]}"
            + (f": did you mean {near[0]}?" if near else f", as lookalike {name_of_command} has no such flag")
        )
    given |= more
    arguments: list[str] = []
    for name, takes_value, several, defaults, _ in known:
        value = given.get(name.replace("-", "_"))
        flag = f"--{name}"
        if not takes_value:
            arguments += [flag] if value else []
        elif several:
            if isinstance(value, Mapping):
                value = [f"{kind}={command}" for kind, command in value.items()]
            texts = [value] if isinstance(value, (str, os.PathLike)) else value or ()
            arguments += [f"{flag}={as_text(text)}" for text in texts]
        elif value is not None and [as_text(value)] != defaults:
            arguments.append(f"{flag}={as_text(value)}")
    return arguments
