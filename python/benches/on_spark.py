"""Pairs on Spark, measured: CPU time of all processes, peak memory, and bytes shuffled.

    python python/benches/on_spark.py make IN.jsonl.gz... TEXTS.parquet [--bytes N] [--plain]
    python python/benches/on_spark.py run TEXTS.parquet WHAT [--partitions N] [--master URL]

`make` takes texts (the fields `id`, `text` or `body`, `content_type` or `type`) from JSON lines, as many as have N
bytes. `run` writes the sorted pairs to TEXTS.parquet.WHAT.tsv. WHAT is `start-up` (the texts go to Python, which gives
nothing back), `exact`, `minhash`, `mllib` (MinHashLSH of Spark's MLlib over the same shingles), `deduplicate` (the ids of
the rows that stay), or `anti-join` (the rows whose id is no `id_b` of a pair, for ids that are known to be unique).
Memory is the highest sum of the resident sets of all processes, by samples of 0.1 s; CPU time is sampled too, and lacks
the last 0.1 s of each process.
"""

import argparse
import ctypes
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


def make(inputs, output, most, plain):
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("id", "string"), ("text", "string"), ("type", "string")])
    total, rows = 0, []
    with pyarrow.parquet.ParquetWriter(output, schema, compression="zstd") as writer:
        for path in inputs:
            opened = gzip.open if path.endswith(".gz") else open
            with opened(path, "rt") as lines:
                for line in lines:
                    record = json.loads(line)
                    kind = record.get("content_type") or record.get("type") or ""
                    if plain and kind != "text/plain":
                        continue
                    text = record.get("text") or record.get("body") or ""
                    id = str(record["id"])
                    rows.append({"id": id, "text": text, "type": kind})
                    total += len(text.encode())
                    if total >= most:
                        break
            # Groups of rows are what Spark makes tasks of.
            while len(rows) >= 1000 or rows and (total >= most or path == inputs[-1]):
                writer.write_table(pyarrow.Table.from_pylist(rows[:1000], schema))
                rows = rows[1000:]
            if total >= most:
                break
    print(f"{total} bytes of text")


def job(arguments):
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    import lookalike.spark

    spark = (
        SparkSession.builder.master(arguments.master)
        .config("spark.driver.memory", arguments.heap)
        .config("spark.executor.memory", arguments.heap)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", False)
        .config("spark.eventLog.enabled", True)
        .config("spark.eventLog.dir", arguments.events)
        .config("spark.eventLog.compress", False)
        .config("spark.eventLog.rolling.enabled", False)
        .config("spark.sql.files.maxPartitionBytes", "16m")
        .config("spark.sql.shuffle.partitions", arguments.partitions)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    df = spark.read.parquet(arguments.texts)
    types = {"content_type": "type"}
    if arguments.what == "start-up":
        found = df.mapInArrow(lambda batches: (batch[:0] for batch in batches), df.schema)
    elif arguments.what == "mllib":
        found = mllib(df)
    elif arguments.what == "deduplicate":
        found = lookalike.spark.deduplicate(df, memory=arguments.memory, **types).select("id")
    elif arguments.what == "anti-join":
        gone = lookalike.spark.find_pairs(df, memory=arguments.memory, **types).select("id_b")
        found = df.join(gone, df["id"] == gone["id_b"], "left_anti").select("id")
    else:
        found = lookalike.spark.find_pairs(df, method=arguments.what, memory=arguments.memory, **types)
    rows = sorted(tuple(row) for row in found.collect())
    with open(f"{arguments.texts}.{arguments.what}.tsv", "w") as out:
        for row in rows:
            print(*row, sep="\t", file=out)
    spark.stop()


def mllib(df):
    """MLlib's MinHashLSH with 5 tables over sets of shingles, hashed to 2^24 columns."""
    from pyspark.ml.feature import HashingTF, MinHashLSH
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    import lookalike

    @F.udf(T.ArrayType(T.StringType()))
    def shingles(text):
        return list(set(map(str, lookalike.single.fingerprints(text))))

    sets = df.select("id", shingles("text").alias("set")).where(F.size("set") > 0)
    hashing = HashingTF(inputCol="set", outputCol="features", numFeatures=1 << 24, binary=True)
    sets = hashing.transform(sets).select("id", "features").cache()
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=5, seed=1).fit(sets)
    pairs = model.approxSimilarityJoin(sets, sets, 0.15, distCol="distance")
    pairs = pairs.select(F.col("datasetA.id").alias("a"), F.col("datasetB.id").alias("b"), "distance")
    return pairs.where("a < b")


