import { decodePicture, type Picture } from "./frames";
import { ACK_EACH, PROTOCOL, type FromServer } from "./messages";

export type LinkState = "connecting" | "open" | "lost" | "refused";

export interface Listener {
  message(message: FromServer): void;
  picture(picture: Picture): void;
  state(state: LinkState, reason: string): void;
  /** What the server is told about who comes back. */
  before(): Record<string, string>;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;
const RELOAD = "This page is of another version of Linkwork than its server.";

/** The line to the server: one WebSocket that comes back by itself. */
export class Connection {
  private socket: WebSocket | null = null;
  private pause = FIRST_PAUSE_MS;
  private pictures = 0;
  private refusal = "";
  private opened = false;

  constructor(
    private readonly token: string,
    private readonly listener: Listener,
  ) {}

  open(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const query = new URLSearchParams({
      token: this.token,
      protocol: String(PROTOCOL),
      ...this.listener.before(),
    });
    const base = new URL("./", location.href);
    this.pictures = 0;
    this.refusal = "";
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

  /** Sends a message; false when there is no line. */
  send(message: { type: string } & Record<string, unknown>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      const message = JSON.parse(data) as FromServer;
      if (message.type === "refused" && message.key === "reload") this.refusal = RELOAD;
      else this.listener.message(message);
      return;
    }
    const picture = decodePicture(data);
    if (!picture) return;
    if (++this.pictures % ACK_EACH === 0) this.send({ type: "ack", frame: this.pictures });
    this.listener.picture(picture);
  }

  /** Why the server lets nobody in who says what we say; empty if it does not answer at all. */
  private async turnedAway(): Promise<string> {
    try {
      const query = new URLSearchParams({ token: this.token });
      const answer = await fetch(new URL(`api/gallery?${query}`, new URL("./", location.href)));
      if (answer.status !== 403) return "";
      const { error } = (await answer.json()) as { error: string };
      return error[0]!.toUpperCase() + error.slice(1);
    } catch {
      return "";
    }
  }

  private async closed(): Promise<void> {
    this.socket = null;
    if (!this.opened && !this.refusal) this.refusal = await this.turnedAway();
    if (this.refusal) {
      this.listener.state("refused", this.refusal);
      return;
    }
    this.listener.state("lost", "The server does not answer. Trying again.");
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(this.pause * 1.6, LONGEST_PAUSE_MS);
  }
}
