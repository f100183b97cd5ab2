"""Runs a program of ours under a profile: `python -m bench.profiled FILE MODULE [ARGUMENT …]`.

While the first byte of FILE is "1", each function of ours is added to it when it is first entered, as a line with its
module's path and its name. The starter of the program creates FILE and writes that byte to switch the profile on and
off.
"""

from __future__ import annotations

import inspect
import mmap
import os
import runpy
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class Profile:
    """A profile function for every thread of a process. It records each function once."""

    def __init__(self, file: str) -> None:
        self._out = os.open(file, os.O_RDWR | os.O_APPEND)
        self._switch = mmap.mmap(self._out, 1, prot=mmap.PROT_READ)
        # By identity, because comparing code objects is slow. Holding them prevents reuse of an identity.
        self._seen: dict[int, CodeType] = {}

    def start(self) -> None:
        """Profile this thread and every thread started after it."""
        threading.setprofile(self)
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or self._switch[0] != ord("1") or id(frame.f_code) in self._seen:
            return
        code = frame.f_code
        self._seen[id(code)] = code
        if path := _path_of(code):
            os.write(self._out, f"{path}\t{code.co_qualname}\n".encode())


def _path_of(code: CodeType) -> str:
    """The file relative to the repository; "" for library functions, comprehensions, and bodies of modules or classes."""
    path = Path(code.co_filename)
    is_function = bool(code.co_flags & inspect.CO_NEWLOCALS) and code.co_name not in COMPREHENSIONS
    if not is_function or not path.is_relative_to(ROOT):
        return ""
    relative = path.relative_to(ROOT)
    return "" if relative.parts[0].startswith(".") else str(relative)


def main() -> None:
    _, file, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    Profile(file).start()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
