"""The evidence of a deduplication in memory, and look-ups."""

import json
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import datasets
import numpy
import pandas
import polars
import pyarrow
import pytest
from made import texts_of
from test_run import SAMPLES

import lookalike

PARAMETERS = {"threshold": 0.5, "shingle_size": 3}
TEXTS = texts_of(1, 200)
TABLE = pyarrow.table({"n": range(len(TEXTS)), "text": TEXTS})


def score(a, b):
    return round(lookalike.resemblance(TEXTS[a], TEXTS[b], shingle_size=3), 6)


@pytest.mark.parametrize("keep", ["first", "last", ["longest", "max:n"]])
@pytest.mark.parametrize("rule", ["star", "cluster"])
def test_every_removed_row_has_its_reason(keep, rule):
    result = lookalike.deduplicate(TABLE, keep=keep, rule=rule, **PARAMETERS)
    kept = set(result.kept["n"].to_pylist())
    removed = result.removed.to_pylist()
    assert [row["row"] for row in removed] == [n for n in range(len(TEXTS)) if n not in kept]
    for row in removed:
        assert row["survivor"] in kept
        texts = [TEXTS[row[name]] for name in ("row", "survivor")]
        sets = [set(lookalike.single.fingerprints(text, shingle_size=3)) for text in texts]
        if row["reason"] in ("identical", "same words"):
            assert lookalike.tokens(TEXTS[row["row"]]) == lookalike.tokens(TEXTS[row["survivor"]])
        if row["reason"] != "chain":
            assert row["resemblance"] == score(row["row"], row["survivor"]) >= 0.5
            assert row["shared"] == len(sets[0] & sets[1])
    counts = result.summary["removed"]
    assert {r["reason"] for r in removed} == {reason for reason, n in counts.items() if n}
    assert result.summary["documents"] == len(TEXTS) and result.summary["kept"] == len(kept)


def test_clusters_are_those_that_pairs_connect():
    found = list(lookalike.clusters(TEXTS, **PARAMETERS))
    parents = list(range(len(TEXTS)))

    def root(n):
        return n if parents[n] == n else root(parents[n])

    for pair in lookalike.find_pairs(TEXTS, **PARAMETERS):
        a, b = sorted([root(pair["id_a"]), root(pair["id_b"])])
        parents[b] = a
    sizes = numpy.bincount([root(n) for n in range(len(TEXTS))])
    expected = [(n, root(n), sizes[root(n)]) for n in range(len(TEXTS)) if sizes[root(n)] > 1]
    assert [(row["id"], row["representative"], row["size"]) for row in found] == expected
    numbers = {row["cluster"]: row["representative"] for row in found}
    assert len(numbers) == len(set(numbers.values()))
    result = lookalike.deduplicate(TEXTS, **PARAMETERS)
    assert [{"id": row.pop("row"), **row} for row in result.clusters] == found


def test_a_page_about_the_result(tmp_path):
    result = lookalike.deduplicate(TABLE, **PARAMETERS)
    for name in ("one.html", "other.html"):
        page = result.report(tmp_path / name, samples=2)
        assert page.read_text().startswith("<!") and page == tmp_path / name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.html", "other.html"]


