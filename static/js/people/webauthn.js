// WebAuthn calls with JSON options. Written out, because browsers gained their own JSON support later than WebAuthn.

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

/** Creates a passkey. `alone`: resident, with user verification. */
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

/** Requests an assertion. `among`: further options for `navigator.credentials.get`, such as `mediation`. */
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
