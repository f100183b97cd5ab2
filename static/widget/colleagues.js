// Colleagues who come and go: what the product itself says in a conversation, in the widget's language.

/** What a message tells of a colleague: `{notice, who}`; null for one that tells of none. */
const noticeIn = ({ blocks }) => (blocks ?? []).find(({ type }) => type === "notice") ?? null;

/** A notice in the widget's words; one that isn't known here stands as the server says it. */
export function noticeText(message, say) {
  const found = noticeIn(message);
  const isKnown = found && ["asked", "joined", "left"].includes(found.notice);
  return isKnown ? say(found.notice).replace("{who}", () => colleagueName(found.who, say)) : message.content;
}

const NOBODY_IN_PARTICULAR = "A colleague";

export const colleagueName = (name, say) => (name && name !== NOBODY_IN_PARTICULAR ? name : say("one"));

/** Whether a colleague has the conversation now. */
export function hasColleague(messages) {
  const last = messages.findLast((one) => one.role === "operator" || ["joined", "left"].includes(noticeIn(one)?.notice));
  return Boolean(last) && (last.role === "operator" || noticeIn(last).notice === "joined");
}