def test_another_table_to_compare_with(tmp_path):
    others, own = TEXTS[:120], TEXTS[120:]
    result = lookalike.deduplicate(own, against=polars.DataFrame({"text": others}), **PARAMETERS)
    for row in result.removed:
        assert (row["survivor"] is None) != (row["survivor_against"] is None)
        within = row["survivor"] is not None
        text = own[row["survivor"]] if within else others[row["survivor_against"]]
        found = lookalike.resemblance(own[row["row"]], text, shingle_size=3)
        assert round(found, 6) == row["resemblance"] >= 0.5
    kept = [text for n, text in enumerate(own) if n not in {row["row"] for row in result.removed}]
    assert result.kept == kept and len(kept) < len(own)
    for text in kept:
        for other in others:
            assert lookalike.resemblance(text, other, shingle_size=3) < 0.5
    # The same texts, as a run over files and as an index.
    file = tmp_path / "in.jsonl"
    rows = {"id": [f"x{n}" for n in range(120)], "text": others}
    file.write_text(polars.DataFrame(rows).write_ndjson())
    run = lookalike.run(file, tmp_path / "out", **PARAMETERS)
    index = lookalike.Index(others, shingle_size=3)
    for against, name in [(run, "x{}".format), (tmp_path / "out", "x{}".format), (index, int)]:
        again = lookalike.deduplicate(own, against=against, **PARAMETERS)
        assert again.kept == result.kept
        of = [row["survivor_against"] for row in result.removed]
        found = [row["survivor_against"] for row in again.removed]
        assert found == [None if row is None else name(row) for row in of]
        assert list(again.clusters) == list(result.clusters)


SENTENCES = ["one two three four", "something else", "One two, three four!", "one two three four five"]


@pytest.mark.parametrize("ids", [["a", "b", "c", "d"], [10, -1, 2**62, 0]])
def test_rows_are_called_by_ids(ids):
    for source in (SENTENCES, pandas.DataFrame({"text": SENTENCES}, index=ids), iter(SENTENCES)):
        labels = getattr(source, "index", ids) if isinstance(source, pandas.DataFrame) else ids
        result = lookalike.deduplicate(source, ids=labels, threshold=0.6, shingle_size=2)
        removed = pyarrow.table(result.removed).to_pylist()
        assert [(row["row"], row["survivor"]) for row in removed] == [(ids[2], ids[0]), (ids[3], ids[0])]
        members = pyarrow.table(result.clusters).to_pylist()
        assert [(row["row"], row["representative"]) for row in members] == [
            (ids[n], ids[0]) for n in (0, 2, 3)
        ]
    table = pyarrow.table({"text": SENTENCES, "key": ids})
    for source in (table, table.to_reader(), table.to_pandas().astype({"key": object})):
        removed = lookalike.deduplicate(source, ids="key", as_="table", threshold=0.6, shingle_size=2).removed
        assert [row["row"] for row in removed] == ids[2:]
    with pytest.raises(ValueError, match="3 ids for 4 texts"):
        lookalike.deduplicate(SENTENCES, ids=ids[:3])
    # The survivor of a row may be in the other table.
    result = lookalike.deduplicate(SENTENCES[:2], ids=ids[:2], against=SENTENCES[2:], shingle_size=2)
    (row,) = result.removed
    assert (row["row"], row["survivor"], row["survivor_against"]) == (ids[0], None, 0)
    # It is called as the index calls it, or by the column, if the other table has it.
    old = lookalike.Index(SENTENCES[2:], ids=ids[2:], shingle_size=2)
    assert list(old) == old.ids == ids[2:] and ids[2] in old and ids[0] not in old
    for against in (old, table[2:], table[2:].to_pylist(), table[2:].to_pandas().astype({"key": object})):
        removed = lookalike.deduplicate(table[:2], ids="key", against=against, shingle_size=2).removed
        (row,) = pyarrow.table(removed).to_pylist()
        assert (row["row"], row["survivor_against"]) == (ids[0], ids[2])
    removed = lookalike.deduplicate(table[:2], ids="key", against=SENTENCES[2:], shingle_size=2).removed
    assert pyarrow.table(removed).to_pylist()[0]["survivor_against"] == 0


