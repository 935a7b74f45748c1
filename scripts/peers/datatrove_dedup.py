"""Deduplicates shards of JSON lines with datatrove's MinHash pipeline, and writes kept and removed lines.

    datatrove_dedup.py SHARDS OUT-DIR

Its four stages as its example has them (signatures, buckets, clusters, filter), with its default configuration: 5-grams,
14 buckets of 8 hashes. One worker. OUT-DIR/kept and OUT-DIR/removed are shards behind zstd.
"""
import os
import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter


def main():
    shards, out = sys.argv[1:]
    tasks = len(os.listdir(shards))
    config = MinhashConfig()

    def reader():
        return JsonlReader(shards, compression="zstd")

    def run(stage, pipeline, tasks):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=f"{out}/logs/{stage}").run()

    run("signatures", [reader(), MinhashDedupSignature(f"{out}/signatures", config)], tasks)
    run("buckets", [MinhashDedupBuckets(f"{out}/signatures", f"{out}/buckets", config=config)], config.num_buckets)
    run("clusters", [MinhashDedupCluster(f"{out}/buckets", f"{out}/remove", config=config)], 1)
    removed = JsonlWriter(f"{out}/removed", compression="zstd")
    kept = JsonlWriter(f"{out}/kept", compression="zstd")
    run("filter", [reader(), MinhashDedupFilter(f"{out}/remove", removed), kept], tasks)


if __name__ == "__main__":
    main()
