"""The operator who answers in many widget conversations, started by `bench.widget` as a separate process.

Reads conversation ids from standard input, one per line. Each message contains the time it was started, by the
machine's performance counter.
"""

from __future__ import annotations

import argparse
import sys
import time

import django


def main() -> None:
    options = _options()
    django.setup()
    from bench.widget_tenant import say  # models can be imported only after the settings are configured

    conversations = sys.stdin.read().split()
    for number in range(options.messages):
        say(options.key, conversations[number * 7 % len(conversations)], f"said-{number}-{time.perf_counter_ns()}")
        time.sleep(1 / options.per_second)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.widget_speaker", description=__doc__)
    parser.add_argument("key", help="the widget's public key")
    parser.add_argument("--messages", type=int, required=True)
    parser.add_argument("--per-second", type=float, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