def test_the_mask_selects_the_kept_rows():
    how = {"threshold": 0.6, "shingle_size": 2}
    expected = [True, True, False, False]
    frame = pandas.DataFrame({"text": SENTENCES}, index=list("wxyz"))
    result = lookalike.deduplicate(frame, **how)
    assert frame[result.mask].equals(result.kept) and list(frame[~result.mask].index) == ["y", "z"]
    result.mask[0] = False
    assert list(result.mask) == expected
    for table in (polars.DataFrame({"text": SENTENCES}), polars.LazyFrame({"text": SENTENCES})):
        result = lookalike.deduplicate(table, **how)
        assert table.filter(result.mask).lazy().collect().equals(result.kept)
    table = pyarrow.table({"text": SENTENCES})
    result = lookalike.deduplicate(table, as_="pandas", **how)
    assert table.filter(result.mask)["text"].to_pylist() == list(result.kept["text"])
    for texts in (SENTENCES, iter(SENTENCES), {"text": SENTENCES}):
        assert lookalike.deduplicate(texts, **how).mask == expected
    splits = {"train": SENTENCES[2:], "test": polars.DataFrame({"text": SENTENCES[:2]})}
    masks = lookalike.deduplicate_splits(splits, **how).mask
    assert masks["train"] == [False, False] and masks["test"].to_list() == [True, True]


def test_an_index_calls_texts_by_ids(tmp_path):
    index = lookalike.Index(directory=tmp_path / "index", shingle_size=2)
    assert len(index) == 0
    index.add(polars.DataFrame({"text": SENTENCES, "key": list("abcd")}), ids="key")
    found = [match["id"] for match in index.query("one two three four", threshold=0.6)]
    assert found == ["a", "d"] and index.text("c") == SENTENCES[2]
    for ids, error, message in [
        (None, ValueError, "the texts of this index have ids"),
        (["a"], ValueError, "the id 'a' in row 0 is that of another text"),
        ([1.5], TypeError, "the id in row 0 is float, not str or int"),
    ]:
        with pytest.raises(error, match=message):
            index.add(["new"], ids=ids)
    with pytest.raises(ValueError, match="the id 'x' in row 1 is that of another text"):
        lookalike.Index(["q", "r"], ids=["x", "x"])
    with pytest.raises(KeyError, match="the index has no text 'e'"):
        index.text("e")
    index.add(["something else again"], ids=["e"])
    again = lookalike.Index.open(tmp_path / "index")
    assert again.text("e") == "something else again"
    assert [match["id"] for match in again.query("something else", threshold=0.5)] == ["b", "e"]
    rows = lookalike.Index(SENTENCES, shingle_size=2)
    with pytest.raises(ValueError, match="are called by their rows"):
        rows.add(["new"], ids=["a"])
    assert rows.text(1) == SENTENCES[1]
    for id in (4, -1, "1", True):
        with pytest.raises(KeyError, match="the index has no text"):
            rows.text(id)


def test_texts_are_removed_from_an_index(tmp_path):
    index = lookalike.Index(SENTENCES[:2], ids=["a", "b"], directory=tmp_path / "index", shingle_size=2)
    index.add(SENTENCES[2:], ids=["c", "d"])
    with pytest.raises(KeyError, match="the index has no text 'x'"):
        index.remove(["a", "x"])
    assert len(index) == 4
    # The first of equal texts represents them.
    index.remove("a")
    answers = index.query("one two three four", threshold=0.6)
    assert [(match["id"], match["match"]) for match in answers] == [("c", "same words"), ("d", "near")]
    assert len(index) == 3 and index.text("d") == SENTENCES[3]
    assert lookalike.Index.open(tmp_path / "index").ids == index.ids
    result = lookalike.deduplicate(SENTENCES[:1], against=index, shingle_size=2, threshold=0.6)
    assert result.kept == []
    temporary = lookalike.Index(SENTENCES[2:], shingle_size=2)
    result = lookalike.deduplicate(SENTENCES[:1], against=temporary, shingle_size=2, threshold=0.6)
    del temporary
    assert [row["survivor_against"] for row in result.removed] == [0]
    again = lookalike.Index.open(tmp_path / "index")
    again.add(["one two three four"], ids=["a"])
    # What one has done, the other knows.
    assert len(index) == 4 and index.text("a") == "one two three four"
    with pytest.raises(ValueError, match="the id 'a' in row 0 is that of another text"):
        index.add(["x"], ids=["a"])
    again.remove(["c", "d", "b"])
    assert [match["id"] for match in again.query("one two three four")] == ["a"]
    assert [match["id"] for match in index.query("one two three four")] == ["a"]
    index.add(["four five six seven"], ids=["e"])
    assert [match["id"] for match in again.query("four five six seven")] == ["e"]
    again.remove("e")
    assert sorted(path.name for path in (tmp_path / "index").iterdir() if path.is_dir()) == ["collection-3"]
    again.remove("a")
    assert len(again) == 0 and again.query("one two three four") == []
    again.add(["a b c"], ids=["z"])
    assert [match["id"] for match in again.query("a b c")] == ["z"]
    # Rows are not used again, and a stopped removal changes nothing.
    rows = lookalike.Index(SENTENCES, directory=tmp_path / "rows", shingle_size=2)
    rows.remove([0, 3])
    rows.add(["a new text"])
    assert rows.text(4) == "a new text" and len(rows) == 3
    for gone in (0, 3):
        with pytest.raises(KeyError):
            rows.remove(gone)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rows.remove(1, progress=stop)
    for index in (rows, lookalike.Index.open(tmp_path / "rows")):
        assert len(index) == 3 and index.text(1) == SENTENCES[1]
        assert [match["id"] for match in index.query("one two three four", threshold=0.6)] == [2]
    rows.remove(1)
    assert [rows.text(row) for row in (2, 4)] == [SENTENCES[2], "a new text"]


