"""Objects as inputs: the results of files, whatever the network does."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest

import stores

SAMPLES = Path(__file__).parents[2] / "sample-corpora"
FILES = ["pairs.tsv", "clusters.jsonl", "exact-duplicates.tsv", "documents.tsv", "rejects.jsonl"]
# The program, or the module in a process of its own.
PROGRAM = os.environ.get("LOOKALIKE_PROGRAM")
MODULE = "import sys; from lookalike import _native; print(_native.command(sys.argv[1:], None))"
COMMAND = [PROGRAM] if PROGRAM else [sys.executable, "-c", MODULE]


def environment(endpoint=None):
    names = ("AWS_", "HF_", "AZURE_", "GOOGLE_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    clean |= {"HOME": "/nonexistent", "AWS_ACCESS_KEY_ID": stores.KEY}
    clean |= {"AWS_SECRET_ACCESS_KEY": stores.SECRET, "HF_TOKEN": stores.SECRET}
    if endpoint:
        clean |= {"AWS_ENDPOINT_URL": endpoint, "HF_ENDPOINT": endpoint}
    return clean


def told(endpoint, *arguments, fails=False, cwd=None):
    """What a command prints."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=environment(endpoint),
        capture_output=True,
        text=True,
        timeout=250,
        cwd=cwd,
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    assert stores.SECRET not in done.stdout + done.stderr
    return done.stdout + done.stderr


def same(one, other, names=FILES):
    """The same bytes; rejects name the place of the file, which is another one."""
    for name in names:
        contents = [(directory / name).read_bytes() for directory in (one, other)]
        if name == "rejects.jsonl":
            places = (str(SAMPLES).encode(), b"s3://crawl/samples")
            for place in places:
                contents = [content.replace(place, b"") for content in contents]
        assert contents[0] == contents[1], name
    assert (one / names[0]).read_bytes()


@pytest.fixture(scope="module")
def s3():
    server = stores.S3()
    server.put_all(SAMPLES, "samples")
    yield server
    server.stop()


@pytest.fixture
def proxy(s3):
    server, server.address = stores.proxy(s3.port)
    yield server
    server.shutdown()


@pytest.mark.parametrize("name", ["trec-web", "trec-sgml", "warc", "jsonl", "mail", "files", "broken"])
def test_objects_have_the_results_of_files(name, proxy, tmp_path):
    for place, out in [(SAMPLES / name, "files"), (f"s3://crawl/samples/{name}", "objects")]:
        told(proxy.address, "run", place, "-o", tmp_path / out, "--quiet", "--threshold", "0.5")
    same(tmp_path / "objects", tmp_path / "files")


@pytest.mark.parametrize("fault", ["cut", "500", "503", "short", "reversed"])
def test_faults_change_nothing(fault, proxy, tmp_path):
    told(None, "run", SAMPLES / "trec-web", SAMPLES / "warc", "-o", tmp_path / "files", "--quiet")
    proxy.fault = fault
    inputs = ["s3://crawl/samples/trec-web", "s3://crawl/samples/warc"]
    arguments = ["run", *inputs, "-o", tmp_path / "objects", "--quiet"]
    told(proxy.address, *arguments)
    same(tmp_path / "objects", tmp_path / "files")


def test_what_cannot_be_read_ends_the_run_and_rejects_nothing(proxy, tmp_path):
    arguments = ["run", "s3://crawl/samples/trec-web", "-o", tmp_path / "out", "--quiet"]
    for fault, said in [("broken", "Reduce your request rate."), ("whole", "non-partial")]:
        proxy.fault = fault
        text = told(proxy.address, *arguments, fails=True)
        assert said in text and "s3://crawl/samples/trec-web/a.gz" in text
        assert not (tmp_path / "out/rejects.jsonl").exists()
    proxy.fault = None
    told(proxy.address, *arguments)
    told(None, "run", SAMPLES / "trec-web", "-o", tmp_path / "files", "--quiet")
    same(tmp_path / "out", tmp_path / "files")


def lines(count, seed):
    chance = random.Random(seed)
    texts = [" ".join(f"w{chance.randrange(5000)}" for _ in range(60)) for _ in range(count)]
    texts[::10] = texts[5::10]
    return "".join(json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(texts)).encode()


