"""The guide and the notebook do what they say."""

import doctest
import json
import re
from pathlib import Path

import nbclient
import nbformat

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "python" / "examples" / "deduplicate.ipynb"


def test_the_guide(tmp_path, monkeypatch):
    (tmp_path / "sample-corpora").symlink_to(ROOT / "sample-corpora")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "guide" / "python.md"
    text = page.read_text()
    fences = [line for line in text.splitlines() if line.startswith("```")]
    assert all(opens != "```" for opens in fences[::2]) and set(fences[1::2]) == {"```"}
    # Each block runs in an interpreter of its own.
    blocks = re.findall("```pycon\n(.*?)```", text, re.DOTALL)
    attempted = 0
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), 0)
        result = doctest.DocTestRunner().run(test)
        assert result.failed == 0, block
        attempted += result.attempted
    assert len(blocks) > 10 and attempted > 40


def test_the_notebook():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    saved = [[output for output in cell.get("outputs", [])] for cell in notebook.cells]
    done = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": NOTEBOOK.parent}}
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
    assert len(pictures) == 1
