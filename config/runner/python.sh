# shellcheck shell=sh
# Sourced by the commands: sets $root, and makes "$root/.venv" what a requirements file pins.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1

# Prints the first Python from 3.11 on; the virtual environment's own one comes first, as the quickest to ask.
find_python() {
    for candidate in "$root/.venv/bin/python" python3.11 python3.12 python3.13 python3 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    echo 'makegood: no Python 3.11 or newer on PATH: install it (on Debian: apt-get install python3 python3-venv).' >&2
    return 1
}

# install_requirements FILE: returns when they are there.
install_requirements() {
    python=$(find_python) || exit 1
    "$python" -I "$root/config/runner/install.py" "$1" || exit 1
}

# install_and_run FILE ARGUMENTS…: this process becomes the environment's Python, so that signals reach it.
install_and_run() {
    python=$(find_python) || exit 1
    requirements=$1
    shift
    exec "$python" -I "$root/config/runner/install.py" "$requirements" "$root/.venv/bin/python" "$@"
}
