#!/usr/bin/env python3
"""The spam experiment of Kolcz & Chowdhury 2008, sections 6 and 7.2, on one's own mail.

    scripts/bench-spam.py SPAM HAM NEWS [WORK-DIRECTORY]

SPAM and HAM are mail that `lookalike run` reads; NEWS is a collection of news, of which the lexicon is made. Every tenth
spam message (by a hash of its docno, exact duplicates left out) is looked up among the spam and among the ham, by cosine and
by I-Match with more and more randomised lexicons. Recall and precision are averages over the queries that the cosine finds
with others than themselves, the utility (spam found less a hundred times ham found) is one over all of them. Needs nothing but Python."""

import json
import os
import subprocess
import sys
import zlib

spam, ham, news = sys.argv[1:4]
work = sys.argv[4] if len(sys.argv) > 4 else "target/bench-spam"
program = os.environ.get("LOOKALIKE", "target/dist/lookalike")
os.makedirs(work, exist_ok=True)


def run(*arguments):
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


for name, source in ("spam", spam), ("ham", ham), ("news", news):
    run("ingest", source, "-o", f"{work}/{name}", "--keep-text", "--quiet")
run("lab", "method", "i-match:preset=kolcz,lexicons=0", f"{work}/news", "--quiet")
lexicon = next(os.path.join(at, "lexicon.tsv") for at, _, files in os.walk(f"{work}/news/methods")
               if "lexicon.tsv" in files)


def ask(collection, spec):
    """For each query that is no exact duplicate of an earlier one: what is found, but for itself."""
    lines = run("query", f"{work}/{collection}", spam, "--method", spec, "--top", "0", "--json", "--quiet").splitlines()
    return [(answer["query"], answer["matches"]) for answer in map(json.loads, lines)]


def of(collection, spec, chosen=None):
    found = {}
    for query, matches in ask(collection, spec):
        if chosen is None:
            # A query that is a representative finds itself.
            mine = any(m["match"] == "exact" and m["docno"] == query for m in matches)
            if not mine or zlib.crc32(query.encode()) % 10:
                continue
        elif query not in chosen:
            continue
        found[query] = {m["docno"] for m in matches} - {query}
    return found


cosine = "cosine:least-terms=5"
truth = of("spam", cosine)
with_neighbours = [query for query in truth if truth[query]]
print(f"{len(truth)} queries, {len(with_neighbours)} of them with spam at a cosine of 0.9 or more")
print()
print("| terms of the lexicon, least number in a document | lexicons | recall, % | precision, % | ham found | utility |")
print("| --- | --- | ---: | ---: | ---: | ---: |")
for terms, least in ("0.2-0.3", 0), ("0.2-0.3", 5), ("0.2-0.8", 5):
    for extra in 0, 1, 2, 5, 10:
        spec = (f"i-match:preset=kolcz,variant=nidf-{terms},reject-size={least},least-terms=5,lexicons={extra},"
                f"lexicon={lexicon}")
        found, wrong = of("spam", spec, truth), of("ham", spec, truth)
        recall = [len(found[q] & truth[q]) / len(truth[q]) for q in with_neighbours]
        precise = [len(found[q] & truth[q]) / len(found[q]) for q in with_neighbours if found[q]]
        ham_found = sum(len(docnos) for docnos in wrong.values())
        utility = (sum(len(docnos) for docnos in found.values()) - 100 * ham_found) / len(truth)
        print(f"| nidf {terms}, {least} | 1 + {extra} | {100 * sum(recall) / len(recall):.1f} | "
              f"{100 * sum(precise) / max(len(precise), 1):.1f} | {ham_found} | {utility:.2f} |")