def test_large_objects_are_cut_where_files_are(s3, proxy, tmp_path):
    content = lines(40_000, 1)
    (tmp_path / "in.jsonl").write_bytes(content)
    s3.put("large/in.jsonl", content)
    proxy.fault = "cut"
    for place, out in [(tmp_path / "in.jsonl", "files"), ("s3://crawl/large/in.jsonl", "objects")]:
        told(proxy.address, "stage", "ingest", place, "-o", tmp_path / out, "--quiet", "--segment-size", "8MiB")
    parts = ["documents.tsv"] if (tmp_path / "files/documents.tsv").exists() else []
    names = sorted(path.name for path in (tmp_path / "files/collection").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "objects/collection").iterdir())
    same(tmp_path / "objects/collection", tmp_path / "files/collection", names + parts)
    # Pieces end, and with them what is asked for ahead.
    asked = sum(
        int(end) + 1 - int(begin)
        for begin, end in (
            seen[2].removeprefix("bytes=").split("-") for seen in proxy.seen if seen[2]
        )
    )
    assert asked < 2 * len(content)


def test_an_object_that_changes_is_an_error(s3, proxy, tmp_path):
    content = lines(200, 2)
    # The same size, and within the same second.
    other = content.replace(b"w1", b"w2")
    s3.put("changing/a.jsonl", content)
    proxy.fault = lambda _: s3.put("changing/a.jsonl", other)
    arguments = ["run", "s3://crawl/changing", "-o", tmp_path / "out", "--quiet"]
    text = told(proxy.address, *arguments, fails=True)
    assert "changed" in text and "s3://crawl/changing/a.jsonl" in text
    # The directory is one of the old object.
    assert "input changed" in told(proxy.address, *arguments, fails=True)


def test_addresses_list_what_they_name(s3, proxy, tmp_path):
    texts = {"a b.txt": "one", "x#?y%20.txt": "two", "ünï/ç.txt": "three", "deep/er/z.txt": "four", ".hidden/h.txt": "five"}
    (tmp_path / "files").mkdir()
    for name, text in texts.items():
        text = " ".join(f"{text}{n}" for n in range(30))
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        s3.put(f"names/{name}", text.encode())
    s3.put("names-not/q.txt", b"other")
    # What some programs write for a folder.
    for folder in ["names/", "names/deep/", "names/empty/"]:
        s3.put(folder, b"")

    def docnos(*arguments, **given):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        told(proxy.address, "run", *arguments, "-o", out, "--quiet", **given)
        rows = (out / "documents.tsv").read_text().splitlines()
        rows = [row.split("\t") for row in rows if not row.startswith("#")]
        at = rows[0].index("docno")
        return [row[at] for row in rows[1:]]

    local = docnos(tmp_path / "files")
    assert len(local) == 4
    proxy.fault = "reversed"
    assert docnos("s3://crawl/names") == docnos("s3://crawl/names/") == local
    assert docnos("S3://crawl/names") == local
    assert docnos("s3://crawl/names/*.txt") == ["a b.txt", "x#?y%20.txt"]
    assert docnos("s3://crawl/names/**/*z.txt") == ["deep/er/z.txt"]
    assert docnos("s3://crawl/names/deep") == ["er/z.txt"]
    assert docnos("s3://crawl/names/a b.txt") == ["a b.txt"]
    assert docnos("s3://crawl/names", "--exclude", "deep/**", "--hidden") == docnos(
        tmp_path / "files", "--exclude", "deep/**", "--hidden"
    )
    both = docnos("s3://crawl/names/deep", tmp_path / "files/a b.txt")
    assert both == ["a b.txt", "er/z.txt"] or both == ["er/z.txt", "a b.txt"]
    for missing in ["s3://crawl/nothing", "s3://crawl/names/q*", "s3://nowhere/x"]:
        text = told(proxy.address, "run", missing, "-o", tmp_path / "none", fails=True)
        assert missing in text and "<?xml" not in text, text


def test_stored_places_are_read_again(proxy, tmp_path):
    place = "s3://crawl/samples/trec-web"
    for inputs, name in [(SAMPLES / "trec-web", "files"), (place, "objects")]:
        out = tmp_path / name
        told(proxy.address, "run", inputs, "-o", out, "--quiet")
        given = ["--quiet", "--allow-store", "s3://crawl"]
        told(proxy.address, "dedup", "--from", out, "-o", tmp_path / f"{name}-kept", *given)
        told(proxy.address, "report", out, *given)
        spans = tmp_path / f"{name}-spans"
        told(proxy.address, "passages", inputs, "-o", spans, "--quiet")
    for name in ["a.gz", "b.gz"]:
        kept = [tmp_path / f"{kind}-kept" / name for kind in ("files", "objects")]
        assert kept[0].read_bytes() == kept[1].read_bytes()
    same(tmp_path / "objects-spans", tmp_path / "files-spans", ["spans.tsv", "matches.tsv"])
    pair = ["PG-000004", "PG-000025"]
    one = told(None, "diff", tmp_path / "files", *pair)
    proxy.seen.clear()
    assert told(proxy.address, "diff", tmp_path / "objects", *pair, "--allow-store", "s3://crawl") == one
    # Both are in one small object: it is asked for once, after its state was looked at.
    assert [seen[0] for seen in proxy.seen].count("GET") == 1


