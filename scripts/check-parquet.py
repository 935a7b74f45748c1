#!/usr/bin/env python3
"""Checks result files and copies of Parquet files by other readers: pyarrow, DuckDB and Polars.

    python3 -m venv DIR && DIR/bin/pip install pyarrow duckdb polars pytz
    DIR/bin/python scripts/check-parquet.py [PROGRAM]

PROGRAM is target/release/lookalike unless it is given.

Writes files of all types, codecs and page versions, deduplicates them with `lookalike dedup`, and compares
schemas and values of what is kept, removed and annotated. Then runs the sample corpora with `--results parquet`, and
compares the types and every value of the result files with the text files. Exits with 0 and says so where the packages
are missing.
"""

import datetime
import decimal
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import duckdb
    import polars
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"LEFT OUT: {missing}", file=sys.stderr)
    sys.exit(0)

ROWS = 1000
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def table():
    """A table with a column of every kind."""
    rows = range(ROWS)
    day = datetime.datetime(2020, 1, 1)
    return pa.table(
        {
            "id": pa.array(rows, pa.uint64()),
            "text": pa.array([None if n % 7 == 3 else f"text {n % 50} " * 9 for n in rows]),
            "large": pa.array([f"large {n}" for n in rows], pa.large_string()),
            "dictionary": pa.array([f"d{n % 5}" for n in rows]).dictionary_encode(),
            "binary": pa.array([bytes([n % 256]) * (n % 9) for n in rows], pa.binary()),
            "fixed": pa.array([n.to_bytes(16, "big") for n in rows], pa.binary(16)),
            "decimal": pa.array([decimal.Decimal(n) / 100 for n in rows], pa.decimal128(20, 2)),
            "time": pa.array([day + datetime.timedelta(minutes=n) for n in rows], pa.timestamp("us", "UTC")),
            "date": pa.array([day.date() + datetime.timedelta(days=n) for n in rows]),
            "small": pa.array([n % 100 for n in rows], pa.int8()),
            "half": pa.array([n / 7 for n in rows], pa.float32()),
            "double": pa.array([None if n % 2 else n / 7 for n in rows]),
            "flag": pa.array([None if n % 5 == 0 else n % 3 == 0 for n in rows]),
            "messages": pa.array([[{"role": "u", "content": f"turn {t} of {n}"} for t in range(n % 4)] or None for n in rows]),
            "lists": pa.array([[[n, None], [], None][: n % 4] for n in rows], pa.list_(pa.list_(pa.int32()))),
            "map": pa.array([[(f"k{k}", n) for k in range(n % 3)] for n in rows], pa.map_(pa.string(), pa.int64())),
            "struct": pa.array([None if n % 11 == 0 else {"a": {"b": n}} for n in rows]),
        }
    )


def write(directory):
    """Writes the files."""
    whole = table()
    for codec in ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]:
        for version in ["1.0", "2.0"]:
            pq.write_table(
                whole,
                directory / f"pyarrow-{codec}-{version}.parquet",
                compression=codec,
                data_page_version=version,
                row_group_size=300,
                write_page_index=True,
                use_deprecated_int96_timestamps=version == "1.0",
            )
    pq.write_table(whole, directory / "pyarrow-plain.parquet", use_dictionary=False, data_page_size=2000)
    plain = whole.drop_columns(["map"])
    for codec in ["zstd", "snappy", "lz4"]:
        polars.from_arrow(plain).write_parquet(directory / f"polars-{codec}.parquet", compression=codec, row_group_size=300)
    for codec in ["zstd", "snappy", "gzip", "lz4_raw"]:
        for version in ["v1", "v2"]:
            duckdb.sql(
                "copy (select *, uuid() as uuid, to_json({'a': id}) as json, interval (id % 9) day as days from whole)"
                f" to '{directory}/duckdb-{codec}-{version}.parquet'"
                f" (format parquet, compression {codec}, parquet_version {version}, row_group_size 2048)"
            )


def kept_rows(table):
    """For each row whether it stays: the first of equal texts, and rows without a text."""
    seen, keep = set(), []
    for text in table.column("text").to_pylist():
        keep.append(text is None or text not in seen)
        seen.add(text)
    return keep


