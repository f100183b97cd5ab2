// Colleagues who come and go: what the product itself says in a conversation, in the widget's language.
import { phrase } from "./words.js";

const NOTICES = {
  asked: phrase("A colleague was asked to join."),
  joined: phrase("%(who)s joined the conversation."),
  left: phrase("%(who)s left the conversation."),
};

/** What a message tells of a colleague: `{notice, who}`; null for one that tells of none. */
const noticeIn = ({ blocks }) => (blocks ?? []).find(({ type }) => type === "notice") ?? null;

/** A notice in the widget's words; one that isn't known here stands as the server says it. */
export function noticeText(message, say) {
  const found = noticeIn(message);
  const isKnown = found && Object.hasOwn(NOTICES, found.notice);
  return isKnown ? say(NOTICES[found.notice], { who: colleagueName(found.who, say) }) : message.content;
}

/** The server sends the same English words for a colleague without a name. */
const NOBODY_IN_PARTICULAR = phrase("A colleague");

export const colleagueName = (name, say) => (name && name !== NOBODY_IN_PARTICULAR ? name : say(NOBODY_IN_PARTICULAR));

/** Whether a colleague has the conversation now. */
export function hasColleague(messages) {
  const last = messages.findLast((one) => one.role === "operator" || ["joined", "left"].includes(noticeIn(one)?.notice));
  return Boolean(last) && (last.role === "operator" || noticeIn(last).notice === "joined");
}
