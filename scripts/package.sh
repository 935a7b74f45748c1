#!/usr/bin/env bash
# Makes the files of a release in target/package:
#
#     scripts/package.sh             # a tarball and, if dpkg is installed, a Debian package
#     scripts/package.sh --quick     # the same of the program in target/release, for tests
#     scripts/package.sh --wheel     # also a wheel, for Linux with glibc 2.17 or later on x86-64
#     scripts/package.sh --sbom      # also a list of the dependencies in the program (CycloneDX)
#     scripts/package.sh --crate     # also the source crate, compiled as its users would
#     scripts/package.sh --all       # all of these, and a wheel for aarch64
#
# The tarball and the package have the stripped programs, completions, manual pages and licences. SHA256SUMS covers all
# files. Needs cargo; for wheels also python3 with venv, below which the script installs maturin and zig.
set -euo pipefail
cd "$(dirname "$0")/.."

zig_version=0.15.2
cyclonedx_version=0.5.9

profile=dist wheels=() sbom="" crate="" level=6
for argument; do
    case $argument in
        --quick) profile=release level=0 ;;
        --wheel) wheels=(x86_64) ;;
        --sbom) sbom=yes ;;
        --crate) crate=yes ;;
        --all) wheels=(x86_64 aarch64) sbom=yes crate=yes ;;
        *) echo "unknown: $argument (the first lines of $0 say what there is)" >&2; exit 2 ;;
    esac
done

target=${CARGO_TARGET_DIR:-target}
tools=$target/tools
out=target/package
left_out() { echo "LEFT OUT: $*" >&2; }

# What CI has built for its tests has no object stores, which would be built for it alone.
case $profile in
    release) cargo build --locked --profile release --bin lookalike --bin lookalike-lab ;;
    *) cargo build --locked --profile "$profile" --features remote --bin lookalike --bin lookalike-lab ;;
esac
program=$target/$profile/lookalike

rm -rf "$out"
share=$out/share
completions() { mkdir -p "$share/$2" && "$target/$profile/$4" completions "$1" >"$share/$2/$3"; }
# The laboratory last: its page takes the place of the page of `lookalike lab`.
for name in lookalike lookalike-lab; do
    completions bash bash-completion/completions "$name" "$name"
    completions fish fish/vendor_completions.d "$name.fish" "$name"
    completions zsh zsh/vendor-completions "_$name" "$name"
    "$target/$profile/$name" man "$share/man/man1"
done

version=$("$program" --version | cut -d ' ' -f 2)
host=$(rustc -vV | sed -n 's/^host: //p')
name=lookalike-$version-$host
mkdir "$out/$name"
cp "$program" "$program-lab" LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md CITATION.cff "$out/$name"
cp -R "$share" "$out/$name/share"
tar -C "$out" -czf "$out/$name.tar.gz" "$name"
rm -r "${out:?}/$name"

# With dpkg alone: cargo-deb makes the same of a few files, and takes two CPU minutes to compile.
debian_package() {
    local root=$out/debian glibc
    local documents=$root/usr/share/doc/lookalike
    mkdir -p "$root/DEBIAN" "$root/usr/bin" "$documents"
    install -m 755 "$program" "$program-lab" "$root/usr/bin"
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
    # The programs name the versions of the functions that they need of the C library.
    glibc=$(grep -ahoE 'GLIBC_2\.[0-9]+' "$program" "$program-lab" | cut -d _ -f 2 | sort -uV | tail -n 1)
    cat >"$root/DEBIAN/control" <<END
Package: lookalike
Version: $version-1
Architecture: $(dpkg --print-architecture)
Section: text
Priority: optional
Maintainer: The lookalike developers
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: libc6 (>= $glibc), libgcc-s1
Homepage: $(sed -n 's/^homepage = "\(.*\)"/\1/p' Cargo.toml)
Description: Find near-duplicate documents exactly, in bounded memory
 lookalike reads collections of documents that do not fit in memory (web
 crawls, TREC bundles, JSONL, Parquet, mail, plain files), lists every pair
 whose resemblance reaches a threshold, exactly, and groups the pairs into
 clusters. It runs on one machine, in a given amount of memory, and can be
 stopped and continued at any moment.
END
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    chmod -R u=rwX,go=rX "$root"
    dpkg-deb --root-owner-group -z"$level" --build "$root" "$out/lookalike.deb" >/dev/null
    rm -r "$root"
}
if command -v dpkg-deb >/dev/null; then
    debian_package
else
    left_out "THE DEBIAN PACKAGE: dpkg-deb is not installed"
fi

# zig compiles and links the parts in C for another processor, and for an old C library.
wheel() {
    local machine=$1
    local triple=$machine-unknown-linux-gnu
    if ! rustc --print target-libdir --target "$triple" | xargs test -d; then
        left_out "THE WHEEL FOR $machine: run \`rustup target add $triple\` first"
        return
    fi
    VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH maturin build --profile dist --locked --zig --target "$triple" \
        --compatibility manylinux2014 --manifest-path python/Cargo.toml --out "$out"
}
if [ "${#wheels[@]}" -gt 0 ]; then
    venv=$tools/wheel-venv
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "$(grep '^maturin==' python/requirements-test.txt)" "ziglang==$zig_version"
    for machine in "${wheels[@]}"; do wheel "$machine"; done
fi

# The list is made of what Cargo.lock has for this system. Wheels have a list of their own, which maturin adds.
if [ -n "$sbom" ]; then
    if PATH=$tools/bin:$PATH cargo cyclonedx --version 2>/dev/null | grep -qF "$cyclonedx_version" ||
        cargo install --locked --quiet --debug --root "$tools" --target-dir "$tools/build" \
            "cargo-cyclonedx@$cyclonedx_version"; then
        PATH=$tools/bin:$PATH cargo cyclonedx --quiet --format json --target "$host" --override-filename "$name.cdx"
        mv "$name.cdx.json" "$out"
        # It writes one for each crate.
        rm -f {crates/*,fuzz,python}/"$name.cdx.json"
    else
        left_out "THE LIST OF DEPENDENCIES: cargo-cyclonedx $cyclonedx_version cannot be installed here"
    fi
fi

if [ -n "$crate" ]; then
    # Without the two crates that nobody can get from crates.io.
    cargo package --workspace --exclude lookalike-fuzz --exclude lookalike-python --locked
    [ "$target/package" -ef "$out" ] || cp "$target"/package/lookalike*-"$version.crate" "$out"
fi

sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi; }
sums=$(cd "$out" && for file in *; do if [ -f "$file" ]; then sum "$file"; fi; done)
printf '%s\n' "$sums" >"$out/SHA256SUMS"
if grep -q "LOOKALIKE-[O]WNER" Cargo.toml; then
    echo "NOT FOR RELEASE: the addresses have a placeholder (RELEASING.md)" >&2
fi
echo "programs: $(wc -c <"$program") and $(wc -c <"$program-lab") bytes"
cat "$out/SHA256SUMS"