def test_an_index_of_somebody_else_runs_and_overwrites_nothing(tmp_path):
    place, victim = tmp_path / "index", tmp_path / "victim"
    lookalike.Index(["a b c", "d e f"], ids=["x", "y"], directory=place)
    about = json.loads((place / "index.json").read_text())
    for name, value in [
        ("flags", [f"--convert=jsonl=touch {victim}"]),
        ("reading", [*about["reading"], "--exclude-text=/etc/hostname"]),
        ("reading", ["--hidden"]),
        ("flags", "--seed=1"),
        ("flags", [1]),
        ("generation", "/../../other"),
        ("removed", -1),
    ]:
        (place / "index.json").write_text(json.dumps(about | {name: value}))
        with pytest.raises(lookalike.Error, match="index.json is damaged"):
            lookalike.Index.open(place)
    (place / "index.json").unlink()
    os.mkfifo(place / "index.json")
    with pytest.raises(lookalike.Error, match="index.json is damaged"):
        lookalike.Index.open(place)
    (place / "index.json").unlink()
    (place / "index.json").write_text(json.dumps(about | {"place": os.fspath(tmp_path)}))
    index = lookalike.Index.open(place)
    victim.write_text("its own")
    for name in ("index.json.new", "texts-1-0.jsonl", "names-1-0.jsonl"):
        (place / name).symlink_to(victim)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (place / "collection-1").symlink_to(elsewhere)
    index.remove("x")
    assert index.directory.parent == place and index.text("y") == "d e f"
    assert not any(elsewhere.iterdir()) and not (place / "names-0.jsonl").exists()
    (place / "names-1-0.jsonl").rename(tmp_path / "names")
    (place / "names-1-0.jsonl").symlink_to(victim)
    with pytest.raises(OSError):
        index.add(["g h i"], ids=["z"])
    assert victim.read_text() == "its own"
    (tmp_path / "names").replace(place / "names-1-0.jsonl")
    # A removal that fails at its end changes nothing.
    (place / "index.json.new").mkdir()
    with pytest.raises(OSError):
        index.remove("y")
    (place / "index.json.new").rmdir()
    index.add(["g h i"], ids=["z"])
    assert lookalike.Index.open(place).text("z") == "g h i" and len(index) == 2
    (place / "collection-1").rename(elsewhere / "collection")
    (place / "collection-1").symlink_to(elsewhere / "collection")
    with pytest.raises(lookalike.Error, match="is a link"):
        lookalike.Index.open(place)


