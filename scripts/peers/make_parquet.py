"""Makes Parquet shards of JSON lines, with six more columns, some of them nested.

    make_parquet.py SHARDS OUT-DIR

Each shard of JSON lines behind zstd (id, text) becomes a Parquet file behind zstd, with row groups of 1,000 rows.
"""
import os
import sys

import orjson
import pyarrow
import pyarrow.parquet
import zstandard


def main():
    shards, out = sys.argv[1:]
    os.makedirs(out)
    for name in sorted(os.listdir(shards)):
        with open(f"{shards}/{name}", "rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            rows = [orjson.loads(line) for line in stream.read().splitlines()]
        table = pyarrow.table({
            "id": [row["id"] for row in rows],
            "text": [row["text"] for row in rows],
            "length": [len(row["text"]) for row in rows],
            "share_of_spaces": [row["text"].count(" ") / max(1, len(row["text"])) for row in rows],
            "source": pyarrow.array([row["id"].split("-")[0] for row in rows]).dictionary_encode(),
            "captured": pyarrow.array(range(len(rows)), pyarrow.timestamp("us", "UTC")),
            "first_words": [row["text"].split(None, 8)[:8] for row in rows],
            "quality": [{"lines": row["text"].count("\n"), "marks": [row["text"].count(c) for c in ".,;"]}
                        for row in rows],
        })
        target = f"{out}/{name.split('.')[0]}.parquet"
        pyarrow.parquet.write_table(table, target, compression="zstd", row_group_size=1000)


if __name__ == "__main__":
    main()
