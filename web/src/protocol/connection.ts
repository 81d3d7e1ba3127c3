import { decodeFrame, POSES, type Frame } from "./frames";
import { PROTOCOL, type FromServer } from "./messages";

export type LinkState = "connecting" | "open" | "lost" | "refused";

export interface Listener {
  message(message: FromServer): void;
  frame(frame: Frame): void;
  state(state: LinkState, reason: string): void;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;

/** The line to the server: one WebSocket that comes back by itself. */
export class Connection {
  private socket: WebSocket | null = null;
  private pause = FIRST_PAUSE_MS;
  private frames = 0;
  private refusal = "";

  constructor(
    private readonly token: string,
    private readonly listener: Listener,
  ) {}

  open(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = new URLSearchParams({ token: this.token, protocol: String(PROTOCOL) });
    const base = new URL("./", location.href);
    this.frames = 0;
    this.refusal = "";
    this.listener.state("connecting", "");
    const socket = new WebSocket(`${scheme}://${location.host}${base.pathname}ws?${query}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.pause = FIRST_PAUSE_MS;
      this.listener.state("open", "");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => this.closed();
    this.socket = socket;
  }

  /** Sends a message; false when there is no line. */
  send(message: { type: string } & Record<string, unknown>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      const message = JSON.parse(data) as FromServer | { type: "error"; text?: string };
      if (message.type === "error") {
        this.refusal = message.text ?? "The server speaks another protocol. Reload the page.";
        return;
      }
      this.listener.message(message);
      return;
    }
    const frame = decodeFrame(data);
    if (frame.kind === POSES) this.send({ type: "ack", frame: ++this.frames });
    this.listener.frame(frame);
  }

  private closed(): void {
    this.socket = null;
    if (this.refusal) {
      this.listener.state("refused", this.refusal);
      return;
    }
    this.listener.state("lost", "The server does not answer. Trying again.");
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(this.pause * 1.6, LONGEST_PAUSE_MS);
  }
}