def test_what_an_index_cannot_do_says_what_can(tmp_path):
    kept = lookalike.Index(["a b"], directory=tmp_path / "index")
    for index, advice in [
        (lookalike.Index(["a b"]), r"make it with directory=DIR"),
        (kept, rf"lookalike\.Index\.open\('{tmp_path}/index'\)"),
    ]:
        with pytest.raises(TypeError, match=f"an index cannot be pickled .*{advice}"):
            pickle.dumps(index)
    run = lookalike.run(SAMPLES / "trec-web", tmp_path / "out")
    opened = lookalike.Index.open(run.directory)
    with pytest.raises(ValueError, match="of a run over files"):
        opened.remove("x")
    first = run.documents().head(1)[0]["id"]
    assert lookalike.tokens(opened.text(first)) != []
    # One that an earlier version made.
    (tmp_path / "index" / "index.json").unlink()
    older = lookalike.Index.open(tmp_path / "index")
    assert [match["id"] for match in older.query("a b")] == [0] and older.text(0) == "a b"
    with pytest.raises(ValueError, match="made by an earlier version"):
        older.remove(0)


def test_what_cannot_be_compared_with(tmp_path):
    run = lookalike.run(SAMPLES / "trec-web", tmp_path / "out", format="trec-web")
    with pytest.raises(ValueError, match="give its texts as a table"):
        lookalike.deduplicate(TEXTS, against=run)
    with pytest.raises(lookalike.Error):
        lookalike.deduplicate(TEXTS, against=tmp_path / "missing")
    with pytest.raises(KeyError, match="there is no column text, only n"):
        lookalike.deduplicate(TEXTS, against={"n": ["a"]})


def test_the_evidence_of_splits():
    splits = {"train": ["a b", "c d", "A b", "e f"], "test": ["a B", "e f", "x"]}
    result = lookalike.deduplicate_splits(splits)
    assert result.kept == {"train": ["c d"], "test": splits["test"]}
    where = ["split", "row", "survivor_split", "survivor"]
    assert [[row[name] for name in where] for row in result.removed] == [
        ["train", 0, "test", 0],
        ["train", 2, "test", 0],
        ["train", 3, "test", 1],
    ]
    found = [(row["split"], row["row"], row["size"]) for row in result.clusters]
    assert found == [("test", 0, 3), ("test", 1, 2), ("train", 0, 3), ("train", 2, 3), ("train", 3, 2)]
    assert result.summary["kept"] == 4


def test_an_index_gives_what_the_command_gives(tmp_path):
    index = lookalike.Index(TEXTS[:90], shingle_size=3, directory=tmp_path / "index")
    index.add(pandas.DataFrame({"body": TEXTS[90:]}), "body")
    assert len(index) == len(TEXTS)
    rows = {"id": [str(n) for n in range(len(TEXTS))], "text": TEXTS}
    (tmp_path / "in.jsonl").write_text(polars.DataFrame(rows).write_ndjson())
    run = lookalike.run(tmp_path / "in.jsonl", tmp_path / "out", shingle_size=3)
    for parameters in ({"threshold": 0.3}, {"containing": 0.8}, {"threshold": 0.4, "top": 2}):
        theirs = {"top": 0, "containing": "none", **parameters}
        expected = [
            [{"id": int(match.pop("docno")), **match} for match in answer["matches"]]
            for answer in run.query(TEXTS, **theirs)
        ]
        assert index.query(TEXTS, **parameters) == expected
        assert index.query(TEXTS[7], **parameters) == expected[7]
    assert max(map(len, index.query(TEXTS, threshold=0.01))) > 10
    # What find_pairs finds, each pair from both of its sides.
    texts = dict.fromkeys(TEXTS)
    different = [text for text in texts if lookalike.shingles(text, shingle_size=3)]
    different = list({" ".join(lookalike.tokens(text)): text for text in reversed(different)}.values())
    own = lookalike.Index(different, shingle_size=3)
    answers = own.query(different, threshold=0.4)
    found = {(a, match["id"], match["score"]) for a, matches in enumerate(answers) for match in matches}
    pairs = lookalike.find_pairs(different, threshold=0.4, shingle_size=3)
    both = {(pair["id_a"], pair["id_b"], pair["resemblance"]) for pair in pairs}
    both |= {(b, a, score) for a, b, score in both}
    assert len(both) > 100
    assert found == both | {(a, a, 1.0) for a in range(len(different))}
    again = lookalike.Index.open(tmp_path / "index")
    again.add(["a text of its own that nobody else has"])
    assert again.query("a text of its own that nobody else has")[0]["id"] == len(TEXTS)
    opened = lookalike.Index.open(tmp_path / "out")
    assert opened.query(TEXTS[7])[0]["id"] == str(index.query(TEXTS[7])[0]["id"])
    with pytest.raises(ValueError, match="add files with Run.add"):
        opened.add(["a"])
    for _ in range(2):
        with pytest.raises(ValueError, match="^shingle_size 0 is not possible"):
            lookalike.Index(TEXTS, shingle_size=0, directory=tmp_path / "other")
    assert not (tmp_path / "other").exists()
    for wrong in ("threshold", "containing"):
        with pytest.raises(ValueError, match=f"^{wrong}="):
            index.query("a", **{wrong: 3})


