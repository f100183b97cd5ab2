// One call from a browser: the microphone, and the connection to the provider. Loaded when somebody presses "Call".
// CATALOG is defined at the top of the bundle (conversations/widget/bundle.py).
import { CallCard } from "./call_card.js";
import { problemOf } from "./call_problems.js";
import { pause, randomKey } from "./timing.js";
import { chosenLanguage, sayIn } from "./words.js";

const CONNECT_MS = 20_000;
const GATHER_MS = 1_500;
const LOOK_MS = 250;
const WATCH_MS = 5_000;
const OPEN = new Set(["ringing", "answering", "live"]);

/** Shows a call in `into`, and starts it. `door` reaches the call's endpoints; `onClose` is called when it is put away. */
export function openCall({ into, door, language, name, onClose }) {
  const say = sayIn(CATALOG, chosenLanguage(CATALOG, language), { name });
  const call = new Call(door);
  call.card = new CallCard({
    into,
    say,
    name,
    onMute: (isMuted) => call.mute(isMuted),
    onHangUp: () => call.hangUp(),
    onAgain: () => call.start(),
    onClose: () => (call.hangUp(), call.card.remove(), onClose()),
  });
  call.start();
  return call;
}

class Call {
  constructor(door) {
    this.door = door;
    addEventListener("pagehide", () => this.leave());
  }

  get isOver() {
    return this.ending.signal.aborted;
  }

  async start() {
    Object.assign(this, { id: null, ending: new AbortController(), isLive: false, isEnding: false });
    this.card.reset();
    try {
      await this.connect();
    } catch (error) {
      if (!this.isOver) this.fail(error);
    }
  }

  async connect() {
    const microphone = await openMicrophone();
    if (this.isOver) return stop(microphone);
    this.microphone = microphone;
    this.card.show("connecting");
    const peer = (this.peer = new RTCPeerConnection());
    peer.addEventListener("track", ({ streams, track }) => this.card.play(streams[0] ?? new MediaStream([track])));
    peer.addEventListener("connectionstatechange", () => this.peerChanged());
    for (const track of microphone.getTracks()) peer.addTrack(track, microphone);
    await peer.setLocalDescription();
    await gathered(peer);
    const call = await this.door.start(peer.localDescription.sdp, randomKey());
    this.id = call.id;
    if (this.isOver) return void this.report("hung_up");
    this.follow(call.conversation);
    await peer.setRemoteDescription({ type: "answer", sdp: await this.answer() });
    await this.connected(peer);
    await this.report("connected");
    this.isLive = true;
    this.card.show("live");
    this.watch();
  }

  /** The provider's answer, once it is there. */
  async answer() {
    const until = Date.now() + CONNECT_MS;
    while (Date.now() < until && !this.isOver) {
      const call = await this.door.read(this.id);
      if (call.answer) return call.answer;
      if (!OPEN.has(call.state)) throw { problem: call.state, number: call.number };
      await pause(LOOK_MS);
    }
    throw { problem: "failed" };
  }

  connected(peer) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (peer.connectionState === "connected") resolve();
        if (peer.connectionState === "failed") reject({ problem: "no_media" });
      };
      peer.addEventListener("connectionstatechange", look);
      setTimeout(() => reject({ problem: "no_media" }), CONNECT_MS);
      look();
    });
  }

  peerChanged() {
    if (this.isLive && !this.isOver && this.peer.connectionState === "failed") this.fail({ problem: "lost" });
  }

  /** Shows the transcript, and learns of the end. */
  async follow(conversation) {
    const { ending } = this;
    for (let after = null; !ending.signal.aborted; await pause(1000))
      await this.door
        .stream(conversation, { after, signal: ending.signal, onFrame: (frame) => ((after = frame.id ?? after), this.heard(frame)) })
        .catch(() => {});
  }

  heard({ event, data }) {
    if (event === "message") this.card.line(data);
    if (event === "reset") data.messages.forEach((message) => this.card.line(message));
    // The agent may still be saying goodbye.
    if (event === "over" && data.over) this.isEnding = true;
  }

  async watch() {
    const { ending } = this;
    for (let waited = 0; !ending.signal.aborted; waited += LOOK_MS) {
      await pause(LOOK_MS);
      if (ending.signal.aborted || !(this.isEnding || waited % WATCH_MS === 0)) continue;
      const call = await this.door.read(this.id).catch(() => null);
      if (call && !OPEN.has(call.state) && !ending.signal.aborted) this.finish(call);
    }
  }

  finish({ state, number }) {
    this.release();
    if (state === "ended") this.card.end("");
    else this.card.end(problemOf({ problem: state, number }), { number });
  }

  fail(error) {
    const problem = error?.problem;
    if (this.id && (problem === "no_media" || problem === "lost")) this.report(problem);
    else if (this.id) this.report("hung_up");
    this.release();
    this.card.end(problemOf(error), { number: error?.number });
  }

  mute(isMuted) {
    for (const track of this.microphone?.getTracks() ?? []) track.enabled = !isMuted;
  }

  hangUp() {
    if (this.isOver) return;
    if (this.id) this.report("hung_up");
    this.release();
    this.card.end("");
  }

  leave() {
    if (this.id && !this.isOver) this.report("left");
  }

  report(event) {
    return this.door.report(this.id, event).catch(() => {});
  }

  release() {
    this.ending.abort();
    stop(this.microphone);
    this.peer?.close();
  }
}

async function openMicrophone() {
  if (!window.RTCPeerConnection || !navigator.mediaDevices?.getUserMedia) throw { problem: "unsupported" };
  return navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } });
}

const stop = (stream) => stream?.getTracks().forEach((track) => track.stop());

/** Waits for the browser's own addresses, for a moment. */
const gathered = (peer) =>
  new Promise((resolve) => {
    const look = () => peer.iceGatheringState === "complete" && resolve();
    peer.addEventListener("icegatheringstatechange", look);
    setTimeout(resolve, GATHER_MS);
    look();
  });
