"""Prints what bench-peers.sh measured, as Markdown.

    report.py WORK-DIR THRESHOLD ROWS.tsv

ROWS.tsv: a line for each measurement, `tool name, input, name of its files in WORK-DIR`.
"""
import json
import os
import sys


def main():
    work, threshold, listed = sys.argv[1:]
    with open(listed, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]

    base = {}
    print("| input | program | CPU s | CPU s/MB | times lookalike's on 1 core | wall s | peak MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for tool, name, run in rows:
        with open(f"{work}/{run}.time", encoding="utf-8") as file:
            wall, user, system, peak = map(float, file.read().split())
        cpu = user + system
        megabytes = os.path.getsize(f"{work}/text-{name}.jsonl") / 1e6
        base.setdefault(name, cpu)  # the first of an input is lookalike on one core
        print(
            f"| {name}, {megabytes:.1f} MB | {tool} | {cpu:.2f} | {cpu / megabytes:.4f} "
            f"| {cpu / base[name]:.2f} | {wall:.2f} | {peak / 1024:.0f} |"
        )

    print()
    print(f"Pairs of documents at {threshold} or above, expanded from representatives. Truth: lookalike's.")
    print()
    print("| input | program | pairs | precision | recall | pairs not identical | precision | recall | same MD5 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for tool, name, run in rows:
        path = f"{work}/{run}/score.json"
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            score = json.load(file)
        whole, part = score["all"], score["not_identical"]
        print(
            f"| {name} | {tool} | {whole['found']} of {whole['true']} "
            f"| {whole['precision']:.4f} | {whole['recall']:.4f} "
            f"| {part['found']} of {part['true']} | {part['precision']:.4f} | {part['recall']:.4f} "
            f"| {score['same_md5']} of {score['documents']} |"
        )


if __name__ == "__main__":
    main()
