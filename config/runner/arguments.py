"""The command line of bin/serve, which runs this file before it installs anything. Standard library only."""

from __future__ import annotations

import argparse


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/serve", description="Run Makegood and everything it needs.")
    parser.add_argument("command", choices=["serve"], help=argparse.SUPPRESS)
    parser.add_argument("--port", type=_port, default=8000, help="port of the web process (8000); 0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    return parser.parse_args()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


if __name__ == "__main__":
    read_arguments()
