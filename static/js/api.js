// HTTP API client: session cookie, CSRF header, one error shape.
import { ask, signedOut } from "./ended.js";
import { fill, gettext } from "./i18n.js";
const TIMEOUT_MS = 20_000;
const UPLOAD_MS = 120_000;
const LARGEST_PAGE = 200;
const LINES = "application/x-ndjson";

export class ApiError extends Error {
  constructor({ status, code, message, field = null }) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

const unreachable = () =>
  new ApiError({
    status: 0,
    code: "unreachable",
    message: gettext("The server can’t be reached. Check your connection and try again."),
  });

async function toError(response) {
  const body = await response.json().catch(() => ({}));
  const fallback = {
    code: `http_${response.status}`,
    message: fill(gettext("The server responded with %(status)s. Try again in a moment."), { status: response.status }),
  };
  const error = { ...fallback, ...body.error };
  // The API speaks of its keys to whoever isn't signed in.
  return new ApiError({ status: response.status, ...error, message: (response.status === 401 && signedOut) || error.message });
}

export class Api {
  constructor({ base, project, csrf }) {
    this.base = base;
    this.project = project;
    this.csrf = csrf;
  }

  get(path) {
    return this.request("GET", path);
  }

  post(path, body = {}, headers = {}) {
    return this.send("POST", path, body, { headers });
  }

  put(path, body) {
    return this.send("PUT", path, body);
  }

  /** `timeout` in milliseconds, for requests that wait for a model. */
  send(method, path, body, { headers = {}, timeout } = {}) {
    return this.request(method, path, {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...headers },
      timeout,
    });
  }

  /** Stores a file at `path`, once per `key`. */
  upload(path, file, key) {
    const headers = { "Content-Type": "application/octet-stream", "Idempotency-Key": key };
    return this.request("POST", `${path}?name=${encodeURIComponent(file.name)}`, { body: file, headers, timeout: UPLOAD_MS });
  }

  /** Posts and passes on each line of a JSON Lines response. Aborting `signal` also stops the server's work. */
  async lines(path, body, { signal, onLine }) {
    const response = await fetch(this.base + path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { ...this.headers(), "Content-Type": "application/json", Accept: LINES },
      credentials: "same-origin",
      signal,
    });
    if (!response.ok) throw await toError(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line) onLine(JSON.parse(line));
    }
  }

  /** All rows of a list, across its largest pages. */
  async list(path) {
    const rows = [];
    for (let next = `${this.base}${path}?limit=${LARGEST_PAGE}`; next;) {
      const page = await this.fetch("GET", next);
      rows.push(...page.results);
      const url = page.next && new URL(page.next, location.href);
      next = url && url.pathname + url.search;
    }
    return rows;
  }

  /** The URL of a stream. EventSource can't send headers, so the project is a query parameter. */
  streamUrl(path) {
    return `${this.base}${path}?project=${encodeURIComponent(this.project)}`;
  }

  headers() {
    // The page's own token changes with a later sign-in.
    const csrf = document.querySelector("meta[name=csrf-token]")?.content ?? this.csrf;
    return { Accept: "application/json", "X-Project": this.project, "X-CSRFToken": csrf };
  }

  request(method, path, options) {
    return this.fetch(method, this.base + path, options);
  }

  async fetch(method, url, { body, headers = {}, timeout = TIMEOUT_MS } = {}) {
    let response;
    try {
      response = await fetch(url, {
        method,
        body,
        headers: { ...this.headers(), ...headers },
        credentials: "same-origin",
        signal: AbortSignal.timeout(timeout),
      });
    } catch {
      throw unreachable();
    }
    if (response.status === 401) ask();
    if (!response.ok) throw await toError(response);
    return response.status === 204 ? null : response.json();
  }
}
