"""The evidence of a deduplication in memory, and look-ups."""

import threading
from pathlib import Path

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
        sets = [set(lookalike.fingerprints(text, shingle_size=3)) for text in texts]
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
    for against, docno in [(run, "x{}"), (tmp_path / "out", "x{}"), (index, "{}")]:
        again = lookalike.deduplicate(own, against=against, **PARAMETERS)
        assert again.kept == result.kept
        of = [row["survivor_against"] for row in result.removed]
        found = [row["survivor_against"] for row in again.removed]
        assert found == [None if row is None else docno.format(row) for row in of]
        assert list(again.clusters) == list(result.clusters)


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
    for parameters in ({"threshold": 0.3}, {"containing": None}, {"threshold": 0.4, "top": 2}):
        theirs = {**parameters, "containing": parameters.get("containing", 0.8) or "none"}
        expected = [
            [{"id": int(match.pop("docno")), **match} for match in answer["matches"]]
            for answer in run.query(TEXTS, **theirs)
        ]
        assert index.query(TEXTS, **parameters) == expected
        assert index.query(TEXTS[7], **parameters) == expected[7]
    assert max(map(len, index.query(TEXTS, 0.01, top=None))) > 10
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
