import type { BusState, BusView, FrameLine, Frames, Ports, PortState } from "../protocol/messages";
import { lookedThrough } from "./pictures";
import { looksNear, reach } from "./reach";
import { send } from "./session";
import { show } from "./show";
import { store } from "./store";
import { announce } from "./topics";

/** Lines of the bus logs that the page keeps. */
const KEPT_LINES = 2000;

export interface LogLine extends FrameLine {
  bus: string;
}

/** What the page knows of buses while it looks at them. */
export const buses = {
  ports: null as Ports | null,
  lines: [] as LogLine[],
  /** Lines that the page never got, since they were too many. */
  skipped: 0,
};

const lookers = { ports: new Set<string>(), frames: new Set<string>() };

/** `asker` looks at ports or frames from now on, or no longer. */
export function lookAt(what: "ports" | "frames", asker: string, looks: boolean): void {
  const before = lookers[what].size > 0;
  if (looks) lookers[what].add(asker);
  else lookers[what].delete(asker);
  if (lookers[what].size > 0 !== before) askToShow();
}

/** Says what the page wants to see besides poses and signals. */
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

export function receiveFrames({ bus, lines, skipped }: Frames): void {
  const last = newest.get(bus) ?? 0;
  const fresh = lines.filter((line) => line.number > last).map((line) => ({ ...line, bus }));
  newest.set(bus, lines.at(-1)?.number ?? last);
  buses.lines.push(...fresh);
  buses.lines.splice(0, buses.lines.length - KEPT_LINES);
  buses.skipped += skipped;
  announce("frames");
}
const newest = new Map<string, number>();

/** Another scene: nothing is known of its buses. */
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

/** How a port is, by its place on its bus. */
export function portStateOf(bus: string, place: number): PortState | null {
  const list = busList();
  const before = list.slice(
    0,
    list.findIndex((each) => each.name === bus),
  );
  const first = before.reduce((sum, each) => sum + each.ports.length, 0);
  return buses.ports?.ports[first + place] ?? null;
}

/** Where each signal stands in the lists of a ports message. */
export function placesOf(list: BusView[]): Map<string, number> {
  const names = list.flatMap((bus) =>
    bus.ports.flatMap((port) => port.signals.map((signal) => signal.name)),
  );
  return new Map(names.map((name, place) => [name, place]));
}

/** The words for a bus's state. */
export const STATES: Record<BusState["state"], string> = {
  starting: "starting",
  waiting: "waiting",
  active: "active",
  lost: "controller lost",
  off: "not served",
};

/** A code on the wire as people write it. */
export function hex(code: number, bits: number): string {
  // Two's complement, as the bits on the wire are; a double holds whole numbers up to 2^53.
  const raw = code < 0 ? code + 2 ** bits : code;
  return `0x${raw
    .toString(16)
    .toUpperCase()
    .padStart(Math.ceil(bits / 4), "0")}`;
}
