import { decodeSnapshot, type Snapshot } from "./frames";
import { SNAPSHOTS_PER_ACK, PROTOCOL, type ErrorResponse, type FromServer } from "./messages";

export type LinkState = "connecting" | "open" | "lost" | "refused";

export type RefusalReason = ErrorResponse["reason"];

export interface Listener {
  message(message: FromServer): void;
  snapshot(snapshot: Snapshot): void;
  state(state: LinkState, text: string, reason?: RefusalReason): void;
  /** Identification of a returning client. */
  before(): Record<string, string>;
}

type Rejection = Pick<ErrorResponse, "error" | "reason">;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;
const RELOAD: Rejection = {
  error: "This page is of another version of Linkwork than its server.",
  reason: "reload",
};

/** The connection to the server: one WebSocket that reconnects automatically. */
export class Connection {
  private socket: WebSocket | null = null;
  private pause = FIRST_PAUSE_MS;
  private received = 0;
  private rejection: Rejection | null = null;
  private opened = false;

  /** A cookie holds the token; no script reads it. */
  constructor(private readonly listener: Listener) {}

  open(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = new URLSearchParams({
      protocol: String(PROTOCOL),
      ...this.listener.before(),
    });
    const base = new URL("./", location.href);
    this.received = 0;
    this.rejection = null;
    this.opened = false;
    this.listener.state("connecting", "");
    const socket = new WebSocket(`${scheme}://${location.host}${base.pathname}ws?${query}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.pause = FIRST_PAUSE_MS;
      this.opened = true;
      this.listener.state("open", "");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => void this.closed();
    this.socket = socket;
  }

  /** Sends a message; false if there is no connection. */
  send(message: { type: string } & Record<string, unknown>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      const message = JSON.parse(data) as FromServer;
      if (message.type === "refused" && message.reason === "reload") this.rejection = RELOAD;
      else this.listener.message(message);
      return;
    }
    const snapshot = decodeSnapshot(data);
    if (!snapshot) return;
    if (++this.received % SNAPSHOTS_PER_ACK === 0) this.send({ type: "ack", frame: this.received });
    this.listener.snapshot(snapshot);
  }

  /** Why the server rejects this client; null if it does not answer. */
  private async askForRejection(): Promise<Rejection | null> {
    try {
      const answer = await fetch(new URL("api/gallery", new URL("./", location.href)));
      if (answer.status !== 403) return null;
      const { error, reason } = (await answer.json()) as ErrorResponse;
      return { error: error[0]!.toUpperCase() + error.slice(1), reason };
    } catch {
      return null;
    }
  }

  private async closed(): Promise<void> {
    this.socket = null;
    if (!this.opened && !this.rejection) this.rejection = await this.askForRejection();
    if (this.rejection) {
      this.listener.state("refused", this.rejection.error, this.rejection.reason);
      return;
    }
    this.listener.state("lost", "The server does not answer. Trying again.");
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(this.pause * 1.6, LONGEST_PAUSE_MS);
  }
}
