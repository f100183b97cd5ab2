"""Calls the product as Twilio would: type what the caller says."""

from __future__ import annotations

import argparse
import asyncio
import sys

from offline_model.relay.caller import Caller

HELP = "Each line is what the caller says; #123 presses keys, an empty line hangs up."


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m offline_model.relay", description=__doc__, epilog=HELP)
    parser.add_argument("--url", default="http://127.0.0.1:8000/hooks/twilio/calls", help="the webhook of calls")
    parser.add_argument("--account", required=True, help="the account SID of the connection")
    parser.add_argument("--token", required=True, help="its auth token")
    parser.add_argument("--from", dest="from_", default="+14155550123", help="the caller's number")
    parser.add_argument("--to", required=True, help="the business's number")
    options = parser.parse_args()
    caller = Caller(options.url, options.account, options.token, options.from_, options.to)
    call = asyncio.create_task(caller.ring())
    print(HELP)
    telling = asyncio.create_task(_tell(caller))
    while not call.done():
        line = (await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)).strip()
        if caller.state != "connected":
            break
        if not line:
            await caller.hang_up()
            break
        await (caller.press(*line[1:], "#") if line.startswith("#") else caller.say(line))
    await call
    telling.cancel()
    print(f"\nThe call is {caller.state}." + (f" It went to {caller.dialed}." if caller.dialed else ""))
    for url, status in caller.webhooks:
        print(f"{status} {url}")


async def _tell(caller: Caller) -> None:
    """Print the agent's words as they come."""
    told = 0
    while True:
        text = "\n".join(caller.said)
        if len(text) > told:
            print(text[told:], end="", flush=True)
            told = len(text)
        await asyncio.sleep(0.05)


asyncio.run(main())
