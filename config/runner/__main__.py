"""`python -m config.runner serve`: the command that bin/serve runs inside the virtual environment."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from config.runner.arguments import read_arguments
from config.runner.data_dir import hold_data_dir, require_complete
from config.runner.errors import StartError
from config.runner.log import open_service_log
from config.runner.ports import free_port, is_free
from config.runner.preflight import check_settings
from config.runner.programs import ROOT
from config.runner.serve import Serve, ServeOptions
from config.runner.supervisor import Supervisor, run_until_stopped


def serve(arguments: argparse.Namespace) -> None:
    """Run until stopped. Raises StartError, in which case nothing keeps running."""
    check_settings(os.environ)
    port = arguments.port or free_port()
    if not is_free(port, host=arguments.host):
        raise StartError(f"Port {port} of {arguments.host} is not available. Choose another one with --port.")
    log = open_service_log(sys.stdout, form=os.environ.get("MAKEGOOD_LOG_FORMAT", ""))
    with (
        hold_data_dir(Path(os.environ.get("MAKEGOOD_DATA") or ROOT / ".data")) as data_dir,
        TemporaryDirectory() as run,
    ):
        require_complete(data_dir)
        options = ServeOptions(host=arguments.host, port=port, data_dir=data_dir, run_dir=Path(run))

        async def bring_up(supervisor: Supervisor) -> None:
            await Serve(options, supervisor=supervisor, log=log).start()

        asyncio.run(run_until_stopped(bring_up, log=log))


def main() -> int:
    try:
        serve(read_arguments())
    except StartError as error:
        print(f"bin/serve: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # Nothing was started yet.
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
