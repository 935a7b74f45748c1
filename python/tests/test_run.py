"""The commands from Python: the same flags, the same bytes, the same errors."""

import contextlib
import inspect
import json
import os
import signal
import threading
from pathlib import Path

import pytest

import lookalike
from lookalike import _native
from lookalike._run import INPUT_FLAGS, OWN_FLAGS

SAMPLES = Path(__file__).parents[2] / "sample-corpora"
FILES = ["pairs.tsv", "clusters.jsonl", "exact-duplicates.tsv", "documents.tsv"]


# Parameters of the functions that are no flags, and flags that are no parameters.
@pytest.mark.parametrize(
    ("function", "parameters", "left_out"),
    [
        (lookalike.run, (), OWN_FLAGS | {"from"}),
        (lookalike.dedup, (), OWN_FLAGS),
        # The run is a directory, which has its pairs.
        (lookalike.Run.evaluate, (), OWN_FLAGS | {"truth", "run-lists"}),
        (lookalike.Run.query, ("text",), OWN_FLAGS | INPUT_FLAGS),
        (lookalike.Run.report, (), OWN_FLAGS),
        (lookalike.Run.add, (), OWN_FLAGS),
    ],
)
def test_every_flag_is_a_keyword_with_the_same_default(function, parameters, left_out):
    name = function.__name__
    given = inspect.signature(function).parameters.values()
    keywords = {
        parameter.name.rstrip("_"): parameter.default
        for parameter in given
        if parameter.kind is parameter.KEYWORD_ONLY
        and parameter.name not in (*parameters, "progress")
    }
    flags = [flag for flag in _native.flags(name) if flag[0] not in left_out]
    names = [flag[0].replace("-", "_") for flag in flags]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in given):
        # The others are taken by their name.
        assert len(keywords) < 30 and keywords.keys() < set(names)
    else:
        assert list(keywords) == names
    for long, takes_value, several, defaults, _ in flags:
        default = keywords.get(long.replace("-", "_"), inspect.Parameter.empty)
        if default is inspect.Parameter.empty:
            continue
        if not takes_value:
            assert default is False
        elif several:
            assert default in ((), "first")
        elif isinstance(default, bool):
            assert [str(default).lower()] == defaults
        else:
            assert ([] if default is None else [str(default)]) == defaults, long


