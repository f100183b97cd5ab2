"""Starts a program of ours under a profile: `python -m bench.profiled FILE MODULE [ARGUMENT …]`.

While the first byte of FILE is "1", each function of ours that is entered is added to it, as a line with its module's path and its
name. FILE is made by whoever starts the program, and switched on and off by writing that byte.
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
    """A profile function for every thread of a process. It writes each function once."""

    def __init__(self, file: str) -> None:
        self._out = os.open(file, os.O_RDWR | os.O_APPEND)
        self._switch = mmap.mmap(self._out, 1, prot=mmap.PROT_READ)
        # By identity: comparing two code objects takes long. They are kept, so that no identity is given twice.
        self._seen: dict[int, CodeType] = {}

    def start(self) -> None:
        """Watch this thread, and those that it and its like begin from now on."""
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
    """The file, relative to the repository; "" for a library's function, a comprehension, and the body of a module or a class."""
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