def test_an_index_is_used_by_several_threads():
    index = lookalike.Index(TEXTS[:50], shingle_size=3)
    alone = {text: index.query(text)[:1] for text in TEXTS[4:20]}
    wrong = []

    def ask():
        try:
            for text, expected in alone.items():
                if index.query(text)[:1] != expected:
                    wrong.append(text)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    index.add(TEXTS[50:90])
    index.add(TEXTS[90:])
    for thread in threads:
        thread.join()
    assert not wrong and len(index) == len(TEXTS)


def test_plain_texts_against_texts_inside_of_columns():
    def turns(text):
        return [{"role": "user", "content": text}, {"role": "assistant", "content": f"you said {text}"}]

    chats = [{"m": turns("one two three four")}, {"m": turns("five six seven eight")}]
    known = ["FIVE six, seven eight", "nine"]
    path = "m[role=user].content"
    result = lookalike.deduplicate(chats, path, against=known, shingle_size=2)
    assert result.kept == chats[:1]
    assert [(row["row"], row["survivor_against"]) for row in result.removed] == [(1, 0)]
    result = lookalike.deduplicate(["one two three", "a b c"], path, against=chats, threshold=0.5, shingle_size=2)
    assert result.kept == ["a b c"]


def test_excluded_texts_count_for_nobody():
    template = "this is the template that everybody gets and has to fill in"
    texts = [f"{template} with the answer one", f"{template} but nobody copies", "with the answer one"]
    parameters = {"threshold": 0.5, "shingle_size": 3}
    assert [tuple(pair.values())[:2] for pair in lookalike.find_pairs(texts, **parameters)] == [(0, 1)]
    pairs = lookalike.find_pairs(texts, exclude=template, **parameters)
    assert [tuple(pair.values())[:2] for pair in pairs] == [(0, 2)]
    result = lookalike.deduplicate(texts, exclude=[template], **parameters)
    assert result.kept == texts[:2]
    assert [row["id"] for row in lookalike.clusters(texts, exclude=template, **parameters)] == [0, 2]
    for file in (__file__, Path(__file__)):
        with pytest.raises(ValueError, match="is a file, not a text: pass what it says"):
            lookalike.find_pairs(texts, exclude=file)
    # Beside texts inside of columns, and with texts to compare with.
    rows = [{"m": [{"content": text}]} for text in texts]
    result = lookalike.deduplicate(
        rows, "m[].content", against=["with the answer one"], exclude=template, **parameters
    )
    assert result.kept == rows[1:2]


