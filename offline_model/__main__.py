"""`python -m offline_model --port N` runs the offline model alone."""

from __future__ import annotations

import argparse
import socket

import uvicorn

from offline_model.server import OfflineModel


class AnnouncingServer(uvicorn.Server):
    """Prints one line as soon as it listens; with port 0 that line says which port it got."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            print(f"The offline model listens on http://{host}:{port}/v1", flush=True)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="offline_model", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="0 takes any free port")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--ttft-ms", type=float, default=0.0, help="milliseconds before the first token")
    parser.add_argument("--gap-ms", type=float, default=0.0, help="milliseconds between two tokens")
    return parser.parse_args()


def main() -> None:
    options = read_options()
    config = uvicorn.Config(
        OfflineModel(ttft_ms=options.ttft_ms, gap_ms=options.gap_ms),
        host=options.host,
        port=options.port,
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="critical",
        server_header=False,
        # Longer than any client keeps an idle connection, so that a pooled one never dies under a request.
        timeout_keep_alive=600,
        timeout_graceful_shutdown=1,
        backlog=4096,
    )
    AnnouncingServer(config).run()


if __name__ == "__main__":
    main()
