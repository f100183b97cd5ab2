// Colleagues who come and go: what the product itself says in a conversation, in the widget's language.
const NOTICES = [
  [/^A person was asked to join\.$/, "asked"],
  [/^(.+) joined the conversation\.$/, "joined"],
  [/^(.+) left the conversation\.$/, "left"],
];
const NOBODY_IN_PARTICULAR = "A colleague";

const noticeIn = (content) => NOTICES.find(([pattern]) => pattern.test(content));

/** A notice in words; one that isn't known here stands as it is. */
export function noticeText(content, say) {
  const [pattern, key] = noticeIn(content) ?? [];
  return key ? say(key).replace("{who}", () => colleagueName(pattern.exec(content)[1], say)) : content;
}

export const colleagueName = (name, say) => (name && name !== NOBODY_IN_PARTICULAR ? name : say("one"));

/** Whether a colleague has the conversation now. */
export function hasColleague(messages) {
  const last = messages.findLast(({ role, content }) => role === "operator" || (role === "system" && /joined|left/.test(noticeIn(content)?.[1] ?? "")));
  return Boolean(last) && (last.role === "operator" || noticeIn(last.content)[1] === "joined");
}
