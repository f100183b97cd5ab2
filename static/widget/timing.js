// Waiting, and keys that make a repeated request the same one.
export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