def test_texts_without_a_shingle_have_no_resemblance():
    """Two texts of the same words, all of them excluded, had the resemblance 1.0."""
    licence = "this is the licence of all these texts and nobody reads it"
    texts = [licence, licence.upper(), "one two three four", "one two three four!"]
    for how in ({"exclude": licence}, {"short": "skip", "shingle_size": 20}):
        how = {"shingle_size": 3, **how}
        left = 3 if how["shingle_size"] == 20 else 1
        found = [(row["id_a"], row["id_b"], row["resemblance"]) for row in lookalike.find_pairs(texts, **how)]
        assert found == [(0, 1, None), (2, 3, None if left == 3 else 1.0)]
        removed = lookalike.deduplicate(texts, **how).removed
        assert [(row["row"], row["resemblance"]) for row in removed] == [(1, None), found[1][1:]]


def test_the_evidence_of_splits():
    """It was a `Table`, whatever came in, and the splits were shown without their sizes."""
    splits = {"train": ["a b c", "d e f"], "test": ["A b, c", "g h i"]}
    kinds = {
        "table": lambda texts: texts,
        "arrow": lambda texts: pyarrow.table({"text": texts}),
        "pandas": lambda texts: pandas.DataFrame({"text": texts}),
        "polars": lambda texts: polars.DataFrame({"text": texts}),
        "dataset": lambda texts: datasets.Dataset.from_dict({"text": texts}),
    }
    types = [lookalike.Table, pyarrow.Table, pandas.DataFrame, polars.DataFrame, datasets.Dataset]
    for (_, make), kind in zip(kinds.items(), types):
        result = lookalike.deduplicate_splits({name: make(texts) for name, texts in splits.items()})
        assert type(result.removed) is kind and type(result.clusters) is kind
        assert repr(result) == "lookalike.SplitsResult(train: 1 of 2 rows, test: 2 of 2 rows)"
    mixed = lookalike.deduplicate_splits({"train": splits["train"], "test": kinds["arrow"](["a b c"])})
    assert type(mixed.removed) is lookalike.Table and len(mixed.removed) == 1


@pytest.mark.parametrize("score", ["resemblance", "containment"])
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_the_evidence_is_that_of_listed_pairs(tmp_path, keep, score):
    """In memory, pairs are not listed; the command lists them."""
    template = " ".join(f"w{n}" for n in range(40))
    texts = TEXTS + [f"{template} {'x ' * (n % 5)} y{n} {template[: 9 * n]}" for n in range(60)]
    lines = (json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts))
    (tmp_path / "in.jsonl").write_text("".join(line + "\n" for line in lines))
    how = {**PARAMETERS, "score": score}
    lookalike.dedup(tmp_path / "in.jsonl", tmp_path / "kept", removed=tmp_path / "gone", keep=[keep], **how)
    column = "resemblance" if score == "resemblance" else "score"
    expected = set()
    for line in (tmp_path / "gone" / "removed.jsonl").read_text().splitlines():
        line = json.loads(line)
        survivor = int(line["survivor"]["docno"])
        expected.add((int(line["docno"]), line["reason"], survivor, line[column], line["shared"]))
    removed = lookalike.deduplicate(texts, keep=keep, **how).removed
    assert {tuple(row.values()) for row in removed} == expected and len(expected) > 90


def test_integers_of_pandas_stay_integers():
    """A survivor was a float where the others are rows of another table."""
    own = pandas.DataFrame({"text": ["a b c", "d e f", "D E F"]})
    removed = lookalike.deduplicate(own, against=["A B C"]).removed
    assert [str(removed[name].dtype) for name in ("survivor", "survivor_against")] == ["UInt64"] * 2
    assert removed["survivor"].isna().tolist() == [True, False]
    assert removed["survivor"].tolist()[1] == 1 and removed["survivor_against"].tolist()[0] == 0
    assert str(lookalike.find_pairs(own)["id_a"].dtype) == "uint64"


