"""The same tasks on LakeSail Sail: compares results, because Sail has given wrong ones without an error."""

import pyarrow
from made import texts_of
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

import lookalike
import lookalike.spark

PARAMETERS = {"threshold": 0.5, "shingle_size": 3}


def main():
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    texts = texts_of(1, 200)
    df = spark.createDataFrame(list(enumerate(texts)), "id long, text string")
    expected = rows_of(lookalike.find_pairs(texts, **PARAMETERS))
    for partitions in (1, 7):
        pairs = lookalike.spark.find_pairs(df, partitions=partitions, **PARAMETERS)
        assert sorted(map(tuple, pairs.collect())) == expected, partitions
    documents = {id for pair in expected for id in pair[:2]}
    clusters = lookalike.spark.clusters(pairs).collect()
    assert {row["id"] for row in clusters} == documents
    table = pyarrow.table({"id": range(len(texts)), "text": texts})
    kept = pyarrow.table(lookalike.deduplicate(table, keep="longest", **PARAMETERS))
    found = lookalike.spark.deduplicate(df, keep="longest", **PARAMETERS)
    assert sorted(row["id"] for row in found.collect()) == kept["id"].to_pylist()
    # Without ids, and with copies of every row.
    twice = df.drop("id").unionByName(df.drop("id"))
    kept = [row["text"] for row in lookalike.spark.deduplicate(twice, **PARAMETERS).collect()]
    with_words = [text for text in kept if lookalike.tokens(text)]
    assert len(with_words) == len({tuple(lookalike.tokens(text)) for text in with_words})
    assert len(kept) - len(with_words) == 2 * sum(not lookalike.tokens(t) for t in texts)
    spark.stop()
    server.stop()
    print(f"Sail: {len(expected)} pairs, {len(clusters)} documents in clusters, as on one machine")


def rows_of(table):
    return sorted(tuple(row.values()) for row in pyarrow.table(table).to_pylist())


main()
