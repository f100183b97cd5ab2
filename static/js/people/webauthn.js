// The browser's questions about passkeys, in JSON: its own form of it came to browsers later than the questions did.

const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));

const text = (buffer) =>
  btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

const keys = (list) => (list ?? []).map((key) => ({ ...key, id: bytes(key.id) }));

const sent = ({ id, rawId, type }, response, results = {}) => ({
  id,
  rawId: text(rawId),
  type,
  response,
  clientExtensionResults: results,
});

/** A new passkey. `alone`: one that keeps the account itself, and asks who holds it. */
export async function makeKey(options, { alone }) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: keys(options.excludeCredentials),
      authenticatorSelection: {
        ...options.authenticatorSelection,
        residentKey: alone ? "required" : "discouraged",
        requireResidentKey: alone,
        userVerification: alone ? "required" : "preferred",
      },
    },
  });
  const { clientDataJSON, attestationObject } = made.response;
  const { credProps } = made.getClientExtensionResults();
  return sent(
    made,
    { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject) },
    credProps ? { credProps } : {},
  );
}

/** An answer of a passkey that is there. `among`: what the browser's own question takes besides, such as where it is put. */
export async function askForKey(options, among = {}) {
  const used = await navigator.credentials.get({
    ...among,
    publicKey: {
      ...options,
      challenge: bytes(options.challenge),
      allowCredentials: keys(options.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = used.response;
  return sent(used, {
    clientDataJSON: text(clientDataJSON),
    authenticatorData: text(authenticatorData),
    signature: text(signature),
    userHandle: userHandle && text(userHandle),
  });
}
