// Client of the widget's endpoints. It calls nothing else and sends no cookies.
import { readFrames } from "./sse.js";

const QUIET_MS = 45_000;

export class Refusal extends Error {
  constructor(status, error, retryAfter) {
    super(error?.message ?? `status ${status}`);
    Object.assign(this, { status, code: error?.code, field: error?.field, seconds: Number(retryAfter) || 0 });
  }
}

export class Api {
  constructor({ base, key, memory, shopper }) {
    Object.assign(this, { root: `${base}/widget/${encodeURIComponent(key)}`, memory, shopper });
  }

  /** Opens a session, and keeps its token. Throws Refusal, or TypeError without a connection. */
  async open() {
    const answer = await this.post("session", { token: this.memory.get("token") ?? "", shopper: this.shopper() });
    this.memory.set({ token: answer.token });
    return answer;
  }

  get(path) {
    return this.fetch(path, { headers: this.credentials(path), cache: "no-store" }).then((response) => response.json());
  }

  async post(path, body, { once, keepalive } = {}) {
    const headers = { "Content-Type": "application/json", ...this.credentials(path) };
    if (once) headers["Idempotency-Key"] = once;
    const response = await this.fetch(path, { method: "POST", headers, body: JSON.stringify(body), keepalive });
    return response.json();
  }

  /** Stores a file for the next message. Every try with the same key stores one. Throws as `post` does. */
  upload(file, { once, onProgress, signal }) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const path = "attachments";
      request.open("POST", `${this.root}/${path}?name=${encodeURIComponent(file.name)}`);
      const headers = { "Content-Type": "application/octet-stream", "Idempotency-Key": once, ...this.credentials(path) };
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.responseType = "json";
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
      request.onerror = request.onabort = () => reject(new TypeError());
      request.onload = () => {
        const { status, response } = request;
        if (status < 300 && response) resolve(response);
        else reject(new Refusal(status, response?.error, request.getResponseHeader("Retry-After")));
      };
      signal.addEventListener("abort", () => request.abort());
      request.send(file);
    });
  }

  /** Streams a conversation's events after `after` until the connection ends or goes silent for QUIET_MS. */
  async stream({ conversation, after, signal, onOpen, onFrame }) {
    const quiet = new AbortController();
    let timer;
    const awake = () => {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), QUIET_MS);
    };
    signal.addEventListener("abort", () => quiet.abort());
    const headers = { Accept: "text/event-stream", ...this.credentials("events") };
    if (after) headers["Last-Event-ID"] = after;
    try {
      awake();
      const response = await this.fetch(`events?conversation=${encodeURIComponent(conversation)}`, { headers, signal: quiet.signal, cache: "no-store" });
      onOpen();
      await readFrames(response.body, { onFrame, onBytes: awake });
    } finally {
      clearTimeout(timer);
    }
  }

  credentials(path) {
    return path === "session" ? {} : { Authorization: `Bearer ${this.memory.get("token")}` };
  }

  async fetch(path, options) {
    const response = await fetch(`${this.root}/${path}`, { credentials: "omit", ...options });
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    throw new Refusal(response.status, body.error, response.headers.get("Retry-After"));
  }
}
