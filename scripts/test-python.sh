#!/usr/bin/env bash
# Builds the Python module, checks its types and runs its tests, in a virtual environment below the target directory.
#
#     scripts/test-python.sh
#
# Needs cargo, and python3 with venv. The module needs Python 3.10 or later, the libraries of its tests 3.11. They come
# from PyPI, in the versions of python/requirements-test.txt, when these have changed.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; then
    echo "THE PYTHON MODULE WAS NOT TESTED: python3 3.11 or later with venv is needed" >&2
    exit 1
fi

mkdir -p "${CARGO_TARGET_DIR:-target}"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
export VIRTUAL_ENV=$target/python-venv CARGO_TARGET_DIR=$target/python CARGO_INCREMENTAL=0
export PATH=$VIRTUAL_ENV/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1

cd python
installed=$VIRTUAL_ENV/requirements-test.txt
if ! cmp -s requirements-test.txt "$installed"; then
    python3 -m venv --clear "$VIRTUAL_ENV"
    python -m pip install --quiet -r requirements-test.txt
    cp requirements-test.txt "$installed"
fi
cargo fmt -- --check
maturin develop --locked --quiet
mypy lookalike
python -m pytest -q --timeout 60