def test_nothing_is_read_twice_and_nothing_is_spooled(proxy, tmp_path):
    told(proxy.address, "run", "s3://crawl/samples/trec-web", "-o", tmp_path / "out", "--quiet")
    asked = [seen[1:] for seen in proxy.seen if seen[2]]
    assert len(asked) == len(set(asked)) > 0
    stored = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert stored < sum(path.stat().st_size for path in (SAMPLES / "trec-web").iterdir()) * 8


def test_secrets_are_nowhere(proxy, tmp_path):
    out = tmp_path / "out"
    told(proxy.address, "run", "s3://crawl/samples/trec-web", "-o", out, "--quiet")
    told(proxy.address, "report", out, "--quiet", "--allow-store", "s3://crawl")
    proxy.fault = "whole"
    told(proxy.address, "run", "s3://crawl/samples/warc", "-o", tmp_path / "failed", fails=True)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        assert stores.SECRET.encode() not in content and stores.KEY.encode() not in content, path


def stopped(endpoint, arguments, ready):
    """Interrupts a command once it waits for an object. Returns its status."""
    running = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env=environment(endpoint),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not ready():
        assert running.poll() is None
        time.sleep(0.01)
    begin = time.monotonic()
    running.send_signal(signal.SIGINT)
    status = running.wait(60)
    # Timings decide no test; that it does not wait for the answer of ten seconds does.
    assert time.monotonic() - begin < 8
    return status


def test_a_stop_ends_within_a_second(proxy, tmp_path):
    proxy.fault = "slow"
    arguments = ["run", "s3://crawl/samples/trec-web", "-o", tmp_path / "out", "--quiet"]
    stopped(proxy.address, arguments, lambda: any(seen[2] for seen in proxy.seen))
    proxy.fault = None
    told(proxy.address, *arguments)


@pytest.mark.parametrize("format", ["jsonl", "text"])
def test_a_record_without_end_can_be_stopped(format, tmp_path):
    server, address = stores.files(SAMPLES)
    arguments = ["stage", "ingest", f"{address}/endless", "-o", tmp_path / "out", "--format", format, "--quiet"]
    # It says that it is larger than any disk.
    arguments.append("--ignore-disk-space")
    status = stopped(None, arguments, lambda: len(server.seen) > 30)
    # Python ends as the signal does that it was told of.
    assert status in (130, -signal.SIGINT)
    assert not list((tmp_path / "out/collection").glob("*.docs"))
    server.shutdown()


def test_the_hub_and_web_servers(tmp_path):
    server, address = stores.files(SAMPLES / "trec-web")
    told(None, "run", SAMPLES / "trec-web", "-o", tmp_path / "files", "--quiet")
    for number, inputs in enumerate([["hf://datasets/own/set"], ["hf://datasets/own/set@v1/*.gz"]]):
        told(address, "run", *inputs, "-o", tmp_path / f"hub{number}", "--quiet")
        same(tmp_path / f"hub{number}", tmp_path / "files")
    assert {seen[2] for seen in server.seen} == {f"Bearer {stores.SECRET}"}
    server.seen.clear()
    told(None, "run", f"{address}/plain/a.gz", f"{address}/plain/b.gz", "-o", tmp_path / "web", "--quiet")
    same(tmp_path / "web", tmp_path / "files")
    assert {seen[2] for seen in server.seen} == {None}
    text = told(None, "run", f"{address}/plain/", "-o", tmp_path / "none", fails=True)
    assert "are not listed" in text
    server.etags = False
    told(None, "run", f"{address}/plain/a.gz", f"{address}/plain/b.gz", "-o", tmp_path / "old", "--quiet")
    same(tmp_path / "old", tmp_path / "files")
    server.ranges = False
    text = told(None, "run", f"{address}/plain/a.gz", "-o", tmp_path / "none", fails=True)
    assert "Range request not supported" in text
    server.ranges, server.repeat = True, 500
    text = told(address, "run", "hf://datasets/own/set", "-o", tmp_path / "none", fails=True)
    assert "1000 entries" in text
    server.shutdown()


