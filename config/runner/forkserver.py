"""`python -m config.runner.forkserver SOCKET`: loads Makegood once and forks each of its processes.

The processes share the loaded memory pages until one of them writes to a page. Each connection to the socket requests
one process: an order (`config.runner.forking`) with a file descriptor for its output. The server replies with the
process id, and with the exit code when the process has ended. Its processes end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import runpy
import signal
import socket
import sys
import threading
import warnings
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import django

from config.memory import settle

LONGEST_ORDER = 64 * 1024
MOST_WAITING = 32
# From linux/prctl.h
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
# Modules that the web, worker and beat commands import.
COMMANDS = (
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.backends.base",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.contrib.django.task",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.loops",
    "celery.worker.pidbox",
    "config.asgi",
    "config.celery_settings",
    "config.http_protocol",
    "config.preload",
    "config.urls",
    "django.core.cache.backends.redis",
    "jobs.celery_strategy",
    "kombu.transport.redis",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.main",
    "uvicorn.protocols.http.httptools_impl",
)


class Order(NamedTuple):
    """A request for a process: the module and arguments of its command line. `output` is a file descriptor."""

    name: str
    module: str
    arguments: list[str]
    niceness: int
    output: int


class ForkServer:
    """Forks processes in its only thread, and reports their exit codes."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._connections_by_pid: dict[int, socket.socket] = {}

    def serve(self) -> Order:
        """Fork a process for each order. Returns in each child, with its order."""
        signal.signal(signal.SIGCHLD, self._report_exits)
        while True:
            connection, _ = self._listener.accept()
            order = _read_order(connection)
            if order is None:
                connection.close()
            elif self._fork(connection, order):
                return order

    def _fork(self, connection: socket.socket, order: Order) -> bool:
        """Fork one process. Returns True in the child."""
        server = os.getpid()
        # The child may end before it is registered.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        pid = os.fork()
        if pid:
            self._connections_by_pid[pid] = connection
            os.close(order.output)
        else:
            self._prepare_child(order, connection, server=server)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        return pid == 0

    def _prepare_child(self, order: Order, connection: socket.socket, *, server: int) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        _set_priority(order.niceness)
        _end_with_parent(order.name, parent=server)
        for stream in (1, 2):
            os.dup2(order.output, stream)
        os.close(order.output)
        connection.sendall(f"{os.getpid()}\n".encode())
        for other in (self._listener, connection, *self._connections_by_pid.values()):
            other.close()

    def _report_exits(self, *_: object) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                with contextlib.suppress(OSError), self._connections_by_pid.pop(pid) as connection:
                    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _read_order(connection: socket.socket) -> Order | None:
    """The order of a connection, or None if it sent none."""
    data, files, _, _ = socket.recv_fds(connection, LONGEST_ORDER, 1)
    return Order(**json.loads(data), output=files[0]) if data and files else None


def _set_priority(niceness: int) -> None:
    """Lower the priority of the process, and of its session where the kernel schedules by session (`man 7 sched`)."""
    os.nice(niceness)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(niceness))


def _end_with_parent(name: str, *, parent: int) -> None:
    """Ask the kernel for SIGKILL when the server dies, and set the process name."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_NAME, f"mg-{name}".encode(), 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def load() -> None:
    """Import everything. Raises RuntimeError for a started thread or an open connection, which don't survive a fork."""
    before = _connections()
    django.setup()
    for module in COMMANDS:
        import_module(module)
    settle()
    if threading.active_count() > 1:
        raise RuntimeError(f"A thread was started, and would be missing in every process: {threading.enumerate()}")
    if opened := _connections() - before:
        raise RuntimeError(f"Something was opened that all processes would use as one: {opened}")


def _connections() -> set[str]:
    """The open sockets and event loops of this process."""
    files = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    # The descriptor of the listing itself is closed by now.
    targets = {os.readlink(file) for file in files if os.path.lexists(file)}
    return {target for target in targets if target.startswith(("socket:", "anon_inode:[eventpoll]"))}


def listen(path: Path) -> socket.socket:
    """A listening socket at `path`. The file appears once the socket accepts connections."""
    listener, unready = socket.socket(socket.AF_UNIX), path.with_suffix(".new")
    unready.unlink(missing_ok=True)
    listener.bind(str(unready))
    listener.listen(MOST_WAITING)
    unready.rename(path)
    return listener


def main() -> None:
    with listen(Path(sys.argv[1])) as listener:
        load()
        order = ForkServer(listener).serve()
    run(order)


def run(order: Order) -> None:
    """Run the order in this process."""
    sys.argv = [order.module, *order.arguments]
    # Its modules are imported already; runpy runs the module again as __main__.
    warnings.filterwarnings("ignore", message=".*found in sys.modules.*", category=RuntimeWarning)
    runpy.run_module(order.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