def shuffled(directory):
    """Bytes that tasks wrote for shuffles, and the CPU seconds that Spark knows of."""
    total = 0
    for path in Path(directory).iterdir():
        for line in path.open():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics") or {}
                total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


class Usage(threading.Thread):
    """Samples the memory and the CPU time of this process's descendants.

    Nobody waits for Spark's Python workers, so the kernel adds their time to no other process's.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.python, self.times = 0, 0, {}

    def cpu_seconds(self):
        return sum(self.times.values()) / os.sysconf("SC_CLK_TCK")

    def run(self):
        page = os.sysconf("SC_PAGE_SIZE")
        while True:
            parents, sizes, names, times = {}, {}, {}, {}
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    try:
                        stat = Path(entry.path, "stat").read_text()
                    except OSError:
                        continue
                    fields = stat.rsplit(")", 1)[1].split()
                    pid = int(entry.name)
                    parents[pid], sizes[pid] = int(fields[1]), int(fields[21]) * page
                    names[pid] = stat.split("(", 1)[1].rsplit(")", 1)[0]
                    times[pid, fields[19]] = int(fields[11]) + int(fields[12])
            below, python, ours = 0, 0, set()
            for pid in parents:
                above = pid
                while above and above != os.getpid():
                    above = parents.get(above, 0)
                if above and pid != os.getpid():
                    below += sizes[pid]
                    ours.add(pid)
                    if names[pid] != "java":
                        python = max(python, sizes[pid])
            self.peak, self.python = max(self.peak, below), max(self.python, python)
            self.times |= {key: ticks for key, ticks in times.items() if key[0] in ours}
            time.sleep(0.1)


def measure(arguments):
    # Processes whose parents have ended become ours, so that they count.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    usage = Usage()
    usage.start()
    with tempfile.TemporaryDirectory() as events:
        begun = time.monotonic()
        given = [sys.executable, __file__, "job", arguments.texts, arguments.what]
        flags = ["--master", arguments.master, "--heap", arguments.heap, "--events", events]
        flags += ["--partitions", str(arguments.partitions), "--memory", arguments.memory]
        subprocess.run([*given, *flags], check=True)
        wall = time.monotonic() - begun
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        result = {
            "what": arguments.what,
            "wall_s": round(wall, 1),
            "cpu_s": round(usage.cpu_seconds(), 1),
            "shuffle_MB": round(shuffled(events) / 1e6, 1),
            "peak_MB": round(usage.peak / 1e6),
            "largest_python_MB": round(usage.python / 1e6),
        }
    with open(f"{arguments.texts}.{arguments.what}.tsv") as rows:
        result["pairs"] = sum(1 for _ in rows)
    print(json.dumps(result), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("inputs", nargs="+")
    making.add_argument("output")
    making.add_argument("--bytes", type=int, default=1 << 60)
    making.add_argument("--plain", action="store_true", help="only plain text, for mllib")
    for name in ("run", "job"):
        running = commands.add_parser(name)
        running.add_argument("texts")
        running.add_argument("what", choices=["start-up", "exact", "minhash", "mllib", "deduplicate", "anti-join"])
        running.add_argument("--partitions", type=int, default=8)
        running.add_argument("--master", default="local[2]")
        running.add_argument("--heap", default="2g")
        running.add_argument("--memory", default="512MiB")
        running.add_argument("--events")
    arguments = parser.parse_args()
    if arguments.command == "make":
        make(arguments.inputs, arguments.output, arguments.bytes, arguments.plain)
    elif arguments.command == "job":
        job(arguments)
    else:
        measure(arguments)


main()
