// The HTTP API as the page uses it: session cookie, CSRF header, one error shape.
const TIMEOUT_MS = 20_000;

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
    message: "The server can’t be reached. Look at your connection, then try again.",
  });

async function toError(response) {
  const body = await response.json().catch(() => ({}));
  const fallback = {
    code: `http_${response.status}`,
    message: `The server answered with ${response.status}. Try again in a moment.`,
  };
  return new ApiError({ status: response.status, ...fallback, ...body.error });
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
    return this.request("POST", path, {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...headers },
    });
  }

  /** Every row of a list, over all its pages. */
  async list(path) {
    const rows = [];
    for (let next = this.base + path; next;) {
      const page = await this.fetch("GET", next);
      rows.push(...page.results);
      const url = page.next && new URL(page.next, location.href);
      next = url && url.pathname + url.search;
    }
    return rows;
  }

  /** The address of a stream; an EventSource can't send headers, so the project goes in the query. */
  streamUrl(path) {
    return `${this.base}${path}?project=${encodeURIComponent(this.project)}`;
  }

  request(method, path, options) {
    return this.fetch(method, this.base + path, options);
  }

  async fetch(method, url, { body, headers = {} } = {}) {
    let response;
    try {
      response = await fetch(url, {
        method,
        body,
        headers: { Accept: "application/json", "X-Project": this.project, "X-CSRFToken": this.csrf, ...headers },
        credentials: "same-origin",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch {
      throw unreachable();
    }
    if (!response.ok) throw await toError(response);
    return response.status === 204 ? null : response.json();
  }
}
