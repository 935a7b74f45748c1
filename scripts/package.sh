#!/usr/bin/env bash
# Makes the release files in target/package: a tarball and, if dpkg is installed, a Debian package, both with the stripped
# program, completions, manual pages and licences. With --wheel also the Python wheel, for Linux with glibc 2.17 or later.
#
#     scripts/package.sh [--wheel]
#
# Needs cargo; for the wheel also python3 with venv, below which it installs maturin and zig.
set -euo pipefail
cd "$(dirname "$0")/.."

# A user downloads it: at most 20 MB. The reader and writer of Parquet are 3.8 MB of it. The limit exists to notice a
# jump, not to buy bytes with speed.
most_bytes=20000000
zig_version=0.15.2
target=${CARGO_TARGET_DIR:-target}
tools=$target/tools
out=target/package

cargo build --locked --release
program=$target/release/lookalike
bytes=$(wc -c <"$program")
if [ "$bytes" -gt "$most_bytes" ]; then
    echo "$program has $bytes bytes; at most $most_bytes are allowed" >&2
    exit 1
fi

rm -rf "$out"
share=$out/share
completions() { mkdir -p "$share/$2" && "$program" completions "$1" >"$share/$2/$3"; }
completions bash bash-completion/completions lookalike
completions fish fish/vendor_completions.d lookalike.fish
completions zsh zsh/vendor-completions _lookalike
"$program" man "$share/man/man1"

version=$("$program" --version | cut -d ' ' -f 2)
name=lookalike-$version-$(rustc -vV | sed -n 's/^host: //p')
mkdir "$out/$name"
cp "$program" LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md CITATION.cff "$out/$name"
cp -R "$share" "$out/$name/share"
tar -C "$out" -czf "$out/$name.tar.gz" "$name"

# With dpkg alone: cargo-deb makes the same of a few files, and takes two CPU minutes to compile.
debian_package() {
    local root=$out/debian glibc
    local documents=$root/usr/share/doc/lookalike
    mkdir -p "$root/DEBIAN" "$root/usr/bin" "$documents"
    install -m 755 "$program" "$root/usr/bin/lookalike"
    cp -R "$share/." "$root/usr/share"
    gzip -9n "$root"/usr/share/man/man1/*.1
    cp LICENSE-MIT LICENSE-APACHE README.md "$documents"
    cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lookalike

Files: *
Copyright: The lookalike developers
License: MIT OR Apache-2.0
 The texts are in LICENSE-MIT and LICENSE-APACHE beside this file.
END
    # The program names the versions of the functions that it needs of the C library.
    glibc=$(grep -aoE 'GLIBC_2\.[0-9]+' "$program" | cut -d _ -f 2 | sort -uV | tail -n 1)
    cat >"$root/DEBIAN/control" <<END
Package: lookalike
Version: $version-1
Architecture: $(dpkg --print-architecture)
Section: text
Priority: optional
Maintainer: The lookalike developers
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: libc6 (>= $glibc), libgcc-s1
Description: Find near-duplicate documents exactly, in bounded memory
 lookalike reads collections of documents that do not fit in memory (web
 crawls, TREC bundles, JSONL, mail, plain files), lists every pair whose
 resemblance reaches a threshold, exactly, and groups the pairs into clusters.
 It runs on one machine, in a given amount of memory, and can be stopped and
 continued at any moment.
END
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    chmod -R u=rwX,go=rX "$root"
    dpkg-deb --root-owner-group --build "$root" "$out/lookalike.deb" >/dev/null
    rm -r "$root"
}
if command -v dpkg-deb >/dev/null; then
    debian_package
fi
if [ "${1:-}" = --wheel ]; then
    venv=$tools/wheel-venv
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "$(grep '^maturin==' python/requirements-test.txt)" "ziglang==$zig_version"
    VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH maturin build --release --locked --zig --compatibility manylinux2014 \
        --manifest-path python/Cargo.toml --out "$out"
fi
echo "program: $bytes bytes"
ls -l "$out"/*.tar.gz "$out"/*.deb "$out"/*.whl 2>/dev/null || true