def check(path):
    """Compares the copies of one file with its rows."""
    copy = path.parent / "kept" / path.name
    before = pq.read_table(path)
    keep = kept_rows(before)
    after = pq.read_table(copy)
    assert after.schema.equals(before.schema, check_metadata=True), "schema"
    for place, rows in [("kept", keep), ("removed", [not kept for kept in keep])]:
        wanted = before.filter(pa.array(rows))
        found = pq.read_table(path.parent / place / path.name)
        # Dictionaries may have another order.
        assert found.to_pylist() == wanted.to_pylist(), f"values of {place} by pyarrow"
    old, new = pq.ParquetFile(path), pq.ParquetFile(copy)
    assert old.schema.equals(new.schema), "Parquet schema"
    assert old.metadata.metadata == new.metadata.metadata, "key-value metadata"
    for column in range(old.metadata.num_columns):
        codecs = [f.metadata.row_group(0).column(column).compression for f in (old, new)]
        assert codecs[0] == codecs[1], f"codec of column {column}"
    annotated = pq.read_table(path.parent / "annotated" / path.name)
    notes = annotated.column("lookalike").to_pylist()
    texts = before.column("text").to_pylist()
    stays = [note["kept"] for note, text in zip(notes, texts) if text is not None]
    assert stays == [kept for kept, text in zip(keep, texts) if text is not None], "annotations"
    assert all(note["survivor"] for note in notes if note["kept"] is False), "survivors"

    def by_duckdb(file):
        return duckdb.sql(f"select * from read_parquet('{file}')")

    kept = by_duckdb(copy)
    assert kept.types == by_duckdb(path).types, "types by DuckDB"
    rows = [row for row, kept in zip(by_duckdb(path).fetchall(), keep) if kept]
    assert kept.fetchall() == rows, "values by DuckDB"
    try:
        before = polars.read_parquet(path)
    except (Exception, polars.exceptions.PanicException) as error:  # It does not read intervals.
        return f"same, but Polars cannot read the original: {str(error)[:60]}"
    after = polars.read_parquet(copy)
    assert after.schema == before.schema, "schema by Polars"
    assert after.equals(before.filter(polars.Series(keep))), "values by Polars"
    return "same"


def cells(path):
    """The rows of a TSV file as dictionaries of text, without comments and escapes."""
    lines = [line for line in path.read_bytes().decode().split("\n") if line]
    while lines[0].startswith("# "):
        lines.pop(0)
    names = lines.pop(0).split("\t")
    return [dict(zip(names, map(unescaped, line.split("\t")))) for line in lines]


def unescaped(cell):
    """What a cell of a TSV file stands for."""
    plain = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    whole = re.sub(
        r"(?:\\x[0-9a-f]{2})+|\\[\\tnr]",
        lambda found: plain.get(found[0]) or bytes.fromhex(found[0].replace("\\x", "")).decode(),
        cell,
    )
    return whole


def members(path):
    """The members of clusters as rows of clusters.parquet, without the numbers of documents."""
    rows = []
    for line in path.read_text().splitlines():
        cluster = json.loads(line)
        for member in cluster["members"]:
            rows.append({"cluster": cluster["id"], "representative": cluster["representative"], **member})
    return rows


def removed(path):
    """The lines of removed.jsonl as rows of removed.parquet, without the numbers of documents."""
    rows = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        survivor = row.pop("survivor", {})
        rows.append(row | {f"survivor_{name}": value for name, value in survivor.items()})
    return rows


TYPES = {"docno": "VARCHAR", "url": "VARCHAR", "file": "VARCHAR", "md5": "VARCHAR", "kind": "VARCHAR"}
TYPES |= {"representative": "VARCHAR", "reason": "VARCHAR", "docno_a": "VARCHAR", "docno_b": "VARCHAR"}
TYPES |= {"survivor_file": "VARCHAR", "survivor_docno": "VARCHAR", "resemblance": "DOUBLE", "score": "DOUBLE"}
TYPES |= {name: "BIGINT" for name in ["words", "record", "offset", "shingles_union", "survivor_record"]}


def result_file(path, expected):
    """Compares a result file, as three programs read it, with the rows of a text file."""
    by_duckdb = duckdb.sql(f"select * from '{path}'")
    types = [TYPES.get(name, "UINTEGER") for name in by_duckdb.columns]
    # The words of a pair are lengths, as wide as the other sizes.
    assert [str(kind) for kind in by_duckdb.types] == types, f"types by DuckDB: {by_duckdb.types}"
    rows = [dict(zip(by_duckdb.columns, row)) for row in by_duckdb.fetchall()]
    assert polars.read_parquet(path).to_dicts() == rows, "values by Polars"
    assert polars.scan_parquet(path).collect().height == len(rows), "rows by a lazy scan of Polars"
    table = pq.read_table(path)
    assert table.to_pylist() == rows, "values by pyarrow"
    assert pq.ParquetFile(path).metadata.created_by.startswith("lookalike "), "created_by"
    assert len(rows) == len(expected), f"{len(rows)} rows, {len(expected)} in the text"
    for row, text in zip(rows, expected):
        for name, value in text.items():
            found = row[name]
            if found is None or value in (None, ""):
                assert found is None and value in (None, "") or name == "url" and found == value, f"{name}: {row}, {text}"
            elif isinstance(found, float):
                assert abs(found - float(value)) <= 0.500001e-6, f"{name}: {row}, {text}"
            elif isinstance(value, str) and not isinstance(found, str):
                assert found == int(value), f"{name}: {row}, {text}"
            else:
                assert found == value, f"{name}: {row}, {text}"
    return rows


