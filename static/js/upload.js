// An upload with progress, which `fetch` doesn't report.

/** Posts a file once per key. Resolves with the JSON response. Rejects with an Error that has the `status`, 0 without a connection. */
export function post(address, file, { headers, key, onProgress, unreachable, refused }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (status, message) => reject(Object.assign(new Error(message), { status }));
    request.open("POST", `${address}?name=${encodeURIComponent(file.name)}`);
    const all = { Accept: "application/json", "Content-Type": "application/octet-stream", "Idempotency-Key": key, ...headers };
    for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
    request.onerror = () => fail(0, unreachable);
    request.onload = () => {
      if (request.status < 300 && request.response) resolve(request.response);
      else fail(request.status, request.response?.error?.message ?? refused);
    };
    request.send(file);
  });
}