@pytest.mark.parametrize(
    ("lie", "arguments", "says"),
    [
        ("long", ["s3://crawl/a"], "sent more than the 1000 bytes"),
        ("long", ["hf://datasets/own/set/a"], "sent more than the 1000 bytes"),
        ("short", ["s3://crawl/a"], "10 bytes came for a range of 1000"),
        ("short", ["hf://datasets/own/set/a"], "10 bytes came for a range of 1000"),
        ("size", ["s3://crawl/a"], "1152921504606846976 bytes"),
        ("error", ["s3://crawl/a"], "403"),
        ("error", ["hf://datasets/own/set"], "403"),
        ("listing", ["s3://crawl/", "--memory", "256MiB"], "more objects than fit"),
        ("listing", ["s3://crawl/a/*.gz", "--memory", "256MiB"], "more objects than fit"),
        ("hub", ["hf://datasets/own/set"], "at most 4095 bytes and 256 names"),
        ("again", ["s3://crawl/a/"], "a page was listed before"),
        ("empty", ["s3://crawl/a/"], "1000 pages name no more objects"),
        ("token", ["s3://crawl/a/"], "the name of a page has 20971520 bytes"),
        ("key", ["s3://crawl/a/"], "this one has 20971528 bytes and 3"),
        ("deep", ["s3://crawl/a/*/**"], "at most 4095 bytes and 256 names"),
        ("outside", ["s3://crawl/a/"], "lists \"b/x.txt\" below"),
        ("range", ["s3://crawl/a"], "sent bytes up to 18446744073709551615"),
        ("itself", ["hf://datasets/own/set/d"], "where it is not"),
    ],
)
def test_a_server_that_lies_ends_the_command(lie, arguments, says, tmp_path):
    server, address = stores.lying(lie)
    text = told(address, "run", *arguments, "-o", tmp_path / "out", "--quiet", fails=True)
    assert says in text and "panicked" not in text
    # What is in the buffers of the system, for each try.
    assert server.sent < 256 << 20
    server.shutdown()


def test_requests_with_credentials_stay_on_their_host(tmp_path):
    files, there = stores.files(SAMPLES / "trec-web")
    server, address = stores.lying(there)
    text = told(address, "check", "count", "s3://crawl/a", fails=True)
    assert "redirects to 127.0.0.1" in text and not files.seen
    # The hub sends readers elsewhere, and they go there without its token.
    told(address, "run", "hf://datasets/own/set", "-o", tmp_path / "hub", "--quiet")
    assert {seen[2] for seen in server.seen if seen[1].startswith("/api")} == {f"Bearer {stores.SECRET}"}
    assert files.seen and {seen[2] for seen in files.seen} == {None}
    files.seen.clear()
    told(None, "run", f"{address}/plain/a.gz", "-o", tmp_path / "web", "--quiet")
    assert files.seen
    for one in (files, server):
        one.shutdown()


def test_secrets_in_addresses_are_refused_and_not_shown(tmp_path):
    for given in [
        [f"https://user:{stores.SECRET}@localhost/a"],
        [f"s3://user:{stores.SECRET}@crawl/a"],
        [f"https://localhost/a?X-Amz-Signature={stores.SECRET}"],
        ["s3://crawl/a", "--allow-store", f"https://user:{stores.SECRET}@localhost"],
        ["s3://crawl/a", "--endpoint", f"http://user:{stores.SECRET}@localhost:1"],
        [SAMPLES / "jsonl", "--exclude-text", f"https://user:{stores.SECRET}@localhost/a"],
    ]:
        # `told` looks for the secret.
        text = told(None, "run", *given, "-o", tmp_path / "out", fails=True)
        assert "address" in text or "endpoint" in text
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or stores.SECRET.encode() not in path.read_bytes()


