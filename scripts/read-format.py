#!/usr/bin/env python3
"""Read the files of an output directory: a second reader, written from FORMAT.md alone.

    read-format.py FILE...              print parts as text, as `lookalike check inspect` does
    read-format.py --records 5 FILE...  not more than so many records of each
    read-format.py --check DIR          the manifest, and every part that it names: size, records,
                                        parameters, every checksum, every order; a line for each

It shares no code with the Rust program and needs nothing but Python 3.9 and the command `zstd`. It is
slow (some megabytes a second), holds a part in memory, and reads format 1 of every kind. A file
that is not as FORMAT.md says stops it with exit status 1.
"""

import argparse
import json
import os
import subprocess
import sys
from struct import unpack_from

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1


class Wrong(Exception):
    """The file is not as FORMAT.md says."""


def need(condition, what):
    if not condition:
        raise Wrong(what)


# The checksum: xxh3 of 64 bits, seed 0, default secret (the constants are xxHash's own).

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
STRIPE_KEYS = [unpack_from("<8Q", SECRET, 8 * i) for i in range(16)]


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def old_avalanche(h):
    h ^= h >> 33
    h = h * P64_2 & M64
    h ^= h >> 29
    h = h * P64_3 & M64
    return h ^ h >> 32


def mix(data, at, key):
    return fold(u64(data, at) ^ u64(SECRET, key), u64(data, at + 8) ^ u64(SECRET, key + 8))


