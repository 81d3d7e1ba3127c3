import { SignalLog } from "./signalLog";
import { send } from "./session";
import { store } from "./store";
import { announce, on } from "./topics";
import { Trail } from "./trail";

/** Which signals the page watches, who asked for them, and what arrived. */
const wishes = new Map<string, string[]>();
/** What arrived last, in order; and of signals that are watched no more, or not again yet. */
let latest: Float64Array | null = null;
const former = new Map<string, number>();
const log = new SignalLog();
let number = 0;
/** What arrived last and is in no trail yet: only the status that follows says if it is the past. */
let fresh: { time: number; values: Float64Array } | null = null;

/** `asker` wants these signals from now on (and no longer the ones it wanted before). */
export function watch(asker: string, names: string[]): void {
  if (names.length === 0) wishes.delete(asker);
  else wishes.set(asker, names);
  const wanted = [...new Set([...wishes.values()].flat())].sort();
  const { order } = log;
  if (wanted.length === order.length && wanted.every((name, i) => name === order[i])) return;
  keep();
  for (const name of order) {
    const value = valueOf(name);
    if (value !== null) former.set(name, value);
  }
  latest = null;
  log.watch(wanted);
  rewatch();
}

export function rewatch(): void {
  number = (number + 1) & 0xff;
  send({ type: "watch", number, signals: log.order });
}

export function receiveSignals(flags: number, time: number, values: Float64Array): void {
  if (flags !== number || values.length !== log.order.length) return;
  keep();
  fresh = { time, values };
  showSignals(values);
}

/** Shows values without a trace of them: the trails hold the whole curves already. */
export function showSignals(values: Float64Array): void {
  latest = values;
  announce("signals");
}

/** Adds what arrived to the trails; the past that one looks at again is in them already. */
function keep(): void {
  const arrived = fresh;
  fresh = null;
  if (!arrived || (store.status?.seeking && !store.scene?.replay)) return;
  log.push(arrived.time, arrived.values, Boolean(store.scene?.replay));
}
on("status", keep);

/** The newest value of a watched signal in SI units, or null. */
export function valueOf(name: string | null): number | null {
  if (name === null) return null;
  const place = latest ? log.placeOf(name) : undefined;
  if (!latest || place === undefined) return former.get(name) ?? null;
  const value = latest[place] ?? NaN;
  return Number.isNaN(value) && store.scene?.replay ? null : value; // is simulated again
}

/** Forgets all that arrived: another run is shown. */
export function forgetTrails(): void {
  fresh = null;
  latest = null;
  former.clear();
  log.clear();
}

/** The curves so far, to be put back when their run is shown again. */
export function trailsNow(): Map<string, Trail> {
  keep();
  return new Map(log.order.map((name) => [name, log.trail(name) ?? new Trail()]));
}

export function putTrails(kept: Map<string, Trail>): void {
  for (const [name, trail] of kept) if (log.placeOf(name) !== undefined) log.put(name, trail);
}

/** Fills a trail with a whole recorded curve. */
export function fillTrail(name: string, times: ArrayLike<number>, values: ArrayLike<number>): void {
  const trail = new Trail();
  for (let i = 0; i < times.length; i++) {
    if (Number.isNaN(values[i] ?? NaN)) continue;
    trail.times.push(times[i]!);
    trail.values.push(values[i]!);
  }
  log.put(name, trail);
}

export function trailOf(name: string): Trail | null {
  return log.trail(name);
}