def test_flags_without_a_parameter_are_taken_by_name(tmp_path):
    lines = [json.dumps({"id": str(n), "text": "NULL" if n == 2 else f"a b c {n}"}) for n in range(3)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    run = lookalike.run(
        tmp_path / "in.jsonl", tmp_path / "out", null=["NULL"], keep_text=True, detect_charset=False, seed=7
    )
    assert run.summary["ingest"]["documents"] == 2
    assert run.summary["collection"]["shingle"]["seed"] == 7
    counts = lookalike.dedup(tmp_path / "in.jsonl", tmp_path / "kept", link=True, keep="longest", empty="drop")
    assert counts["kept"] == 3
    with pytest.raises(TypeError, match=r"^run\(\) has no parameter treshold: did you mean threshold\?"):
        lookalike.run(tmp_path / "in.jsonl", tmp_path / "new", treshold=0.5)
    with pytest.raises(TypeError, match=r"^dedup\(\) has no parameter zzz, as lookalike dedup has no such"):
        lookalike.dedup(tmp_path / "in.jsonl", tmp_path / "new", zzz=True)
    assert not (tmp_path / "new").exists()


def test_the_results_are_those_of_any_number_of_threads(tmp_path):
    runs = [
        lookalike.run(SAMPLES / "trec-web", tmp_path / str(threads), threads=threads)
        for threads in (1, 3)
    ]
    for name in FILES:
        one, other = ((run.directory / name).read_bytes() for run in runs)
        assert one == other and one
    summary = runs[0].summary
    assert summary["join"]["pairs"] == len(
        [
            line
            for line in (runs[0].directory / "pairs.tsv").read_text().splitlines()
            if not line.startswith(("#", "docno_a"))
        ]
    )
    assert lookalike.Run.open(tmp_path / "1").summary == summary
    assert json.loads((tmp_path / "1" / "summary.json").read_text()) == summary


def test_parameters_arrive(tmp_path):
    run = lookalike.run(
        [SAMPLES / "trec-web"], tmp_path / "out", threshold=0.5, shingle_size=4, pairs="none"
    )
    assert run.summary["join"]["pairs"] > 0
    assert run.summary["collection"]["shingle"]["shingle_size"] == 4


def test_documents_are_removed(tmp_path):
    counts = lookalike.dedup(SAMPLES / "jsonl", tmp_path / "kept", removed=tmp_path / "removed")
    assert sum(counts["removed"].values()) == counts["documents"] - counts["kept"] > 0
    assert any((tmp_path / "kept").iterdir())


def test_errors_say_where_and_what_to_do(tmp_path):
    with pytest.raises(lookalike.Error) as told:
        lookalike.run(tmp_path / "missing", tmp_path / "out")
    assert told.value.path == tmp_path / "missing"
    assert told.value.help
    for wrong in [{"threshold": 3}, {"shingle_size": "x"}, {"join": "x"}, {"memory": "1 potato"}]:
        with pytest.raises(ValueError, match=f"^{next(iter(wrong))}=") as told:
            lookalike.run(SAMPLES / "trec-web", tmp_path / "out", **wrong)
        assert "\n" not in str(told.value) and "--" not in str(told.value)
    with pytest.raises(ValueError, match="cannot be used with") as told:
        lookalike.run(SAMPLES, tmp_path / "out", sampling="1/2", precision=0.9)
    assert "Usage" not in str(told.value) and "--help" not in str(told.value)
    with pytest.raises(lookalike.Error):
        lookalike.Run.open(tmp_path)


def test_secrets_of_addresses_are_not_in_exceptions(tmp_path):
    for address in ["https://user:secret@host/a", "s3://key:sec/secret@b/a", "https://host/a?X-Amz-Signature=secret"]:
        for given in [{"inputs": address}, {"inputs": SAMPLES / "jsonl", "exclude_text": address}]:
            with pytest.raises((ValueError, lookalike.Error)) as told:
                lookalike.run(out=tmp_path / "out", **given)
            assert "secret" not in str(told.value)


def test_progress_is_told_and_may_raise(tmp_path):
    events = []
    lookalike.run(SAMPLES / "trec-web", tmp_path / "out", progress=lambda *told: events.append(told))
    ended = [stage for event, stage, *_ in events if event == "end"]
    assert ended == ["ingest", "catalogue", "sample", "sort", "merge", "join", "cluster"]

    class Own(Exception):
        pass

    def refuse(*_):
        raise Own

    with pytest.raises(Own):
        lookalike.run(SAMPLES / "trec-web", tmp_path / "other", progress=refuse)


def test_ctrl_c_stops_and_the_same_call_continues(tmp_path):
    lines = tmp_path / "in.jsonl"
    with open(lines, "w") as file:
        for n in range(60_000):
            words = " ".join(str((n * 7919 + at * at) % 10_007) for at in range(120))
            file.write(f'{{"id": "{n}", "text": "{words}"}}\n')
    out = tmp_path / "out"

    def interrupt(event, *_):
        if event == "start":
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        lookalike.run(lines, out, threads=1, progress=interrupt)
    continued = lookalike.run(lines, out, threads=1)
    whole = lookalike.run(lines, tmp_path / "whole", threads=1)
    for name in FILES:
        assert (continued.directory / name).read_bytes() == (whole.directory / name).read_bytes()


@pytest.mark.parametrize("kind", ["txt", "jsonl"])
def test_a_program_runs_only_if_the_call_names_it(kind, tmp_path):
    """Every function that reads documents of a directory again, or texts as its documents."""
    marker, more = tmp_path / "marker", tmp_path / "more"
    texts = [" ".join(f"w{n % words}" for n in range(40)) for words in (10, 10, 17)]
    for place, some in ((tmp_path / "in", texts), (more, ["x y z"])):
        place.mkdir()
        for n, text in enumerate(some, len(list(tmp_path.iterdir()))):
            (place / f"{n}.{kind}").write_text(text if kind == "txt" else json.dumps({"text": text}))
    program = {kind: f"sh -c 'touch {marker}; cat'"}
    run = lookalike.run(tmp_path / "in", tmp_path / "out", convert=program)
    assert marker.exists()
    marker.unlink()
    refused = {
        "add": lambda **given: run.add(more, **given),
        "dedup": lambda **given: lookalike.dedup(more, tmp_path / "kept", against=run.directory, **given),
        "run": lambda **given: lookalike.run(more, tmp_path / "new", against=run.directory, **given),
        "deduplicate": lambda: lookalike.deduplicate(texts, against=run),
    }
    for name, call in refused.items():
        with pytest.raises((ValueError, lookalike.Error), match="convert"):
            call()
        assert not marker.exists(), name
    with contextlib.suppress(ValueError):
        assert run.query(texts[:1])[0]["found"] == 1
    with contextlib.suppress(ValueError):
        assert len(lookalike.Index.open(run.directory).query(texts[0])) == 1
    lookalike.dedup(None, tmp_path / "from", from_=run.directory)
    run.report(tmp_path / "page.html")
    run.evaluate(run)
    assert not marker.exists()
    for name, call in {**refused, "report": lambda **given: run.report(tmp_path / "page.html", **given)}.items():
        if name != "deduplicate":
            call(convert=program)
            assert marker.exists(), name
            marker.unlink()
