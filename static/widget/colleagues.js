// Notices about colleagues who are asked for, join or leave, in the widget's language.
import { phrase } from "./words.js";

const NOTICES = {
  asked: phrase("A colleague was asked to join."),
  joined: phrase("%(who)s joined the conversation."),
  left: phrase("%(who)s left the conversation."),
};

/** A message's notice `{notice, who}`, or null. */
const noticeIn = ({ blocks }) => (blocks ?? []).find(({ type }) => type === "notice") ?? null;

/** A notice in the widget's language; the server's text if the notice is unknown. */
export function noticeText(message, say) {
  const found = noticeIn(message);
  const isKnown = found && Object.hasOwn(NOTICES, found.notice);
  return isKnown ? say(NOTICES[found.notice], { who: colleagueName(found.who, say) }) : message.content;
}

/** The server's English name for a colleague without a name. */
const UNNAMED = phrase("A colleague");

export const colleagueName = (name, say) => (name && name !== UNNAMED ? name : say(UNNAMED));

/** True if a colleague has the conversation now. */
export function hasColleague(messages) {
  const last = messages.findLast((one) => one.role === "operator" || ["joined", "left"].includes(noticeIn(one)?.notice));
  return Boolean(last) && (last.role === "operator" || noticeIn(last).notice === "joined");
}