def test_a_received_directory_reaches_no_host(s3, proxy, tmp_path):
    out, kept, exchange = tmp_path / "out", tmp_path / "kept", tmp_path / "exchange"
    told(proxy.address, "run", "s3://crawl/samples/trec-web", "-o", out, "--quiet")
    told(proxy.address, "dedup", "s3://crawl/samples/trec-web", "-o", kept, "--quiet")
    plan = told(proxy.address, "tasks", "plan", "s3://crawl/samples/trec-web", "--tasks", 1, "-o", exchange)
    assert "export LOOKALIKE_ALLOW_STORE=s3://crawl\n" in plan
    allow = ["--allow-store", "s3://crawl"]
    for number, command in enumerate(
        [
            ["dedup", "--from", out, "-o", tmp_path / "again", "--quiet"],
            ["diff", out, "PG-000004", "PG-000025"],
            ["tasks", "run", exchange, "--task", 0, "--memory", "300MiB", "--quiet"],
        ]
    ):
        proxy.seen.clear()
        text = told(proxy.address, *command, fails=True)
        assert "--allow-store s3://crawl" in text and not proxy.seen
        text = told(proxy.address, *command, "--allow-store", "s3://craw,https://crawl", fails=True)
        assert "--allow-store s3://crawl" in text and not proxy.seen
        told(proxy.address, *command, *allow)
        assert proxy.seen, number
    # A page shows the texts that it can read.
    for command in (["report", out], ["report", kept], ["check", "verify", out], ["passages", "--help"]):
        proxy.seen.clear()
        subprocess.run([*COMMAND, *map(str, command)], env=environment(proxy.address), capture_output=True)
        assert not proxy.seen, command
    text = told(None, "check", "count", SAMPLES / "jsonl", "--allow-store", "crawl", fails=True)
    assert "give the address of a bucket or host" in text


@pytest.mark.skipif(bool(PROGRAM), reason="two commands of one process")
def test_commands_of_one_process_do_not_know_each_other(proxy, tmp_path, monkeypatch):
    from lookalike import _native

    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    begun = []

    def other(number, method, path):
        """Before each request, another command begins and ends, with another server and without credentials."""
        begun.append(number)
        local = ["check", "count", str(SAMPLES / "jsonl"), "--endpoint", "http://127.0.0.1:1", "--anonymous"]
        _native.command([*local, "--memory", "300MiB"], None)
        begun.pop()

    proxy.watch = other
    reads = ["run", "s3://crawl/samples/trec-web", "-o", str(tmp_path / "objects"), "--quiet"]
    _native.command([*reads, "--endpoint", proxy.address], None)
    assert proxy.seen and begun == []
    assert all(header.startswith("AWS4") for header in proxy.authorized)
    proxy.watch = None
    _native.command(["run", str(SAMPLES / "trec-web"), "-o", str(tmp_path / "files"), "--quiet"], None)
    same(tmp_path / "objects", tmp_path / "files")


@pytest.mark.skipif(bool(PROGRAM), reason="two commands of one process")
def test_a_copy_of_a_fifo_is_of_one_command(tmp_path):
    from lookalike import _native

    run, fifo = tmp_path / "run", tmp_path / "truth"
    _native.command(["run", str(SAMPLES / "jsonl"), "-o", str(run), "--quiet"], None)
    pairs = [line for line in (run / "pairs.tsv").read_text().splitlines(True) if not line.startswith("#")]
    os.mkfifo(fifo)
    nested, writers = [], []

    def recall(truth, progress):
        """What a command reads from the FIFO."""
        writers.append(threading.Thread(target=fifo.write_text, args=("".join(truth),)))
        writers[-1].start()
        arguments = ["evaluate", run, f"--truth={fifo}", "--pair-columns=docno_a,docno_b", "--json"]
        printed = json.loads(_native.command(arguments, progress))
        assert not any(writer.is_alive() for writer in writers)
        return printed["pairs"][0]["representatives"]["all"]["recall"]

    def begins(event, *_):
        if not nested:
            writers[-1].join(60)
            nested.append(None)
            nested.append(recall([*pairs[:2], "x\ty\n"], None))

    assert recall(pairs, None) == 1
    assert recall([*pairs[:2], "x\ty\n", "v\tw\n", "z\tu\n"], begins) == 0.25
    assert nested == [None, 0.5]


@pytest.mark.skipif(bool(PROGRAM), reason="two commands of one process")
def test_a_stop_is_heard_while_another_command_runs(proxy, tmp_path):
    local = ["check", "count", str(SAMPLES / "jsonl")]
    reads = ["run", "s3://crawl/samples/trec-web", "-o", str(tmp_path / "out"), "--quiet"]
    script = (
        "import sys, threading; from lookalike import _native; local, reads = eval(sys.argv[1])\n"
        "def others():\n    while True: _native.command(local, None)\n"
        "threading.Thread(target=others, daemon=True).start(); _native.command(reads, None)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script, repr((local, reads))],
        env=environment(proxy.address),
        stderr=subprocess.DEVNULL,
    )
    proxy.fault = "slow"
    while not any(seen[2] for seen in proxy.seen):
        assert running.poll() is None
        time.sleep(0.01)
    # The local command begins many times in this time.
    time.sleep(1)
    begin = time.monotonic()
    running.send_signal(signal.SIGINT)
    running.wait(60)
    assert time.monotonic() - begin < 8