def test_messages_name_the_parameter():
    rows = pyarrow.table({"text": ["a b c"]})
    other = pyarrow.table({"body": ["a b c"], "n": [1]})
    for name in ("against", "exclude"):
        with pytest.raises(KeyError, match=f"{name}: there is no column text, only body, n"):
            lookalike.deduplicate(rows, **{name: other})
        with pytest.raises(TypeError, match=f"{name}: the text in row 0 is int, not str"):
            lookalike.deduplicate(rows, **{name: [7]})
    with pytest.raises(KeyError, match="against: no row has a text: "):
        chats = pyarrow.table({"m": [[{"role": "user", "content": "a"}]]})
        answers = pyarrow.table({"m": [[{"role": "model", "content": "a"}]]})
        lookalike.deduplicate(chats, "m[role=user].content", against=answers)
    # The message of another parameter names that one only.
    with pytest.raises(ValueError, match="^shingle_size"):
        lookalike.deduplicate(rows, against=rows, shingle_size=0)


def test_parameters_that_are_meant():
    with pytest.raises(TypeError, match=r"find_pairs\(\) has no parameter exclude_text: use exclude="):
        lookalike.find_pairs(["a"], exclude_text="b")
    with pytest.raises(TypeError, match=r"deduplicate_splits\(\) .* text_field: use text="):
        lookalike.deduplicate_splits({"a": ["b"]}, text_field="b")
    with pytest.raises(TypeError, match=r"deduplicate\(\) has no parameter id_field: use ids="):
        lookalike.deduplicate(["a"], id_field="b")
    with pytest.raises(TypeError, match="unexpected keyword argument 'id_field'"):
        lookalike.deduplicate_splits({"a": ["b"]}, id_field="b")


def test_an_iterator_that_was_read_before():
    """It gave no pairs, without a message."""
    texts = (text for text in ["a b c", "A B C"])
    assert len(lookalike.find_pairs(texts)) == 1
    once = {"texts": texts}
    for call in (lookalike.find_pairs, lookalike.clusters, lookalike.deduplicate, lookalike.Index):
        with pytest.raises(ValueError, match="^the generator gives no texts; it can be read only once"):
            call(**once)
    with pytest.raises(ValueError, match="^against: the generator gives no texts"):
        lookalike.deduplicate(["a"], against=texts)
    with pytest.raises(ValueError, match="^split train: the generator gives no texts"):
        lookalike.deduplicate_splits({"train": texts, "test": ["a"]})
    assert len(lookalike.find_pairs([])) == 0


ADDING = """
import sys, lookalike
index = lookalike.Index.open(sys.argv[1])
first = int(sys.argv[2])
for start in range(first, first + 60, 20):
    texts = [f"text {n} of a process with words {n * 7} {n * 11}" for n in range(start, start + 20)]
    index.add(texts, ids=[f"p{n}" for n in range(start, start + 20)])
"""


def test_processes_that_add_to_one_index_lose_nothing(tmp_path):
    place = tmp_path / "index"
    lookalike.Index(["a b c d"], ids=["a"], directory=place, shingle_size=2)
    command = [sys.executable, "-c", ADDING, os.fspath(place)]
    adding = [subprocess.Popen([*command, str(n)]) for n in (0, 1000)]
    index = lookalike.Index.open(place)
    while any(process.poll() is None for process in adding):
        assert [match["id"] for match in index.query("a b c d")] == ["a"]
    assert [process.wait() for process in adding] == [0, 0]
    assert len(index) == 121
    for n in [*range(60), *range(1000, 1060)]:
        assert index.text(f"p{n}").startswith(f"text {n} ")


def test_an_addition_that_is_killed_is_finished(tmp_path):
    killed = 0
    for n in range(12):
        place = tmp_path / f"index{n}"
        lookalike.Index(["a b c d"], ids=["a"], directory=place, shingle_size=2)
        process = subprocess.Popen([sys.executable, "-c", ADDING, os.fspath(place), "0"])
        while not (place / "texts-1.jsonl").exists():
            assert process.poll() is None
        time.sleep(n / 200)
        process.kill()
        killed += process.wait() != 0
        index = lookalike.Index.open(place)
        assert len(index) in (1, 21, 41, 61)
        index.add(["e f g h"], ids=["e"])
        assert [match["id"] for match in index.query("e f g h")] == ["e"]
        assert index.text("a") == "a b c d"
    assert killed > 6
