"""The result files as tables, and the commands that look at a finished run."""

import json
import os
import shutil
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest
from test_run import SAMPLES

import lookalike


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "out"
    return lookalike.run(SAMPLES, out, keep_text=True)


def lines(path):
    text = path.read_text().splitlines()
    return [line.split("\t") for line in text if not line.startswith("# ")]


def as_text(value, column):
    if value is None:
        return ""
    return f"{value:.6f}" if column in ("resemblance", "score") else str(value)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("pairs", "pairs.tsv"),
        ("documents", "documents.tsv"),
        ("exact_duplicates", "exact-duplicates.tsv"),
    ],
)
def test_a_table_has_the_values_of_its_file(run, name, file):
    table = getattr(run, name)()
    header, *rows = lines(run.directory / file)
    # Documents are called ids, as in the results for texts in memory.
    assert table.columns == [column.replace("docno", "id") for column in header]
    found = pyarrow.table(table).rename_columns(header)
    columns = [
        [as_text(value, column) for value in found[column].to_pylist()] for column in header
    ]
    assert list(zip(*columns)) == [tuple(row) for row in rows]
    assert len(rows) > 5


def test_clusters_have_a_row_for_each_member(run):
    members = [
        (cluster["id"], cluster["representative"], m["docno"], m["kind"], m["resemblance"])
        + (m.get("url"), m.get("date"))
        for cluster in map(json.loads, (run.directory / "clusters.jsonl").open())
        for m in cluster["members"]
    ]
    table = pyarrow.table(run.clusters())
    assert [tuple(row.values()) for row in table.to_pylist()] == members
    assert len(members) > 10


def test_rejects(run):
    rejects = [json.loads(line) for line in (run.directory / "rejects.jsonl").open()]
    table = pyarrow.table(run.rejects()).to_pylist()
    table = [{"docno" if k == "id" else k: v for k, v in row.items()} for row in table]
    assert [{k: v for k, v in row.items() if v is not None} for row in table] == rejects
    assert rejects


def test_everybody_reads_a_table_and_more_than_once(run):
    pairs = run.pairs()
    rows = run.summary["join"]["pairs"]
    for _ in range(2):
        assert pyarrow.table(pairs).num_rows == rows
        assert polars.DataFrame(pairs).height == rows
        assert len(pandas.DataFrame.from_arrow(pairs)) == rows
        assert duckdb.sql("SELECT * FROM pairs").fetchall()[0][0] == pairs_of(pairs)[0]
        joined = "SELECT count(*) FROM pairs a JOIN pairs b USING (id_a, id_b)"
        assert duckdb.sql(joined).fetchall()[0][0] >= rows
    assert pyarrow.schema(pairs) == pyarrow.table(pairs).schema
    assert repr(pairs).startswith("lookalike.Table(id_a: Utf8, id_b: Utf8, resemblance")


def pairs_of(pairs):
    return pyarrow.table(pairs)["id_a"].to_pylist()


def damaged(run, tmp_path):
    out = tmp_path / "damaged"
    shutil.copytree(run.directory, out)
    return lookalike.Run(out)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("pairs", "pairs.tsv"),
        ("clusters", "clusters.jsonl"),
        ("documents", "documents.tsv"),
        ("exact_duplicates", "exact-duplicates.tsv"),
        ("rejects", "rejects.jsonl"),
    ],
)
def test_damage_is_an_error_of_the_file(run, tmp_path, name, file):
    copy = damaged(run, tmp_path)
    table = getattr(copy, name)()
    path = copy.directory / file
    whole = path.read_bytes()
    for damage in [whole[:-1], whole + b"\n", whole[:-2] + b"?\n", b""]:
        path.write_bytes(damage)
        reads = [lambda: getattr(copy, name)(), lambda: pyarrow.table(table), lambda: len(table)]
        for read in reads:
            with pytest.raises(lookalike.Error) as raised:
                read()
            assert raised.value.path == path
    # Nothing in the directory is opened that could lead elsewhere, or never end.
    for other in [lambda: path.symlink_to(run.directory / file), lambda: os.mkfifo(path)]:
        path.unlink()
        other()
        with pytest.raises(lookalike.Error, match="expected a regular file") as raised:
            pyarrow.table(table)
        assert raised.value.path == path
    path.unlink()
    path.write_bytes(whole)
    assert pyarrow.table(table).equals(pyarrow.table(getattr(run, name)()))