def results(program, directory):
    """Runs the sample corpora, and checks every result file."""
    corpora = [name for name in ["jsonl", "trec-web", "trec-sgml", "warc", "mail", "files"]]
    questions = [[], ["--threshold", "0.3"], ["--threshold", "0.3", "--pairs", "none"], ["--sampling", "1/4"]]
    questions += [["--score", "containment"], ["--score", "s3", "--threshold", "0.3"], ["--score", "s4", "--threshold", "0.1"]]
    for corpus in corpora:
        inputs = REPOSITORY / "sample-corpora" / corpus
        for number, question in enumerate(questions):
            out = directory / f"{corpus}-{number}"
            run = [program, "run", inputs, "-o", out, "--quiet", "--results", "parquet", *question]
            subprocess.run(run, check=True)
            pairs = result_file(out / "pairs.parquet", cells(out / "pairs.tsv"))
            result_file(out / "clusters.parquet", members(out / "clusters.jsonl"))
            result_file(out / "documents.parquet", cells(out / "documents.tsv"))
            joined = duckdb.sql(
                f"select count(*) from '{out}/pairs.parquet' p"
                f" join '{out}/documents.parquet' a on p.document_a = a.document and p.docno_a = a.docno"
                f" join '{out}/documents.parquet' b on p.document_b = b.document and p.docno_b = b.docno"
            ).fetchall()[0][0]
            assert joined == len(pairs), "pairs joined with documents"
            if not question:
                exact = duckdb.sql(f"select count(*) from '{out}/pairs.parquet' where resemblance != shared / shingles_union")
                assert exact.fetchall()[0][0] == 0, "resemblance as a fraction"
                kept = duckdb.sql(
                    f"select count(*) from '{out}/documents.parquet' d left join '{out}/clusters.parquet' c using (document)"
                    " where c.kind is null or c.kind = 'representative'"
                ).fetchall()[0][0]
                clusters = duckdb.sql(f"select count(distinct cluster) from '{out}/clusters.parquet'").fetchall()[0][0]
                rows = [row["cluster"] for row in cells(out / "documents.tsv")]
                assert kept == rows.count("") + clusters, "documents kept"
            key = duckdb.sql(
                f"select decode(value) from parquet_kv_metadata('{out}/pairs.parquet')"
                " where decode(key) = 'lookalike.format'"
            )
            assert key.fetchall() == [("lookalike 1",)], "metadata"
        gone = directory / f"{corpus}-gone"
        for form in ["tsv", "parquet"]:
            command = [program, "dedup", "--from", directory / f"{corpus}-1", "--rule", "one-per-cluster", "--quiet"]
            command += ["-o", directory / f"{corpus}-kept", "--removed", gone, "--results", form]
            subprocess.run(command, check=True)
        result_file(gone / "removed.parquet", removed(gone / "removed.jsonl"))
        print(f"results of {corpus}: same, {len(questions)} runs")


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        write(directory)
        program = sys.argv[1] if len(sys.argv) > 1 else REPOSITORY / "target" / "release" / "lookalike"
        (directory / "results").mkdir()
        results(program, directory / "results")
        for path in sorted(directory.glob("*.parquet")):
            # Each file by itself: equal rows of two files would be duplicates.
            work = directory / "work" / path.stem
            run = [program, "dedup", "--quiet"]
            outputs = ["-o", directory / "out" / path.stem, "--removed", directory / "gone" / path.stem]
            subprocess.run([*run, path, *outputs, "--work", work], check=True)
            subprocess.run([*run, "--from", work, "--annotate", "-o", directory / "notes" / path.stem], check=True)
            for place, name in [("out", "kept"), ("gone", "removed"), ("notes", "annotated")]:
                (directory / name).mkdir(exist_ok=True)
                (directory / place / path.stem / path.name).rename(directory / name / path.name)
        failed = 0
        for path in sorted(directory.glob("*.parquet")):
            try:
                said = check(path)
            except (AssertionError, pa.ArrowInvalid, duckdb.Error) as error:
                failed += 1
                said = f"DIFFERS: {error}"
            print(f"{path.name}: {said}")
        sys.exit(failed > 0)


main()
