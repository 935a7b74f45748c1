#!/usr/bin/env python3
"""Rows and table of scripts/bench-plans.sh. Needs nothing but Python."""
import json
import sys


def row(precision, threshold, seed, plan, evaluated):
    with open(plan, encoding="utf-8") as file:
        plan = json.load(file)
    with open(evaluated, encoding="utf-8") as file:
        reached = json.load(file)["pairs"][0]["representatives"]
    by_words = {group["words"]: group for group in reached["groups"]}
    groups = []
    for group in plan["groups"]:
        found = correct = 0
        for kind in ("same", "cross"):
            counts = by_words.get(group["words"], {}).get(kind)
            if counts:
                found += counts["found"]
                correct += counts["correct"]
        evidence = group["evidence"]
        groups.append({
            "words": group["words"],
            "ratio": group["ratio"],
            "evidence": evidence if isinstance(evidence, str) else "pooled",
            "low": (group["precision"] or {}).get("low"),
            "found": found,
            "correct": correct,
        })
    counts = reached["all"]
    print(json.dumps({
        "precision": float(precision), "threshold": threshold, "seed": int(seed), "share": plan["share"],
        "groups": groups, "reached": counts["precision"], "recall": counts["recall"],
    }))


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    targets = sorted({(r["precision"], r["threshold"]) for r in rows}, key=lambda t: (t[1], t[0]))
    print("| precision asked | threshold | seed | shingles | precision | recall | groups that kept it "
          "| lowest group |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for target in targets:
        of = [r for r in rows if (r["precision"], r["threshold"]) == target]
        for r in of:
            judged = [g for g in r["groups"] if g["found"]]
            kept = [g for g in judged if g["correct"] / g["found"] >= r["precision"]]
            worst = min(judged, key=lambda g: g["correct"] / g["found"], default=None)
            lowest = "-" if worst is None else (
                f"{worst['words']}: {worst['correct'] / worst['found']:.3f} at {worst['ratio']}")
            print(f"| {r['precision']} | {r['threshold']} | {r['seed']} | {r['share'] * 100:.2f} % "
                  f"| {r['reached'] or 0:.3f} | {r['recall'] or 0:.3f} | {len(kept)} of {len(judged)} | {lowest} |")
    print("\n| precision asked | threshold | plans | mean shingles | promises kept (groups) | plans with all kept "
          "| overall precision at target | mean shortfall of the others |\n"
          "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for target in targets:
        of = [r for r in rows if (r["precision"], r["threshold"]) == target]
        judged = [(r, g) for r in of for g in r["groups"] if g["found"]]
        short = [r["precision"] - g["correct"] / g["found"] for r, g in judged
                 if g["correct"] / g["found"] < r["precision"]]
        whole = sum(all(g["correct"] / g["found"] >= r["precision"] for g in r["groups"] if g["found"]) for r in of)
        overall = sum((r["reached"] or 0) >= r["precision"] for r in of)
        share = sum(r["share"] for r in of) / len(of)
        kept = len(judged) - len(short)
        print(f"| {target[0]} | {target[1]} | {len(of)} | {share * 100:.2f} % | {kept} of {len(judged)} "
              f"({kept / len(judged) * 100:.1f} %) | {whole} of {len(of)} | {overall} of {len(of)} "
              f"| {sum(short) / len(short) if short else 0:.3f} |")
    print("\nBy size group, over all of these plans: how often the promise held.\n\n"
          "| words | kept | ratios chosen | precision reached: least, mean |\n| --- | ---: | --- | ---: |")
    for at, first in enumerate(rows[0]["groups"]):
        judged = [(r, r["groups"][at]) for r in rows if r["groups"][at]["found"]]
        reached = [g["correct"] / g["found"] for _, g in judged]
        kept = sum(p >= r["precision"] for (r, _), p in zip(judged, reached))
        ratios = {}
        for _, g in judged:
            ratios[g["ratio"]] = ratios.get(g["ratio"], 0) + 1
        chosen = ", ".join(f"{ratio} {n}x" for ratio, n in sorted(ratios.items(), key=lambda x: -x[1]))
        spread = f"{min(reached):.3f}, {sum(reached) / len(reached):.3f}" if reached else "-"
        print(f"| {first['words']} | {kept} of {len(judged)} | {chosen} | {spread} |")


if sys.argv[1] == "row":
    row(*sys.argv[2:])
else:
    table(sys.argv[2])