def test_what_is_gone_or_denied_ends_the_run(s3, proxy, tmp_path):
    s3.put("going/a.txt", b"one two three")
    proxy.fault = lambda _: s3.request("DELETE", "/crawl/going/a.txt")
    out = tmp_path / "out"
    text = told(proxy.address, "run", "s3://crawl/going", "-o", out, fails=True)
    assert "the store has no such object" in text and not (out / "rejects.jsonl").exists()
    place = "s3://crawl/samples/trec-web"
    text = told(proxy.address, "run", place, "-o", tmp_path / "denied", "--anonymous", fails=True)
    assert "403" in text and "changed" not in text


def test_wrong_settings_are_named(proxy, tmp_path):
    place = "s3://crawl/samples/trec-web"
    text = told("localhost:1", "check", "count", place, fails=True)
    assert "`localhost:1` does not begin with http://" in text and "panicked" not in text
    profile = tmp_path / "credentials"
    lines = ["[work]", f"aws_access_key_id = {stores.KEY}", f"aws_secret_access_key = {stores.SECRET}"]
    profile.write_text("\n".join([*lines, f"endpoint_url = {proxy.address}", ""]))
    given = environment() | {"AWS_SHARED_CREDENTIALS_FILE": str(profile)}
    del given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"]
    for name, works in [("work", True), ("wrok", False)]:
        done = subprocess.run(
            [*COMMAND, "check", "count", place],
            env=given | {"AWS_PROFILE": name},
            capture_output=True,
            text=True,
        )
        assert (done.returncode == 0) == works, done.stderr
        assert works or "the profile `wrok`" in done.stderr


def test_outputs_stay_on_this_machine(proxy, tmp_path):
    text = told(proxy.address, "run", SAMPLES / "jsonl", "-o", "s3://crawl/out", fails=True, cwd=tmp_path)
    assert "only inputs" in text and not list(tmp_path.iterdir())


def local(directory):
    """The files of a directory that are not the program's own."""
    files = (path for path in directory.rglob("*") if path.is_file() and ".lookalike" not in path.parts)
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def objects(s3, prefix):
    return {name: content for name, content in s3.below(prefix).items() if not name.startswith(".lookalike/")}


