// What keeps a call from going on, and what the customer can do about it.
import { phrase } from "./words.js";

const PROBLEMS = {
  NotAllowedError: phrase("The microphone is blocked. Allow it next to the page’s address, then call again."),
  NotFoundError: phrase("No microphone was found. Connect one, then call again."),
  NotReadableError: phrase("Another program is using the microphone. Close it, then call again."),
  unsupported: phrase("This browser can’t make calls on this page. Use a current browser over https, or write to us."),
  no_media: phrase("Your network blocks calls. Try another one, such as mobile data, or write to us."),
  lost: phrase("The connection was lost. Call again to go on."),
  call_active: phrase("You’re already in a call, perhaps in another tab. Hang up there first."),
  calls_off: phrase("Calls are turned off here. Write to us instead."),
  throttled: phrase("Too many calls. Wait a minute, then call again."),
  rejected: phrase("We can’t take your call right now. Try again later, or write to us."),
  transferred: phrase("This call goes on by phone. Dial this number:"),
  unreachable: phrase("No connection. Check your internet connection, then call again."),
};
const FAILED = phrase("The call couldn’t be connected. Try again in a moment, or write to us.");

/** The sentence for an error of the browser, of our server, or of the call itself. */
export function problemOf(error) {
  if (error?.problem === "transferred" && !error.number) return PROBLEMS.rejected;
  const names = [error?.problem, error?.code, error?.name, error?.status === 429 && "throttled", isUnreached(error) && "unreachable"];
  return PROBLEMS[names.find((name) => Object.hasOwn(PROBLEMS, name ?? ""))] ?? FAILED;
}

const isUnreached = (error) => error instanceof TypeError || error?.status === 0;
