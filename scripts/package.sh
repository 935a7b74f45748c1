#!/usr/bin/env bash
# Makes the release files in target/package: a tarball and, if dpkg is installed, a Debian package, both with the stripped
# program, completions, manual pages and licences. With --wheel also the Python wheel, for Linux with glibc 2.17 or later.
#
#     scripts/package.sh [--wheel]
#
# Needs cargo; for the Debian package also cargo-deb, which it installs below the target directory; for the wheel python3
# with venv, below which it installs maturin and zig.
set -euo pipefail
cd "$(dirname "$0")/.."

# A user downloads it: at most 20 MB. The reader and writer of Parquet are 3.8 MB of it. The limit exists to notice a
# jump, not to buy bytes with speed.
most_bytes=20000000
deb_version=3.8.0
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

if command -v dpkg-deb >/dev/null; then
    if [ "$("$tools/bin/cargo-deb" --version 2>/dev/null)" != "$deb_version" ]; then
        cargo install --locked --quiet --debug --root "$tools" "cargo-deb@$deb_version" --no-default-features ||
            echo "LEFT OUT: cargo-deb $deb_version cannot be installed here" >&2
    fi
    if [ -x "$tools/bin/cargo-deb" ]; then
        "$tools/bin/cargo-deb" --no-build --no-strip --output "$out/lookalike.deb" >/dev/null
    fi
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
