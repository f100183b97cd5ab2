// An answer that isn't sent yet, kept in this browser until it is: {content, sent, key}. `key` is the idempotency key of the attempt
// to send `sent`, so that a repeated attempt is no second message, even after a reload.
import * as storage from "../storage.js";

const PREFIX = "mg-answer:";

export class Unsent {
  /** `prefix` tells several drafts of one conversation apart. */
  constructor(conversation, prefix = PREFIX) {
    this.name = prefix + conversation;
    this.value = this.read();
  }

  get content() {
    return this.value?.content ?? "";
  }

  /** Keeps what was typed. */
  type(content) {
    this.write(content || this.value?.sent ? { ...this.value, content } : null);
  }

  /** Keeps what is being sent. Returns the idempotency key, which stays the same for the same words, `files` (their ids) and chat. */
  begin(content, files = []) {
    const sent = [content, ...files].join("\n");
    const key = this.value?.sent === sent ? this.value.key : crypto.randomUUID();
    this.write({ content, sent, key });
    return key;
  }

  /** Forgets what was sent; `rest` was typed since. */
  done(rest) {
    this.write(rest ? { content: rest } : null);
  }

  read() {
    return JSON.parse(storage.read("localStorage", this.name));
  }

  write(value) {
    this.value = value;
    storage.write("localStorage", this.name, value && JSON.stringify(value));
  }
}
