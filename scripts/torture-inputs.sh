#!/usr/bin/env bash
# Harmful input in full size; tests/processes/hostile.rs has small versions of it. Prints a table: the case, its bytes,
# the exit status, time and peak memory, documents and rejects.
#
#     scripts/torture-inputs.sh [CASE...]
#
# The input is generated into a pipe, so only results are on disk; they are removed after each case. LOOKALIKE names the
# program (default: the release build), TINY the number of tiny documents, LIMIT the seconds that a case may take. A case that panics, takes longer or takes more
# memory than --memory and 64 MiB is marked with !, and the script fails.
# No pipefail: what makes the input is cut off where the program ends first, or a case is not wanted.
set -u
cd "$(dirname "$0")/.." || exit 1

program=${LOOKALIKE:-${CARGO_TARGET_DIR:-target}/release/lookalike}
tiny=${TINY:-15000000}
limit=${LIMIT:-300}
memory=256
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* "

# So many bytes (K, M, G) of a text again and again.
again() { yes "$2" 2>/dev/null | tr -d '\n' | head -c "$1"; }
lines() { yes "$2" 2>/dev/null | head -n "$1"; }
zeros() { head -c "$1" /dev/zero | tr '\0' 0; }

# run NAME ARGUMENT... < INPUT
run() {
    local name=$1 status=0 bytes note=
    shift
    if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then
        return
    fi
    rm -rf "$work/out"
    {
        tee >(wc -c >"$work/bytes") |
            /usr/bin/time -v -o "$work/time" timeout -s KILL "$limit" "$program" run - -o "$work/out" \
                --memory "${memory}MiB" --threads 2 --quiet --ignore-disk-space "$@" 2>"$work/stderr"
    } || status=$?
    sleep 0.05
    bytes=$(cat "$work/bytes")
    local wall peak counts
    wall=$(sed -n 's/.*Elapsed (wall clock).*: //p' "$work/time")
    peak=$(sed -n 's/.*Maximum resident.*: //p' "$work/time")
    counts=$(python3 - "$work/out/summary.json" <<'PY'
import json, sys
try:
    ingest = json.load(open(sys.argv[1]))["ingest"]
except OSError:
    print("-")
    sys.exit()
kinds = [f"{n} {why}" for part in ("rejected", "noticed") for why, n in ingest[part].items()]
print(f"{ingest['documents']} documents" + "".join("; " + kind for kind in kinds))
PY
    )
    if [ "$status" -ne 0 ] || [ "$((peak / 1024))" -gt $((memory + 64)) ] || grep -q panicked "$work/stderr"; then
        note=" !"
        touch "$work/failed"
        counts="$counts $(head -n 1 "$work/stderr")"
    fi
    printf '| %s | %s | %s | %s | %s MiB | %s |%s\n' \
        "$name" "$bytes" "$status" "$wall" "$((peak / 1024))" "$counts" "$note"
    rm -rf "$work/out"
}

warc() { # FIELDS: the header of a response, before its block
    printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n'
    printf 'WARC-Target-URI: http://a.example/\r\n%s\r\n' "$1"
}
trec() { printf '<DOC>\n<DOCNO>%s</DOCNO>\n<TEXT>' "$1"; }

printf '| case | input bytes | exit | time | peak | outcome |\n|---|---|---|---|---|---|\n'

# Bombs. The ratio that deflate cannot exceed is allowed, so a gzip of zeros is read to its end.
zeros 4G | gzip -1 | run gzip-4G
zeros 4G | gzip -9 | run gzip-4G-ratio --max-ratio 500
zeros 16G | zstd -q -3 | run zstd-16G
zeros 512M | zstd -q -3 --long=31 -M4096 | run zstd-window-2G
zeros 2G | xz -0 | run xz-2G
zeros 64M | xz --lzma2=dict=1536MiB,mf=hc3,mode=fast,nice=8 -M 0 2>/dev/null | run xz-dictionary-1.5G
zeros 2G | bzip2 -1 | run bzip2-2G
zeros 256M | compress -c | run compress-256M
zeros 64M | gzip -9 | gzip -9 | run gzip-in-gzip
zeros 64M | zstd -q -19 | zstd -q | run zstd-in-zstd
(zeros 1G | gzip -1; echo '{"id":"1","text":"a"}' | gzip) | run gzip-members --format jsonl --max-ratio 500
python3 -c '
import gzip, sys
empty = gzip.compress(b"") * 1000
for _ in range(50_000): sys.stdout.buffer.write(empty)' | run gzip-50M-empty-members
python3 -c '
import sys
for _ in range(1000): sys.stdout.buffer.write(b"\x50\x2a\x4d\x18\0\0\0\0" * 100_000)' | run zstd-100M-skippable

