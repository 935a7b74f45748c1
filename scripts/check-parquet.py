#!/usr/bin/env python3
"""Checks copies of Parquet files by other readers: pyarrow, DuckDB and Polars.

    python3 -m venv DIR && DIR/bin/pip install pyarrow duckdb polars pytz
    DIR/bin/python scripts/check-parquet.py [PROGRAM]

PROGRAM is target/release/lookalike unless it is given.

Writes files of all types, codecs and page versions, deduplicates them with `lookalike dedup`, and compares
schemas and values of what is kept, removed and annotated. Exits with 0 and says so where the packages are missing.
"""

import datetime
import decimal
import os
import pathlib
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


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        write(directory)
        program = sys.argv[1] if len(sys.argv) > 1 else REPOSITORY / "target" / "release" / "lookalike"
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
