"""Runs a program of ours for which names under `.silent.example` have a server that never answers: `python -m
bench.silent_names MODULE [ARGUMENT …]`.
"""

from __future__ import annotations

import runpy
import socket
import sys
import time
from typing import Any

SILENT = ".silent.example"
# As long as the system's resolver waits for one server by default: two tries of five seconds.
SECONDS = 10.0

_look_up = socket.getaddrinfo


def getaddrinfo(host: Any, *args: Any, **given: Any) -> Any:
    """As the system's, after a long wait for silent names."""
    if isinstance(host, str) and host.endswith(SILENT):
        time.sleep(SECONDS)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return _look_up(host, *args, **given)


def main() -> None:
    _, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    socket.getaddrinfo = getaddrinfo
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