# Very many documents, and very large ones.
lines "$tiny" '{"id":1,"text":""}' | gzip -1 | memory=512 run tiny-documents
again 4G 'a b c d ' | run document-4G-text
(trec 1; again 4G 'a b c d '; printf '</TEXT>\n</DOC>\n'; trec 2; printf 'a</TEXT>\n</DOC>\n') | run document-4G-trec
(warc $'Content-Length: 4294967296\r\n'; printf 'HTTP/1.1 200 OK\r\n\r\n'; again 4G 'a b c d ') | run document-4G-warc-short
(warc $'Content-Length: 18446744073709551616\r\n'; printf 'HTTP/1.1 200 OK\r\n\r\n'; again 4G 'a b c d ') | run document-4G-warc-2-to-64
(printf '{"id":"1","text":"'; again 4G 'a b c d '; printf '"}\n{"id":"2","text":"a"}\n') | run document-4G-jsonl
again 4G '{"id":1,' | run jsonl-4G-unclosed

# Documents of the largest size that is read.
again 63M '<' | run markup-less-than --format html
again 63M '<div>' | run markup-divs --format html
(printf '<div a="'; again 63M x) | run markup-attribute --format html
again 63M '<!--' | run markup-comments --format html
again 63M '<title></titl' | run markup-title --format html
(printf '<p>&'; again 63M 'amp;') | run entities-amp --format html
again 63M '&#99999999999;' | run entities-numbers --format html
again 63M '&aaaaaaaa' | run entities-names --format html
again 63M 'a' | run token-63M --format text
(printf a; again 63M $'\u0301') | run marks-63M --format text
again 63M $'a\rb\r\n\n\r' | run line-ends --format text
head -c 63M /dev/zero | run nuls
(printf '<meta charset=shift_jis>'; again 63M $'\xb1 ') | run half-width-katakana --format html
(printf '{"id":1,"text":['; again 63M '1,'; printf '1]}') | run json-list
(printf '{"id":1,"text":['; again 10M '['; again 10M ']'; printf ']}') | run json-deep
(printf '{"id":1,"text":"'; again 63M '\ud800'; printf '"}') | run json-surrogates
(printf '{"id":1,"text":"'; again 63M $'\xff'; printf '"}') | run json-invalid
(printf '{"id":1,"text":"a"'; again 63M ',"text":"b"'; printf '}') | run json-fields
(printf '{"id":"'; again 63M d; printf '","text":"a"}') | run json-docno-63M
(trec 1; again 63M '<H1>a</H1>'; printf '</TEXT></DOC>') | run trec-headlines
(warc ''; printf 'HTTP/1.1 200 OK\r\n'; again 60M $'Content-Encoding: x\r'; printf '\r\n\r\n<p>a') | run http-header-60M
(warc ''; printf 'HTTP/1.1 200 OK\r\n'; yes $'Content-Encoding: \r' | head -c 60M; printf '\r\n\r\n<p>a') | run http-encodings
(warc ''; printf 'HTTP/1.1 200 OK\r\nContent-Type: a\r\n'; yes $' a\r' | head -c 60M; printf '\r\n\r\n<p>a') | run http-folded
python3 -c '
import gzip, random, sys
random.seed(5)
phrases = [" ".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=64)) + " " for _ in range(256)]
for _ in range(4):
    body = gzip.compress("".join(random.choices(phrases, k=500_000)).encode(), 9)
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + body
    header = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Target-URI: http://a.example/\r\n"
    sys.stdout.buffer.write(header + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n")
' | run bodies-that-grow --shingle-size 150

[ ! -e "$work/failed" ]
