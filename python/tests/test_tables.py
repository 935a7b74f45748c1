"""The result files as tables, and the commands that look at a finished run."""

import json

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
    assert table.columns == header
    found = pyarrow.table(table)
    columns = [
        [as_text(value, column) for value in found[column].to_pylist()] for column in header
    ]
    assert list(zip(*columns)) == [tuple(row) for row in rows]
    assert len(rows) > 5


def test_clusters_have_a_row_for_each_member(run):
    members = [
        (cluster["id"], cluster["representative"], m["docno"], m["kind"], m["resemblance"])
        for cluster in map(json.loads, (run.directory / "clusters.jsonl").open())
        for m in cluster["members"]
    ]
    table = pyarrow.table(run.clusters())
    assert [tuple(row.values()) for row in table.to_pylist()] == members
    assert len(members) > 10


def test_rejects(run):
    rejects = [json.loads(line) for line in (run.directory / "rejects.jsonl").open()]
    table = pyarrow.table(run.rejects()).to_pylist()
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
        joined = "SELECT count(*) FROM pairs a JOIN pairs b USING (docno_a, docno_b)"
        assert duckdb.sql(joined).fetchall()[0][0] >= rows
    assert pyarrow.schema(pairs) == pyarrow.table(pairs).schema
    assert repr(pairs).startswith("lookalike.Table(docno_a: Utf8, docno_b: Utf8, resemblance")


def pairs_of(pairs):
    return pyarrow.table(pairs)["docno_a"].to_pylist()


def test_damage_is_an_error_with_its_place(run, tmp_path):
    whole = (run.directory / "documents.tsv").read_bytes()
    for damage, expected in [
        (whole[:-10], "whole line"),
        (whole.replace(b"\t0\t0\t", b"\t0\tx\t", 1), "value for each column"),
        (whole + b"a\tb\n", "value for each column"),
        (whole + b"\xff\n", "UTF-8"),
    ]:
        (tmp_path / "documents.tsv").write_bytes(damage)
        table = lookalike._native.table(tmp_path, "documents")
        with pytest.raises(Exception, match=expected) as raised:
            pyarrow.table(table)
        assert "documents.tsv is corrupt at byte" in str(raised.value)
    with pytest.raises(lookalike.Error) as raised:
        lookalike._native.table(tmp_path, "pairs")
    assert raised.value.path == tmp_path / "pairs.tsv"
    for line in [b'{"id":0,"representative":"a","members":[{"docno":"a","kind":"near"', b'{"id":']:
        (tmp_path / "clusters.jsonl").write_bytes(line)
        with pytest.raises(Exception, match="clusters.jsonl is corrupt"):
            pyarrow.table(lookalike._native.table(tmp_path, "clusters"))


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
    assert pyarrow.table(run.clusters())["docno"].to_pylist() == members
    assert len(members) == len(odd)
    assert pyarrow.table(run.documents())["docno"].to_pylist() == [
        row[0] for row in lines(run.directory / "documents.tsv")[1:]
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
    page = run.report(tmp_path / "page.html", pairs=2)
    assert page.read_text().startswith("<!")


def test_bars(tmp_path, capsys):
    lookalike.run(SAMPLES / "trec-web", tmp_path / "out", progress=True)
    assert "ingest: 100%" in capsys.readouterr().err
