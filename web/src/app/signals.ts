import { send } from "./session";
import { store } from "./store";
import { announce, on } from "./topics";
import { Trail } from "./trail";

/** Which signals the page watches, who asked for them, and what arrived. */
const wishes = new Map<string, string[]>();
const latest = new Map<string, number>();
const trails = new Map<string, Trail>();
let order: string[] = [];
let number = 0;
/** What arrived last and is in no trail yet: only the status that follows says if it is the past. */
let fresh: { time: number; values: Float64Array } | null = null;

/** `asker` wants these signals from now on (and no longer the ones it wanted before). */
export function watch(asker: string, names: string[]): void {
  if (names.length === 0) wishes.delete(asker);
  else wishes.set(asker, names);
  const wanted = [...new Set([...wishes.values()].flat())].sort();
  if (wanted.length === order.length && wanted.every((name, i) => name === order[i])) return;
  keep();
  order = wanted;
  for (const name of [...trails.keys()]) if (!order.includes(name)) trails.delete(name);
  rewatch();
}

export function rewatch(): void {
  number = (number + 1) & 0xff;
  send({ type: "watch", number, signals: order });
}

export function receiveSignals(flags: number, time: number, values: Float64Array): void {
  if (flags !== number || values.length !== order.length) return;
  keep();
  fresh = { time, values };
  showSignals(values);
}

/** Shows values without a trace of them: the trails hold the whole curves already. */
export function showSignals(values: Float64Array): void {
  order.forEach((name, i) => {
    const value = values[i] ?? NaN;
    if (Number.isNaN(value) && store.scene?.replay)
      latest.delete(name); // is simulated again
    else latest.set(name, value);
  });
  announce("signals");
}

/** Adds what arrived to the trails; the past that one looks at again is in them already. */
function keep(): void {
  const arrived = fresh;
  fresh = null;
  if (!arrived || (store.status?.seeking && !store.scene?.replay)) return;
  order.forEach((name, i) => {
    const value = arrived.values[i] ?? NaN;
    let trail = trails.get(name);
    if (!trail) trails.set(name, (trail = new Trail()));
    if (!store.scene?.replay) trail.push(arrived.time, value);
    else if (!Number.isNaN(value)) trail.insert(arrived.time, value);
  });
}
on("status", keep);

/** The newest value of a watched signal in SI units, or null. */
export function valueOf(name: string | null): number | null {
  return name === null ? null : (latest.get(name) ?? null);
}

/** Forgets all that arrived: another run is shown. */
export function forgetTrails(): void {
  fresh = null;
  latest.clear();
  trails.clear();
}

/** The curves so far, to be put back when their run is shown again. */
export function trailsNow(): Map<string, Trail> {
  keep();
  return new Map(trails);
}

export function putTrails(kept: Map<string, Trail>): void {
  for (const [name, trail] of kept) if (order.includes(name)) trails.set(name, trail);
}

/** Fills a trail with a whole recorded curve. */
export function fillTrail(name: string, times: ArrayLike<number>, values: ArrayLike<number>): void {
  const trail = new Trail();
  for (let i = 0; i < times.length; i++) {
    if (Number.isNaN(values[i] ?? NaN)) continue;
    trail.times.push(times[i]!);
    trail.values.push(values[i]!);
  }
  trails.set(name, trail);
}

export function trailOf(name: string): Trail | null {
  return trails.get(name) ?? null;
}
