import type {
  BusState,
  BusView,
  FrameLine,
  BusFrames,
  Ports,
  PortState,
} from "../protocol/messages";
import { lookedThrough } from "./pictures";
import { looksNear, reach } from "./reach";
import { send } from "./session";
import { show } from "./show";
import { store } from "./store";
import { announce } from "./topics";

/** Maximum number of bus log lines in the page. */
const KEPT_LINES = 2000;

export interface LogLine extends FrameLine {
  bus: string;
}

/** The state of buses while the page displays them. */
export const buses = {
  ports: null as Ports | null,
  lines: [] as LogLine[],
  /** Number of lines that were not sent because there were too many. */
  skipped: 0,
};

const lookers = { ports: new Set<string>(), frames: new Set<string>() };

/** Adds or removes `asker` as a viewer of ports or frames. */
export function lookAt(what: "ports" | "frames", asker: string, looks: boolean): void {
  const before = lookers[what].size > 0;
  if (looks) lookers[what].add(asker);
  else lookers[what].delete(asker);
  if (lookers[what].size > 0 !== before) askToShow();
}

/** Requests the data that the page displays besides poses and signals. */
export function askToShow(): void {
  send({
    type: "show",
    contacts: show.contacts || show.forces,
    ghost: show.ghost,
    forces: show.held,
    ports: lookers.ports.size > 0,
    frames: lookers.frames.size > 0,
    cameras: lookedThrough,
    reach: reach.setup !== null,
    near: looksNear(),
  });
}

export function receivePorts(message: Ports): void {
  if (message.version !== store.scene?.version) return;
  buses.ports = message;
  announce("ports");
}

export function receiveFrames({ bus, lines, skipped }: BusFrames): void {
  const last = newest.get(bus) ?? 0;
  const fresh = lines.filter((line) => line.number > last).map((line) => ({ ...line, bus }));
  newest.set(bus, lines.at(-1)?.number ?? last);
  buses.lines.push(...fresh);
  buses.lines.splice(0, buses.lines.length - KEPT_LINES);
  buses.skipped += skipped;
  announce("frames");
}
const newest = new Map<string, number>();

/** Clears the state of buses when another scene is shown. */
export function forgetBuses(): void {
  buses.ports = null;
  buses.lines = [];
  buses.skipped = 0;
  newest.clear();
  announce("frames");
}

export function clearFrames(): void {
  buses.lines = [];
  buses.skipped = 0;
  announce("frames");
}

export function busList(): BusView[] {
  return store.scene?.buses ?? [];
}

export function stateOf(bus: string): BusState | null {
  return buses.ports?.buses.find((each) => each.name === bus) ?? null;
}

/** State of a port, by its index on its bus. */
export function portStateOf(bus: string, place: number): PortState | null {
  const list = busList();
  const before = list.slice(
    0,
    list.findIndex((each) => each.name === bus),
  );
  const first = before.reduce((sum, each) => sum + each.ports.length, 0);
  return buses.ports?.ports[first + place] ?? null;
}

/** Index of each signal in the lists of a ports message. */
export function columnsOf(list: BusView[]): Map<string, number> {
  const names = list.flatMap((bus) =>
    bus.ports.flatMap((port) => port.signals.map((signal) => signal.name)),
  );
  return new Map(names.map((name, place) => [name, place]));
}

/** Text for a bus's state. */
export const STATES: Record<BusState["state"], string> = {
  starting: "starting",
  waiting: "waiting",
  active: "active",
  lost: "controller lost",
  hung: "does not answer",
  off: "not served",
};

/** A code on the wire as text. */
export function hex(code: number, bits: number): string {
  // Two's complement, like the bits on the wire; a double represents integers up to 2^53.
  const raw = code < 0 ? code + 2 ** bits : code;
  return `0x${raw
    .toString(16)
    .toUpperCase()
    .padStart(Math.ceil(bits / 4), "0")}`;
}
