"""Arrays of jobs whose exchange is a bucket: the results of a run, whatever happens to the jobs."""

import random
import signal
import subprocess

import pytest

import stores
from test_stores import COMMAND, FILES, SAMPLES, environment, proxy, s3, same, told  # noqa: F401

TASKS = 2
STEPS = 8


def plan(address, exchange, *more, fails=False):
    inputs = ["s3://crawl/samples/trec-web", "s3://crawl/samples/warc"]
    return told(address, "tasks", "plan", *inputs, "--tasks", TASKS, "-o", exchange, *more, fails=fails)


def in_order(seed):
    """The tasks of each step in another order."""
    chance = random.Random(seed)
    for step in range(STEPS):
        numbers = [step * TASKS + number for number in range(TASKS)]
        chance.shuffle(numbers)
        yield from numbers


@pytest.fixture(scope="module")
def expected(s3, tmp_path_factory):  # noqa: F811
    out = tmp_path_factory.mktemp("expected") / "run"
    told(None, "run", SAMPLES / "trec-web", SAMPLES / "warc", "-o", out, "--quiet")
    return out


def test_jobs_that_are_killed_or_hindered_leave_the_results_of_a_run(s3, proxy, expected, tmp_path):  # noqa: F811
    exchange = "s3://crawl/jobs/all"
    plan(proxy.address, exchange)
    assert "0-1" in told(proxy.address, "tasks", "run", exchange, "--task", 3, fails=True)
    killed = 0
    for task in in_order(1):
        run = ["tasks", "run", exchange, "--task", task, "--memory", "300MiB", "--quiet"]
        if task in (1, 5, 12, 15):
            # Killed at its first request that changes something, before or after that arrives.
            process = subprocess.Popen([*map(str, [*COMMAND, *run])], env=environment(proxy.address))

            def kill(_, method, path, process=process, arrives=killed % 2 == 1):
                if method not in stores.CHANGES:
                    return False
                process.send_signal(signal.SIGKILL)
                return not arrives

            proxy.watch = kill
            assert process.wait(timeout=100) == -signal.SIGKILL
            proxy.watch = None
            killed += 1
        proxy.fault = ["cut", "500", "503", "reversed", "500 of changes", "lost", None][task % 7]
        told(proxy.address, *run)
        proxy.fault = None
        if task % 5 == 0:
            before = s3.etags("jobs/all")
            told(proxy.address, *run)
            assert s3.etags("jobs/all") == before
    assert killed == 4
    status = told(proxy.address, "tasks", "status", exchange)
    assert status.count(f" {TASKS}\n") == STEPS, status
    told(proxy.address, "tasks", "finish", exchange, "-o", tmp_path / "out", "--quiet")
    same(tmp_path / "out", expected)
    for name, content in s3.below("jobs/all").items():
        assert stores.SECRET.encode() not in content and stores.KEY.encode() not in content, name
    # It is a directory like others.
    allow = ["--allow-store", "s3://crawl"]
    told(proxy.address, "dedup", "--from", tmp_path / "out", "-o", tmp_path / "kept", "--quiet", *allow)


def rows(content):
    lines = [line for line in content.decode().splitlines() if not line.startswith("#")]
    return lines[0], sorted(lines[1:])


def test_pairs_alone_go_to_a_bucket(s3, proxy, expected):  # noqa: F811
    exchange, out = "s3://crawl/jobs/pairs", "s3://crawl/jobs/listed"
    plan(proxy.address, exchange, "--pairs-only")
    for task in in_order(2):
        told(proxy.address, "tasks", "run", exchange, "--task", task, "--memory", "300MiB", "--quiet")
    segments = [name for name in s3.etags("jobs/pairs") if name.startswith("collection/")]
    assert segments and all(name.endswith(".rejects") for name in segments)
    told(proxy.address, "tasks", "finish", exchange, "-o", out, "--quiet")
    listed = s3.below("jobs/listed")
    assert rows(listed["pairs.tsv"]) == rows((expected / "pairs.tsv").read_bytes())
    rejects = (expected / "rejects.jsonl").read_bytes().replace(str(SAMPLES).encode(), b"s3://crawl/samples")
    assert rejects.startswith(listed["rejects.jsonl"])
    exact = rows((expected / "exact-duplicates.tsv").read_bytes())[1]
    found = rows(listed["same-words.tsv"])[1]
    names = [sorted(line.split("\t")[:2] for line in lines) for lines in (exact, found)]
    assert names[0] == names[1] and found
    told(proxy.address, "tasks", "finish", exchange, "-o", out, "--quiet")
    assert s3.below("jobs/listed") == listed
    s3.put("jobs/listed/pairs.tsv", b"theirs")
    assert "not empty" in told(proxy.address, "tasks", "finish", exchange, "-o", out, fails=True)


def test_what_is_not_there_or_not_ours_is_refused(s3, proxy, tmp_path):  # noqa: F811
    other = "s3://crawl/jobs/other"
    assert "no plan" in told(proxy.address, "tasks", "status", other, fails=True)
    s3.put("jobs/other/file", b"theirs")
    assert "not empty" in plan(proxy.address, other, fails=True)
    exchange = "s3://crawl/jobs/refused"
    plan(proxy.address, exchange)
    plan(proxy.address, exchange)
    assert "another plan" in plan(proxy.address, exchange, "--threshold", "0.5", fails=True)
    text = told(proxy.address, "tasks", "finish", exchange, "-o", tmp_path / "out", fails=True)
    assert "0-1" in text
    # An object of another plan, and one that is cut off.
    told(proxy.address, "tasks", "run", exchange, "--task", 0, "--quiet")
    content = s3.below("jobs/refused")["1-read/00000.rows"]
    s3.put("jobs/refused/1-read/00001.rows", content)
    text = told(proxy.address, "tasks", "run", exchange, "--task", 2, fails=True)
    assert "1-read/00001.rows" in text and "of the task" in text
    s3.put("jobs/refused/1-read/00001.rows", content[:-9])
    text = told(proxy.address, "tasks", "run", exchange, "--task", 2, fails=True)
    assert "1-read/00001.rows" in text
    assert s3.below("jobs/other") == {"file": b"theirs"}


def test_results_are_published(s3, proxy, expected):  # noqa: F811
    address = "s3://crawl/published"
    publish = ["export", "results", expected, address, "--results", "parquet", "--quiet"]
    proxy.fault = "lost"
    told(proxy.address, *publish)
    proxy.fault = None
    published = s3.below("published")
    assert sorted(published) == sorted([*FILES, "summary.json", *(f"{name}.parquet" for name in ("pairs", "clusters", "documents"))])
    assert all((expected / name).read_bytes() == content for name, content in published.items())
    before = len(proxy.seen)
    told(proxy.address, *publish)
    assert all(method in ("GET", "HEAD") for method, *_ in proxy.seen[before:])
    s3.put("published/pairs.tsv", b"theirs")
    assert "published/pairs.tsv" in told(proxy.address, *publish, fails=True)
    assert s3.below("published")["pairs.tsv"] == b"theirs"
    assert "address" in told(proxy.address, "export", "results", expected, expected / "copy", fails=True)