def test_damage_while_a_table_is_read_says_where(tmp_path):
    file = tmp_path / "in.jsonl"
    with file.open("w") as out:
        for n in range(60_000):
            out.write(json.dumps({"id": f"{n:0100}", "text": f"{n // 2}"}) + "\n")
    run = lookalike.run(file, tmp_path / "out")
    for name, path, damage in [
        ("documents", run.directory / "documents.tsv", b"\t-"),
        ("documents", run.directory / "documents.tsv", b"\xff\xff"),
        ("clusters", run.directory / "clusters.jsonl", b"\xff"),
    ]:
        whole = path.read_bytes()
        assert len(whole) > 4 << 20
        stream = pyarrow.RecordBatchReader.from_stream(getattr(run, name)())
        with path.open("r+b") as out:
            out.seek(-60, os.SEEK_END)
            out.write(damage)
        with pytest.raises(Exception, match=f"{path.name}.* line [0-9]+: expected"):
            stream.read_all()
        path.write_bytes(whole)


def test_names_may_begin_with_a_hyphen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = " ".join(str(n) for n in range(30))
    Path("-in.jsonl").write_text(json.dumps({"id": "a", "text": text}) + "\n")
    run = lookalike.run("-in.jsonl", "-out")
    assert run.query([text])[0]["found"] == 1
    assert run.report("-page.html").exists()
    assert run.evaluate(run)["truth"]["counts"]["pairs"] == 0
    lookalike.dedup([Path("-in.jsonl")], Path("-kept"))
    assert Path("-kept/-in.jsonl").read_text() == Path("-in.jsonl").read_text()


def test_names_with_braces_and_quotes(tmp_path):
    odd = ['{"a":[}', 'quote " and \\', "}{", "tab\there", "é"]
    file = tmp_path / "in.jsonl"
    text = " ".join(str(n) for n in range(30))
    file.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name in odd))
    run = lookalike.run(file, tmp_path / "out")
    members = [
        member["docno"]
        for cluster in map(json.loads, (run.directory / "clusters.jsonl").open())
        for member in cluster["members"]
    ]
    assert pyarrow.table(run.clusters())["id"].to_pylist() == members
    assert len(members) == len(odd)
    # The text file has escapes.
    assert pyarrow.table(run.documents())["id"].to_pylist() == odd
    pairs = pyarrow.table(run.exact_duplicates()).to_pylist()
    assert [(pair["representative"], pair["id"]) for pair in pairs] == [
        (odd[0], name) for name in odd[1:]
    ]


def test_evaluate_query_and_report(run, tmp_path):
    evaluation = run.evaluate(run, thresholds=["0.9", "0.95"])
    found = [at["representatives"]["all"] for at in evaluation["pairs"]]
    assert [at["precision"] for at in found] == [1.0, 1.0]
    assert found[0]["true_pairs"] > found[1]["true_pairs"] > 0
    documents = pyarrow.table(run.documents()).to_pylist()
    files = [SAMPLES / d["file"] for d in documents if d["file"].endswith(".txt")]
    text = next(file.read_text() for file in files if file.read_bytes().isascii())
    table = pyarrow.table({"body": [text, "no such words"]})
    answers = run.query(table, text="body", top=1)
    assert [(answer["query"], len(answer["matches"])) for answer in answers] == [(0, 1), (1, 0)]
    assert answers[0]["matches"][0]["score"] == 1.0
    assert run.query([text], top=1)[0]["matches"] == answers[0]["matches"]
    page = run.report(tmp_path / "page.html", samples=2)
    assert page.read_text().startswith("<!")


def test_bars(tmp_path, capsys):
    lookalike.run(SAMPLES / "trec-web", tmp_path / "out", progress=True)
    # What each bar shows in the end.
    ends = [line.split("\r")[-1] for line in capsys.readouterr().err.split("\n")]
    assert any("ingest: 100%" in end for end in ends)
    assert [end for end in ends if "%" in end and "100%" not in end] == []
