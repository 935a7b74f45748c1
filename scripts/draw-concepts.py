#!/usr/bin/env python3
"""Draw the pictures of docs/guide/concepts.md. Every number in them is computed here, from the texts that they show.

    scripts/draw-concepts.py
"""

from drawing import Picture, write

A = "The cat sat on the mat and looked at the dog"
B = "The cat sat on the mat and looked at the bird"
VERSIONS = {"v1": range(1, 61), "v2": range(16, 76), "v3": range(31, 91)}


def shingles(words, size):
    """The shingles of a text, in order, each once."""
    return list(dict.fromkeys(tuple(words[i : i + size]) for i in range(len(words) - size + 1)))


def resemblance(a, b):
    """Shared shingles, all shingles, and their quotient."""
    shared, either = len(set(a) & set(b)), len(set(a) | set(b))
    return shared, either, shared / either


def draw_shingles(theme):
    """The shingles of two texts: which are shared."""
    picture = Picture(theme, "The shingles of two sentences: eight of ten are shared", 1000, 356)
    a, b = (shingles(text.lower().split(), 3) for text in (A, B))
    shared, either, value = resemblance(a, b)
    blue, green, orange = theme["marks"]
    for y, name, text, colour in ((36, "A", A, blue), (64, "B", B, orange)):
        picture.text(24, y, 16, name, colour, 700)
        picture.text(48, y, 16, text + ".")
    columns = [
        (24, "only in A", [s for s in a if s not in b], 0),
        (272, "in both", [s for s in a if s in b], 1),
        (764, "only in B", [s for s in b if s not in a], 2),
    ]
    for x, title, items, colour in columns:
        wide = 2 if colour == 1 else 1
        picture.text(x, 104, 14, f"{title}: {len(items)}", theme["marks"][colour], 600)
        for i, item in enumerate(items):
            left, top = x + 238 * (i % wide), 118 + 40 * (i // wide)
            picture.box(left, top, 212, 30, theme["fills"][colour], theme["marks"][colour])
            picture.text(left + 106, top + 20, 14, " ".join(item), anchor="middle")
    picture.text(24, 318, 16, f"resemblance = shared / all = {shared} / {either} = {value:g}", weight=600)
    picture.text(24, 340, 13, f"{len(a)} shingles in A, {len(b)} in B; three words a shingle here, ten by default", "faint")
    return picture


def draw_containment(theme):
    """A long text that contains a short one."""
    picture = Picture(theme, "An excerpt is contained in its source, but hardly resembles it", 1000, 214)
    whole = [str(i) for i in range(400)]
    long, short = shingles(whole, 10), shingles(whole[120:210], 10)
    shared, either, value = resemblance(short, long)
    blue, green, _ = theme["marks"]
    scale, left = 1.9, 190
    start = left + scale * long.index(short[0])
    for top, name, x, items, mark, fill in (
        (24, "article", left, long, blue, theme["fills"][0]),
        (86, "excerpt", start, short, green, theme["fills"][1]),
    ):
        picture.text(24, top + 27, 15, name, mark, 700)
        picture.box(x, top, scale * len(items), 42, fill, mark)
        picture.text(x + scale * len(items) / 2, top + 27, 14, f"{len(items)} shingles", anchor="middle")
    for x in (start, start + scale * len(short)):
        picture.line(f"M{x:.1f} 66V86", theme["faint"], 1.2, dashed=True)
    rows = [
        f"resemblance: {shared} / {either} = {value:.3f}",
        f"containment of the excerpt in the article: {shared} / {len(short)} = {shared / len(short):g}",
        f"containment of the article in the excerpt: {shared} / {len(long)} = {shared / len(long):.3f}",
    ]
    for i, row in enumerate(rows):
        picture.text(24, 158 + 22 * i, 15, row, weight=600 if i < 2 else 400)
    return picture


def draw_clusters(theme):
    """A chain of three versions, and what two rules of deduplication keep of it."""
    picture = Picture(theme, "A chain of three versions, and what the rules star and one-per-cluster keep", 1000, 382)
    sets = {name: shingles([str(i) for i in words], 10) for name, words in VERSIONS.items()}
    one, two, far = (resemblance(sets[a], sets[b])[2] for a, b in (("v1", "v2"), ("v2", "v3"), ("v1", "v3")))
    blue, green, orange = theme["marks"]
    for i, (name, words) in enumerate(VERSIONS.items()):
        x, top = 80 + 5.6 * (words[0] - 1), 22 + 40 * i
        picture.text(24, top + 21, 16, name, weight=700)
        picture.box(x, top, 5.6 * len(words), 32, theme["fills"][0], blue)
        picture.text(x + 2.8 * len(words), top + 21, 14, f"words {words[0]} to {words[-1]}", anchor="middle")
    notes = [
        f"v1 and v2: {one:.2f}",
        f"v2 and v3: {two:.2f}",
        f"v1 and v3: {far:.2f}",
    ]
    picture.text(640, 34, 14, "resemblance, with the threshold 0.5", weight=600)
    for i, note in enumerate(notes):
        picture.text(640, 60 + 24 * i, 14, note + (", a pair" if i < 2 else ", not a pair"), "text" if i < 2 else "faint")
    panels = [
        (24, "one cluster", "pairs connect v1 to v3, through v2", {}),
        (352, "--rule star (default)", "v3 is kept: it does not resemble v1", {"v2"}),
        (680, "--rule one-per-cluster", "one document of the cluster is kept", {"v2", "v3"}),
    ]
    for x, title, note, removed in panels:
        picture.box(x, 164, 296, 200, theme["card"], theme["line"])
        picture.text(x + 16, 192, 15, title, weight=600)
        picture.text(x + 16, 348, 13, note, "faint")
        places = {"v1": (x + 56, 290), "v2": (x + 148, 234), "v3": (x + 240, 290)}
        for a, b, value in (("v1", "v2", one), ("v2", "v3", two)):
            (x1, y1), (x2, y2) = places[a], places[b]
            picture.line(f"M{x1} {y1}L{x2} {y2}", theme["faint"], 1.6)
            side = "end" if a == "v1" else "start"
            shift = -12 if a == "v1" else 12
            picture.text((x1 + x2) / 2 + shift, (y1 + y2) / 2 - 6, 12, f"{value:.2f}", "faint", anchor=side)
        for name, (cx, cy) in places.items():
            gone = name in removed
            fill, mark = (theme["card"], orange) if gone else (theme["fills"][1], green)
            if title == "one cluster":
                fill, mark = theme["fills"][0], blue
            dash = ' stroke-dasharray="4 3"' if gone else ""
            picture.add(f'<circle cx="{cx}" cy="{cy}" r="22" fill="{fill}" stroke="{mark}" stroke-width="1.8"{dash}/>')
            picture.text(cx, cy + 5, 14, name, weight=600, anchor="middle")
            if title != "one cluster":
                picture.text(cx, cy + 38, 12, "removed" if gone else "kept", mark, 600, "middle")
    return picture


def draw_representatives(theme):
    """Documents with equal words are compared once."""
    picture = Picture(theme, "Exact duplicates are represented by their first document", 1000, 200)
    blue, green, orange = theme["marks"]
    documents = [(1, 0), (2, 1), (3, 2), (4, 0), (5, 1), (6, 0)]
    texts = ["text P", "text Q", "text R"]
    for i, (number, text) in enumerate(documents):
        x = 24 + 112 * i
        first = number <= 3
        picture.box(x, 46, 96, 62, theme["fills"][text] if first else theme["page"], theme["marks"][text], not first)
        picture.text(x + 48, 70, 14, f"document {number}", weight=600 if first else 400, anchor="middle")
        picture.text(x + 48, 93, 13, texts[text], theme["marks"][text], anchor="middle")
    picture.text(24, 30, 14, "in input order", "faint")
    picture.text(24, 140, 14, "representatives: documents 1, 2 and 3", weight=600)
    picture.text(24, 162, 14, "exact duplicates: 4 and 6 of document 1, 5 of document 2")
    picture.text(24, 184, 14, "compared: 3 pairs of representatives, where all documents would make 15")
    picture.text(720, 70, 14, "If 1 and 2 are a pair, one cluster", weight=600)
    picture.text(720, 92, 14, "has documents 1, 2, 4, 5 and 6.", weight=600)
    return picture


def main():
    write("concepts-shingles", draw_shingles)
    write("concepts-containment", draw_containment)
    write("concepts-clusters", draw_clusters)
    write("concepts-representatives", draw_representatives)


if __name__ == "__main__":
    main()