def etags(s3, prefix):
    return {name: etag for name, etag in s3.etags(prefix).items() if ".lookalike/" not in name}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Inputs with a file of more than two parts, their run, and what dedup makes of it on the disk."""
    place = tmp_path_factory.mktemp("large")
    (place / "in/deep").mkdir(parents=True)
    chance = random.Random(3)
    # Long texts of few words: three parts in less than a second.
    texts = [" ".join(f"w{chance.randrange(5000)}" for _ in range(20)) for _ in range(54)]
    padding = "".join(chance.choices("0123456789abcdef", k=330_000))
    rows = [json.dumps({"id": str(at), "text": text, "more": padding}) for at, text in enumerate(texts)]
    (place / "in/large.jsonl").write_text("\n".join(rows + rows[:3]) + "\n")
    for number in range(3):
        (place / f"in/deep/{number} ü#.jsonl.gz").write_bytes(gzip.compress(lines(30, number), mtime=0))
    told(None, "run", place / "in", "-o", place / "run", "--quiet")
    told(None, *written(place, place / "kept", place / "removed"))
    assert len((place / "kept/large.jsonl").read_bytes()) > 2 * (8 << 20)
    return place


def written(large, kept, removed, *more):
    return ["dedup", "--from", large / "run", "-o", kept, "--removed", removed, "--quiet", *more]


@pytest.mark.parametrize("name", ["jsonl", "warc", "trec-web", "parquet"])
def test_objects_are_written_as_files_are(name, s3, proxy, tmp_path):
    given = ["--quiet", "--threshold", "0.5"]
    place = SAMPLES / name
    if name == "parquet":
        told(None, "run", SAMPLES / "jsonl", "-o", tmp_path / "run", "--results", "parquet", *given)
        place = tmp_path / "in"
        place.mkdir()
        (tmp_path / "run/documents.parquet").rename(place / "documents.parquet")
        given += ["--text-field", "file", "--results", "parquet"]
    for to in [f"{tmp_path}/here", f"s3://crawl/{name}-out"]:
        told(proxy.address, "dedup", place, "-o", f"{to}/kept", "--removed", f"{to}/removed", *given, cwd=tmp_path)
    for kind in ("kept", "removed"):
        assert objects(s3, f"{name}-out/{kind}") == local(tmp_path / "here" / kind)
    assert any(name.startswith("removed.") for name in objects(s3, f"{name}-out/removed"))
    # The work directory is in the current directory. No copy of an object is there or anywhere.
    assert (tmp_path / "kept.work/stores").is_dir()
    told(proxy.address, "report", f"s3://crawl/{name}-out/kept", "-o", tmp_path / "page.html", "--quiet")
    told(proxy.address, "report", f"s3://crawl/{name}-out/kept", "--quiet")
    assert s3.below(f"{name}-out")["kept.report.html"] == (tmp_path / "page.html").read_bytes()


def test_outputs_may_be_in_two_places(s3, proxy, large, tmp_path):
    page = tmp_path / "page.html"
    told(proxy.address, *written(large, tmp_path / "kept", "s3://crawl/two/removed", f"--report={page}"))
    page_there = "--report=s3://crawl/two/page.html"
    told(proxy.address, *written(large, "s3://crawl/two/kept", tmp_path / "removed", page_there))
    for kind in ("kept", "removed"):
        assert local(large / kind) == local(tmp_path / kind) == objects(s3, f"two/{kind}")
    assert b"<!DOCTYPE html>" in page.read_bytes() and b"<!DOCTYPE html>" in s3.below("two")["page.html"]
    assert s3.uploads() == []


@pytest.mark.parametrize("fault", ["500", "503", "lost"])
def test_faults_change_nothing_that_is_written(fault, s3, proxy, large):
    proxy.fault = "lost" if fault == "lost" else f"{fault} of changes"
    to = f"s3://crawl/faults-{fault}"
    told(proxy.address, *written(large, f"{to}/kept", f"{to}/removed"))
    for kind in ("kept", "removed"):
        assert objects(s3, f"faults-{fault}/{kind}") == local(large / kind)
    if fault != "lost":
        assert s3.uploads() == []
    # An upload stays if the answer with its id was lost.
    for upload, key in s3.uploads():
        s3.request("DELETE", f"/crawl/{quote(key)}?uploadId={upload}")


@pytest.mark.timeout(1200)
def test_killed_commands_leave_complete_objects_and_are_continued(s3, proxy, large):
    """`kill -9` at 20 requests, which are spread over a run."""
    told(proxy.address, *written(large, "s3://crawl/whole/kept", "s3://crawl/whole/removed"))
    for kind in ("kept", "removed"):
        assert objects(s3, f"whole/{kind}") == local(large / kind)
    reference = etags(s3, "whole")
    requests, left = len(proxy.seen), set()
    assert requests > 30
    for moment in range(20):
        at, prefix = 1 + moment * requests // 20, f"killed-{moment}"
        arguments = written(large, f"s3://crawl/{prefix}/kept", f"s3://crawl/{prefix}/removed")
        running = subprocess.Popen([*COMMAND, *map(str, arguments)], env=environment(proxy.address))
        begun = len(proxy.seen)

        def watch(number, method, path):
            if number != begun + at:
                return False
            running.kill()
            running.wait()
            # Every second time, the request arrives. One that begins an upload does not: if the process is killed
            # before it has the answer, nobody knows the id.
            return moment % 2 == 0 or path.endswith("?uploads")

        proxy.watch = watch
        assert running.wait(60) == -signal.SIGKILL, moment
        proxy.watch = None
        assert etags(s3, prefix).items() <= reference.items(), moment
        left.update(key.rsplit("/", 1)[1] for _, key in s3.uploads())
        told(proxy.address, *arguments)
        assert etags(s3, prefix) == reference, moment
        assert s3.uploads() == [], moment
    assert left == {"large.jsonl"}
    # What is there is not written again.
    proxy.seen.clear()
    told(proxy.address, *arguments)
    put = {path.rsplit("/", 1)[1] for method, path, _ in proxy.seen if method == "PUT"}
    assert put <= {"dedup.json", "files.jsonl", "source.json", "removed.jsonl"}


def test_a_stop_aborts_uploads(s3, proxy, large):
    arguments = written(large, "s3://crawl/stopped/kept", "s3://crawl/stopped/removed")
    proxy.watch = lambda number, method, path: "partNumber=2" in path and time.sleep(10)
    stopped(proxy.address, arguments, s3.uploads)
    assert s3.uploads() == []
    proxy.watch = None
    told(proxy.address, *arguments)
    assert objects(s3, "stopped/kept") == local(large / "kept")


def test_only_uploads_of_the_output_are_aborted(s3, proxy, large):
    arguments = written(large, "s3://crawl/uploads/kept", "s3://crawl/uploads/removed")
    told(proxy.address, *arguments)
    s3.put("uploads/kept/victim.txt", b"mine")
    before, lists = s3.below("uploads"), [path / "uploads.jsonl" for path in (large / "run/stores").glob("*/.lookalike")]
    own = {"name": "large.jsonl", "upload": "1"}
    for lines, said in [
        ([own | {"upload": ""}], "an upload has a name of 1 to 4095 bytes"),
        ([own | {"name": "victim.txt", "upload": ""}], "each file of this output once"),
        ([own, own], "each file of this output once"),
    ]:
        proxy.seen.clear()
        for listed in lists:
            listed.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert said in told(proxy.address, *arguments, fails=True)
        assert s3.below("uploads") == before and not [seen for seen in proxy.seen if seen[0] == "DELETE"]
    for listed in lists:
        listed.unlink()
    told(proxy.address, *arguments)


def test_outputs_that_changed_or_are_not_ours_are_refused(s3, proxy, large, tmp_path):
    arguments = written(large, "s3://crawl/ours/kept", "s3://crawl/ours/removed")
    told(proxy.address, *arguments)
    before = s3.below("ours")["kept/large.jsonl"]
    s3.put("ours/kept/large.jsonl", before[:-2] + b"}}")
    text = told(proxy.address, *arguments, fails=True)
    assert "s3://crawl/ours/kept/large.jsonl is not what lookalike wrote" in text
    # The same bytes, put by someone else, are as good.
    s3.put("ours/kept/large.jsonl", before)
    told(proxy.address, *arguments)
    s3.put("theirs/kept/a.txt", b"not ours")
    for to, said in [
        ("s3://crawl/theirs/kept", "it is not empty; give a new prefix"),
        ("s3://crawl/theirs", "it is not empty"),
        ("s3://crawl/theirs/kept/a.txt", "it is an object"),
        ("s3://crawl/ours/kept/below", "it lies in s3://crawl/ours/kept"),
        ("s3://nowhere/kept", "The specified bucket does not exist"),
        ("https://example.org/kept", "only read"),
        ("hf://datasets/own/set", "only read"),
    ]:
        assert said in told(proxy.address, *written(large, to, tmp_path / "removed"), fails=True), to
    # Another machine has another work directory.
    told(None, "run", large / "in", "-o", tmp_path / "run", "--quiet")
    arguments[2] = tmp_path / "run"
    assert "another machine" in told(proxy.address, *arguments, fails=True)
    for more, said in [(["--link"], "leave --link out"), (["--work", "s3://crawl/work"], "of this machine")]:
        text = told(proxy.address, "dedup", large / "in", "-o", "s3://crawl/new/kept", *more, fails=True, cwd=tmp_path)
        assert said in text
    for inputs, to in [
        ("s3://crawl/samples", "s3://crawl/samples/kept"),
        ("s3://crawl/samples/jsonl/*.jsonl", "S3://crawl/samples/jsonl/kept/"),
        ("s3://crawl/samples/jsonl", "s3://crawl/samples"),
        ("s3://crawl/samples/jsonl", "s3://crawl"),
    ]:
        text = told(proxy.address, "dedup", inputs, "-o", to, fails=True, cwd=tmp_path)
        assert "output" in text and "is not possible" in text
    both = ["-o", "s3://crawl/new/a", "--removed", "s3://crawl/new/a/b"]
    text = told(proxy.address, "dedup", large / "in", *both, fails=True, cwd=tmp_path)
    assert "it overlaps with the kept files" in text and not s3.below("new")


def test_what_cannot_be_written_is_said_without_secrets(s3, proxy, large, tmp_path):
    arguments = written(large, "s3://crawl/failing/kept", "s3://crawl/failing/removed")
    text = told(proxy.address, *arguments, "--anonymous", fails=True)
    assert "s3://crawl/failing" in text and "403" in text
    told(proxy.address, *arguments)
    content = b"".join(s3.below("failing").values())
    content += b"".join(path.read_bytes() for path in (large / "run/stores").rglob("*") if path.is_file())
    assert stores.SECRET.encode() not in content and stores.KEY.encode() not in content
