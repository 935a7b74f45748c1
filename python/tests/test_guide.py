"""The guide and the notebook do what they say."""

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "python.md"


def blocks():
    """The blocks of code of the guide."""
    text = PAGE.read_text()
    fences = [line for line in text.splitlines() if line.startswith("```")]
    assert all(opens != "```" for opens in fences[::2]) and set(fences[1::2]) == {"```"}
    found = re.findall("```pycon\n(.*?)```", text, re.DOTALL)
    parser = doctest.DocTestParser()
    return [parser.get_doctest(block, {}, PAGE.name, str(PAGE), 0) for block in found]


def test_the_guide(tmp_path, monkeypatch):
    (tmp_path / "sample-corpora").symlink_to(ROOT / "sample-corpora")
    monkeypatch.chdir(tmp_path)
    # Each block runs in an interpreter of its own.
    results = [doctest.DocTestRunner().run(block) for block in blocks()]
    assert not any(result.failed for result in results)
    assert len(results) > 10 and sum(result.attempted for result in results) > 40


def test_the_types_of_the_guide(tmp_path):
    for number, block in enumerate(blocks()):
        code = "".join(example.source for example in block.examples)
        (tmp_path / f"block_{number}.py").write_text(code)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir"]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    done = subprocess.run(
        [*mypy, tmp_path / "cache", tmp_path], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name, drawn", [("deduplicate", 1), ("chats", 0), ("questions", 0)])
def test_the_notebooks(name, drawn):
    path = ROOT / "python" / "examples" / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    saved = [[output for output in cell.get("outputs", [])] for cell in notebook.cells]
    done = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": path.parent}}
    ).execute()
    for cell, before in zip(done.cells, saved):
        text = [output["data"]["text/plain"] for output in cell.get("outputs", []) if "data" in output]
        expected = [output["data"]["text/plain"] for output in before if "data" in output]
        assert text == expected, json.dumps(cell.source)
    pictures = [
        output
        for cell in done.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == drawn