def xxh3(data):
    n = len(data)
    if n > 240:
        return xxh3_long(data, n)
    if n > 128:
        h = n * P64_1 + sum(mix(data, 16 * i, 16 * i) for i in range(8))
        h = avalanche(h & M64)
        h += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
        return avalanche(h + mix(data, n - 16, 119) & M64)
    if n > 16:
        h = n * P64_1
        for i in range((n - 1) // 32 + 1):
            h += mix(data, 16 * i, 32 * i) + mix(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & M64)
    if n > 8:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, n - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(n + swapped + high + fold(low, high) & M64)
    if n > 3:
        h = u32(data, n - 4) + (u32(data, 0) << 32) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        h ^= (h << 49 | h >> 15) & M64 ^ (h << 24 | h >> 40) & M64
        h = h * 0x9FB21C651E98DF25 & M64
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    if n:
        h = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return old_avalanche(h ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    return old_avalanche(u64(SECRET, 56) ^ u64(SECRET, 64))


def accumulate(acc, data, at, key):
    d = unpack_from("<8Q", data, at)
    for i in range(8):
        keyed = d[i] ^ key[i]
        acc[i ^ 1] += d[i]
        acc[i] += (keyed & M32) * (keyed >> 32)


def xxh3_long(data, n):
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    end = unpack_from("<8Q", SECRET, 128)
    blocks = (n - 1) // 1024
    for at in range(0, blocks * 1024, 64):
        stripe = at // 64 % 16
        accumulate(acc, data, at, STRIPE_KEYS[stripe])
        if stripe == 15:
            for i in range(8):
                a = acc[i] & M64
                acc[i] = (a ^ a >> 47 ^ end[i]) * P32_1 & M64
    for i, at in enumerate(range(blocks * 1024, n - 64, 64)):
        accumulate(acc, data, at, STRIPE_KEYS[i])
    accumulate(acc, data, n - 64, unpack_from("<8Q", SECRET, 121))
    h = n * P64_1
    for i in range(0, 8, 2):
        a, b = acc[i] & M64, acc[i + 1] & M64
        h += fold(a ^ u64(SECRET, 11 + 8 * i), b ^ u64(SECRET, 19 + 8 * i))
    return avalanche(h & M64)


# The common parts.

KINDS = {
    "DOCS": ("documents", {0}),
    "FPRS": ("fingerprints", {8, 16}),
    "RJCT": ("rejects", {0}),
    "COLM": ("column", {2, 4, 8}),
    "NAME": ("names", {0}),
    "RUNS": ("run", {8, 16}),
    "POST": ("postings", {8, 16}),
    "PAIR": ("pairs", {8}),
    "TEXT": ("text", {0}),
    "INDX": ("index", {8, 16}),
    "FACT": ("facts", {0}),
    "SORT": ("sorted", {0}),
}


class Part:
    """Header and footer, checked, and the payload."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        need(len(data) >= 128, "no room for header and footer")
        need(data[:8] == b"\x89LKA\r\n\x1a\n", "no magic")
        need(xxh3(data[:56]) == u64(data, 56), "checksum of the header")
        tag = data[8:12].decode("ascii", "replace")
        need(tag in KINDS, f"kind {tag}")
        self.kind, keys = KINDS[tag]
        self.version, flags = unpack_from("<HH", data, 12)
        latest = {"documents": 4, "facts": 3, "names": 2, "index": 2}.get(self.kind, 1)
        need(1 <= self.version <= latest, f"format {self.version}")
        need(flags == 0 and not any(data[44:56]), "flags")
        self.parameters = int.from_bytes(data[16:32], "little")
        self.number, self.key_bytes = unpack_from("<QI", data, 32)
        need(self.key_bytes in keys, f"key bytes {self.key_bytes}")
        at = len(data) - 64
        self.records, payload, self.index, self.extra = unpack_from("<4Q", data, at)
        self.checksum = u64(data, at + 48)
        need(data[-8:] == b"\nLKAend\n", "no footer")
        need(payload == at - 64, f"payload of {payload} bytes")
        need(not any(data[at + 32 : at + 48]), "reserved bytes of the footer")
        need(xxh3(data[: at + 48]) == self.checksum, "checksum")
        self.data, self.end = data, at

    def title(self):
        return [
            f"# {self.kind} part {self.number}, format {self.version}, "
            f"parameters {self.parameters:032x}, key bytes {self.key_bytes}",
            f"# {self.records} records, {self.end - 64} bytes of payload, index at {self.index}, "
            f"extra {self.extra}, checksum {self.checksum:016x}",
        ]

    def key(self, at):
        return int.from_bytes(self.data[at : at + self.key_bytes], "little")

    def hex(self, key):
        return f"{key:0{2 * self.key_bytes}x}"

    def body(self, at, length, stated):
        need(at + length <= self.end, f"block at {at} ends after the payload")
        body = self.data[at : at + length]
        need(xxh3(body) == stated, f"checksum of the block at {at}")
        return body


def unzstd(frames):
    """Decompresses (frame, size) pairs, all by one process: frames in a row are one stream."""
    if not frames:
        return []
    done = subprocess.run(
        ["zstd", "-dcq"], input=b"".join(f for f, _ in frames), stdout=subprocess.PIPE
    )
    need(done.returncode == 0, "zstd refuses a block")
    need(len(done.stdout) == sum(size for _, size in frames), "sizes of blocks")
    out, at = [], 0
    for _, size in frames:
        out.append(done.stdout[at : at + size])
        at += size
    return out


class Columns:
    """Reads packed columns one after the other."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, n):
        need(self.at + n <= len(self.body), "a body ends too early")
        piece = self.body[self.at : self.at + n]
        self.at += n
        return piece

    def column(self, count, most_bits=64):
        values = []
        while count > 0:
            n = min(count, 128)
            width = self.take(1)[0]
            need(width <= most_bits, f"width {width}")
            bits = int.from_bytes(self.take((n * width + 7) // 8), "little")
            mask = (1 << width) - 1
            values += [bits >> i * width & mask for i in range(n)]
            need(bits >> n * width == 0, "bits after the last number of a frame")
            count -= n
        return values

    def keys(self, count, key_bytes):
        key = int.from_bytes(self.take(key_bytes), "little")
        gaps = self.column(count)
        if key_bytes == 16:
            gaps = [low | high << 64 for low, high in zip(gaps, self.column(count))]
        need(gaps[0] == 0, "the first gap is not 0")
        keys = []
        for gap in gaps:
            key += gap
            keys.append(key)
        need(key < 1 << 8 * key_bytes, "a key is too large")
        return keys

    def done(self):
        need(self.at == len(self.body), "a body goes on after its columns")


# The kinds. Each yields lines of text.


class Fields:
    """Reads records of variable length."""

    def __init__(self, data, version):
        self.data, self.at, self.version = data, 0, version

    def take(self, n):
        need(self.at + n <= len(self.data), "a record ends too early")
        piece = self.data[self.at : self.at + n]
        self.at += n
        return piece

    def varint(self):
        first = self.take(1)[0]
        if first <= 250:
            return first
        need(first <= 253, f"a number begins with {first}")
        return int.from_bytes(self.take(2 << first - 251), "little")

    def string(self):
        return self.take(self.varint()).decode()

    def flag(self):
        byte = self.take(1)[0]
        need(byte < 2, f"{byte} is neither 0 nor 1")
        return bool(byte)

    def option(self):
        return self.string() if self.flag() else None


def records(part, read):
    blocks, counts, at, total = [], [], 64, 0
    while at < part.end:
        n, packed, raw, stated = unpack_from("<IIQQ", part.data, at)
        need(n > 0 and raw <= 1 << 28, f"block at {at}")
        blocks.append((part.body(at + 24, packed, stated), raw))
        counts.append(n)
        at += 24 + packed
    for raw, n in zip(unzstd(blocks), counts):
        fields = Fields(raw, part.version)
        for _ in range(n):
            yield read(fields)
        need(fields.at == len(raw), "a block goes on after its records")
        total += n
    need(total == part.records, f"{total} records")


def texts(part):
    """A stream of lengths and texts, in blocks of 256 KiB."""
    blocks, counts, at, full = [], [], 64, 1 << 18
    while at < part.end:
        n, packed, raw, stated = unpack_from("<IIQQ", part.data, at)
        blocks.append((part.body(at + 24, packed, stated), raw))
        counts.append(n)
        at += 24 + packed
        need(raw == full or 0 < raw < full and at == part.end, f"block of {raw} bytes")
    stream, at, total = b"".join(unzstd(blocks)), 0, 0
    begun = [0] * len(counts)
    for _ in range(part.records):
        need(at + 8 <= len(stream), f"a length at {at}")
        begun[at // full] += 1
        length = u64(stream, at)
        text = stream[at + 8 : at + 8 + length]
        need(len(text) == length, f"a text of {length} bytes at {at}")
        at, total = at + 8 + length, total + length
        whole = text.decode("utf-8")
        shown = whole if length <= 1 << 20 else text[: 1 << 20].decode("utf-8", "ignore")
        more = length - len(shown.encode("utf-8"))
        line = json.dumps(shown, ensure_ascii=False)
        yield f"{line} and {more} bytes more" if more else line
    need((at, total) == (len(stream), part.extra), f"{total} bytes of texts")
    need(begun == counts, "texts that begin in a block")


def as_json(**fields):
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def document(f):
    docno, url, title, charset = f.string(), f.option(), f.option(), f.string()
    words, shingles, stored, short = f.varint(), f.varint(), f.flag(), f.flag()
    group, md5 = f.take(1)[0], f.take(16).hex()
    file, offset, length = f.varint(), f.varint(), f.varint()
    text = {"text": f"{u64(f.take(8), 0):016x}"} if f.version > 1 else {}
    fields = f.string() if f.version > 2 else ""
    date = f.option() if f.version > 3 else None
    text |= {name: value for name, value in (("fields", fields), ("date", date)) if value}
    return as_json(docno=docno, url=url, title=title, charset=charset, words=words, shingles=shingles,
                stored=stored, short=short, group=group, md5=md5, file=file, offset=offset,
                   length=length, **text)


def reject(f):
    file, offset, length = f.varint(), f.varint(), f.varint()
    docno, reason, kept, detail = f.option(), f.string(), f.flag(), f.string()
    return as_json(file=file, offset=offset, length=length, docno=docno, reason=reason, kept=kept,
                detail=detail)


def fixed(part):
    end = 64 + part.records * part.key_bytes
    if part.kind == "fingerprints":
        need(part.index == end, "offset of the checksums")
        blocks = range(64, end, 65536)
        need(part.end - end == 8 * len(blocks), f"{len(blocks)} checksums")
        for i, at in enumerate(blocks):
            part.body(at, min(65536, end - at), u64(part.data, end + 8 * i))
    else:
        need(part.end == end, f"{part.records} records")
    for at in range(64, end, part.key_bytes):
        yield str(part.key(at)) if part.kind == "column" else part.hex(part.key(at))


def names(part, most):
    n = min(part.end - 64, most * 80, 1 << 20)
    yield json.dumps(part.data[64 : 64 + n].decode("utf-8", "replace"), ensure_ascii=False)


def run(part):
    line = part.key_bytes + 8
    need(part.end - part.index == part.extra * line + 8, "size of the index")
    index = part.data[part.index : part.end - 8]
    need(xxh3(index) == u64(part.data, part.end - 8), "checksum of the index")
    blocks, packed, at = [], [], 64
    for i in range(part.extra):
        need(u64(index, i * line + part.key_bytes) == at, f"block {i} is not at {at}")
        n, length, codec, distinct = unpack_from("<4I", part.data, at)
        need(0 < distinct <= n <= 4096 and codec < 2, f"block at {at}")
        body = part.body(at + 24, length, u64(part.data, at + 16))
        if codec == 1:
            packed.append((body[4:], u32(body, 0)))
        first = index[i * line : i * line + part.key_bytes]
        blocks.append((n, distinct, codec, body, first))
        at += 24 + length
    need(at == part.index, f"blocks end at {at}")
    unpacked, before, total = iter(unzstd(packed)), (-1, -1), 0
    for n, distinct, codec, body, first in blocks:
        columns = Columns(next(unpacked) if codec else body)
        need(columns.body[: part.key_bytes] == first, "first key of a block")
        keys, more = columns.keys(distinct, part.key_bytes), columns.column(distinct, 32)
        need(sum(more) + distinct == n, "repetitions of keys")
        values = columns.column(n, 32)
        columns.done()
        all_keys = [key for key, times in zip(keys, more) for _ in range(times + 1)]
        for record in zip(all_keys, values):
            need(before <= record, "records out of order")
            before = record
            key, value = record
            if part.kind == "pairs":
                need(key >> 32 < key & M32, "a pair out of order")
                yield f"{key >> 32} {key & M32} {value}"
            else:
                yield f"{part.hex(key)} {value}"
        total += n
    need(total == part.records, f"{total} records")


def postings(part):
    blocks, packed, at = [], [], 64
    while at < part.end:
        n, e, length, codec, raw, stated = unpack_from("<IIIIQQ", part.data, at)
        need(0 < 2 * n <= e <= 1 << 30 and codec < 2, f"block at {at}")
        body = part.body(at + 32, length, stated)
        if codec == 1:
            packed.append((body, raw))
        blocks.append((n, e, codec, body))
        at += 32 + length
    unpacked, before, lists, entries = iter(unzstd(packed)), -1, 0, 0
    for n, e, codec, body in blocks:
        columns = Columns(next(unpacked) if codec else body)
        keys, lengths = columns.keys(n, part.key_bytes), columns.column(n, 32)
        firsts, gaps = columns.column(n, 32), iter(columns.column(e - n, 32))
        columns.done()
        need(sum(lengths) == e and min(lengths) >= 2, "lengths of lists")
        for key, length, first in zip(keys, lengths, firsts):
            need(before < key, "lists out of order")
            before, documents = key, [first]
            for _ in range(length - 1):
                documents.append(documents[-1] + next(gaps))
                need(documents[-2] < documents[-1] <= M32, "documents out of order")
            yield f"{part.hex(key)} {documents}"
        lists, entries = lists + n, entries + e
    need((lists, entries) == (part.records, part.extra), f"{lists} lists of {entries}")


def checked(part, at, head, number):
    """A block or chunk of an index: what follows its head, and the count in the head."""
    need(64 <= at <= part.index - head, f"block at {at}")
    length, count = unpack_from("<II", part.data, at + head - 8)
    end = at + head + length
    need(end <= part.index, f"block at {at} ends after the blocks")
    stated = u64(part.data, at)
    need(xxh3(part.data[at + 8 : end]) ^ number == stated, f"checksum of the block at {at}")
    return part.data[at + head : end], count, end


def summed(gaps):
    documents = []
    for gap in gaps:
        documents.append(gap + (documents[-1] if documents else 0))
    need(documents[-1] <= M32, "documents")
    return documents


def index(part):
    ranges, buckets = part.extra, (part.end - part.index) // 8
    entries, key, number = 0, -1, part.number & M32
    for bucket in range(number * buckets, (number + 1) * buckets):
        at, blocks = u64(part.data, part.index + bucket % buckets * 8), []
        need(at > 0, f"bucket {bucket} without a block")
        while at > 0:
            body, n, _ = checked(part, at, 24, bucket)
            blocks.append((Columns(body), n))
            at = u64(part.data, at + 8)
        for columns, n in reversed(blocks):
            gaps, lengths = columns.column(n), columns.column(n, 32)
            short = [length for length in lengths if length < 64]
            firsts, rest = columns.column(len(short), 32), iter(columns.column(sum(short), 32))
            key, firsts = -(-(bucket << 48) // (ranges * buckets)), iter(firsts)
            for gap, length in zip(gaps, lengths):
                key += gap
                need(key * ranges * buckets >> 48 == bucket, "key in another bucket")
                if length < 64:
                    chunks = [summed([next(firsts)] + [next(rest) for _ in range(length)])]
                else:
                    (place, left), chunks = unpack_from("<QQ", columns.take(16)), []
                    while left > 0:
                        body, count, end = checked(part, place, 16, place)
                        chunk = Columns(body)
                        chunks.append(summed(chunk.column(count, 32)))
                        chunk.done()
                        left, place = left - count, end
                    need(left == 0, "documents of a long list")
                for documents in chunks:
                    entries += len(documents)
                    yield f"{key:012x} {documents}"
            columns.done()
    need(entries == part.records, f"{entries} documents in lists")


def facts(part):
    if part.number & M32 == 1:
        return
    size = 72 if part.version > 1 else 64
    need(part.end - 64 == part.records * size, "bytes of facts")
    for nth in range(part.records):
        at, document = 64 + nth * size, part.extra + nth
        need(xxh3(part.data[at + 8 : at + size]) ^ document == u64(part.data, at), "checksum of facts")
        md5 = part.data[at + 8 : at + 24].hex()
        words, _, keys = unpack_from("<QQI", part.data, at + 24)
        yield f"{document} {md5} {words} words {keys} keys"


def sorted_items(part):
    at, count, last = 64, 0, (-1, 0, 0)
    while at < part.end - 64:
        items, size = unpack_from("<II", part.data, at)
        at += 8
        end = at + size
        need(0 < items <= 512, "items of a block")
        count += items
        before = [0] * 5
        for _ in range(items):
            (widths,) = unpack_from("<H", part.data, at)
            at += 2
            numbers = []
            for nth in range(5):
                width = widths >> (3 * nth + 1) & 7 if nth else widths & 15
                need(width <= (4 if nth else 8), "bytes of a number")
                numbers.append(int.from_bytes(part.data[at : at + width], "little"))
                at += width
            for nth, number in enumerate(numbers):
                numbers[nth] += before[nth]
                if number:
                    break
            before = numbers
            item = (numbers[0] << 64 | numbers[1] << 32 | numbers[2], numbers[3], numbers[4])
            need(last <= item, "order of the items")
            last = item
            yield f"{item[0]:032x} {item[1]} {item[2]}"
        need(at == end, "bytes of a block")
    need(count == part.records, f"{count} items")


def lines(part, most=1 << 62):
    if part.kind == "documents":
        return records(part, document)
    if part.kind == "rejects":
        return records(part, reject)
    if part.kind == "text":
        return texts(part)
    if part.kind == "names":
        return names(part, most)
    kinds = {"run": run, "pairs": run, "postings": postings, "index": index, "facts": facts}
    kinds["sorted"] = sorted_items
    return kinds.get(part.kind, fixed)(part)


# A whole directory.


def parts_of(manifest):
    """Every part that the manifest names: subdirectory, kind, what it says of it."""
    for segment in manifest["segments"]:
        for kind in ("documents", "fingerprints", "rejects"):
            yield "collection", kind, segment[kind]
        if "text" in segment:
            yield "collection", "text", segment["text"]
    kinds = {"names": "names", "rejects": "rejects"}
    for catalogue in filter(None, [manifest["catalogue"], manifest.get("catalogue_before")]):
        for level in [catalogue] + catalogue.get("added", []):
            for field in ("names", "name_ends", "representatives", "stored", "rejects"):
                yield "catalogue", kinds.get(field, "column"), level[field]
    for info in (manifest["sample"] or {}).get("sizes", []):
        yield "sample", "column", info
    for entry in (manifest["runs"] or {}).get("runs", []):
        yield "runs", "run", entry["part"]
    if "shareable" in (manifest["runs"] or {}):
        yield "runs", "column", manifest["runs"]["shareable"]
    for info in (manifest["postings"] or {}).get("parts", {}).values():
        yield "postings", "postings", info
    for level in levels_of(manifest):
        for info in level["parts"].values():
            yield "index", "index", info
        for info in level["facts"] or []:
            yield "index", "facts", info
    joining = manifest["joining"] or {}
    for entry in joining.get("runs", []) + (joining.get("prefix") or {}).get("candidates", []):
        yield "pairs", "run", entry["part"]
    if manifest["pairs"]:
        for info in [manifest["pairs"]["part"]] + manifest["pairs"].get("added", []):
            yield "pairs", "pairs", info
        if "scores" in manifest["pairs"]:
            yield "pairs", "pairs", manifest["pairs"]["scores"]
    for sort in manifest.get("checkpoint", {}).get("sorts", {}).values():
        for info in sort["parts"]:
            yield "checkpoint", "sorted", info
    before = manifest.get("before") or {}
    if before.get("part"):
        for info in [before["part"]] + before.get("added", []):
            yield "pairs", "pairs", info


def levels_of(manifest):
    """The complete levels of the index, and the one that is being made."""
    found = manifest.get("index") or {"levels": []}
    return found["levels"] + ([found["making"]] if "making" in found else [])


def stem(number):
    """The name of a part, without its extension."""
    unit = f"{number >> 32}-" if number >> 32 else ""
    return f"{unit}{number & M32:06}"


def places_of(directory, manifest):
    """Says in which output directory a part is."""
    base = manifest.get("base")
    if not base:
        return lambda place, name: directory
    real = base.get("real")
    other = real if real and os.path.isdir(real) else base["path"]
    unit = lambda name: int(name.split("-")[0]) if "-" in name else 0
    lent = lambda place, name: unit(name) < base["below"].get(place, 0)
    return lambda place, name: other if lent(place, name) else directory


def check_additions(manifest):
    """Additions, what is taken over from another directory, and the levels of the index."""
    segments, files = manifest["segments"], manifest["inputs"]["files"]
    units = [int(s["documents"]["name"].split("-")[0]) if "-" in s["documents"]["name"] else 0
             for s in segments]
    for addition in manifest.get("additions", []):
        n = addition["segments"]
        need(addition["file"] <= files and n <= len(segments), "an addition")
        need(all(unit < addition["unit"] for unit in units[:n]), "units before an addition")
        need(all(unit >= addition["unit"] for unit in units[n:]), "units of an addition")
    against = manifest.get("against")
    need((against is None) == ("base" not in manifest), "base without against")
    if against:
        theirs = segments[: against["segments"]]
        documents = sum(segment["documents"]["records"] for segment in theirs)
        need(documents == against["documents"], "documents of the other directory")
        below = manifest["base"]["below"]["collection"]
        need([unit < below for unit in units] == [i < len(theirs) for i in range(len(units))],
             "segments of the other directory")
    levels = (manifest.get("index") or {"levels": []})["levels"]
    end = 0
    for level in levels:
        need(level["first"] == end and level["documents"] > 0, "levels with a gap")
        end += level["documents"]
        ranges = range(level["layout"]["ranges"])
        need(sorted(map(int, level["parts"])) == list(ranges), "ranges of a level")
        names = [level["parts"][str(n)]["name"] for n in ranges]
        names += [info["name"] for info in level["facts"]]
        numbers = [(n, "index") for n in ranges] + [(0, "facts"), (1, "facts")]
        need(names == [f"{stem(level['number'] << 32 | n)}.{kind}" for n, kind in numbers],
             "names of the parts of a level")


def check(directory):
    with open(os.path.join(directory, "manifest.json"), "rb") as file:
        data = file.read()
    at = data.rfind(b'"checksum"')
    stated = f"{xxh3(data[:at]):016x}"
    ends = [f'"checksum": "{stated}"\n}}\n', f'"checksum":"{stated}"}}\n']
    if data[at:].decode(errors="replace") in ends:
        body, form = data, 2
    else:
        # Format 1: the checksum is on a line after the object.
        body, form = data[:-17], 1
        need(data[-17:] == f"{xxh3(body):016x}\n".encode(), "checksum of manifest.json")
    manifest = json.loads(body)
    need(manifest["format"] == form, f"manifest of format {manifest['format']}")
    check_additions(manifest)
    named = (manifest["results"] or {}).get("files", []) + manifest.get("others", [])
    named += manifest.get("tables", {}).get("files", [])
    for result in named + [manifest["inputs"]["list"]]:
        with open(os.path.join(directory, result["name"]), "rb") as file:
            data = file.read()
        if result is manifest["inputs"]["list"] and manifest.get("additions"):
            # An addition that was stopped may have left more lines.
            more, data = data[result["bytes"] :], data[: result["bytes"]]
            need(all("path" in json.loads(line) for line in more.splitlines()), "more lines")
        need(len(data) == result["bytes"], f"size of {result['name']}")
        need(f"{xxh3(data):016x}" == result["checksum"], f"checksum of {result['name']}")
        print(f"ok {result['name']}")
    firsts = {info["name"]: level["first"] for level in levels_of(manifest)
              for info in level["facts"] or []}
    where = places_of(directory, manifest)
    for place, kind, info in parts_of(manifest):
        name = os.path.join(place, info["name"])
        try:
            part = Part(os.path.join(where(place, info["name"]), name))
            need(part.kind == kind, f"it is {part.kind}, not {kind}")
            need(part.end + 64 == info["bytes"], "its size is not that of the manifest")
            need(part.records == info["records"], "its records are not those of the manifest")
            need(f"{part.checksum:016x}" == info["checksum"], "its checksum is not the manifest's")
            need(f"{part.parameters:032x}" == manifest["collection_digest"], "other parameters")
            need(name == f"{place}/{stem(part.number)}.{name.rsplit('.', 1)[1]}", "its number")
            if part.kind == "facts":
                need(part.extra == firsts[info["name"]], "its first document")
            for _ in lines(part):
                pass
        except Wrong as wrong:
            raise Wrong(f"{name}: {wrong}") from None
        print(f"ok {name}")


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=100, metavar="N")
    options.add_argument("--check", action="store_true", help="paths are output directories")
    options.add_argument("paths", nargs="+", metavar="PATH")
    given = options.parse_args()
    # Text is UTF-8 whatever the locale says.
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for path in given.paths:
        try:
            if given.check:
                check(path)
                continue
            part = Part(path)
            print("\n".join(part.title()))
            for i, line in enumerate(lines(part, given.records)):
                if i == given.records:
                    break
                print(line)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except (Wrong, OSError, ValueError, KeyError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
