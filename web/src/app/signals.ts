import { SignalLog } from "./signalLog";
import { send } from "./session";
import { store } from "./store";
import { announce, on } from "./topics";
import { SignalHistory } from "./signalHistory";

/** The watched signals, their subscribers and the received values. */
const subscriptions = new Map<string, string[]>();
/** Received values in order, and of signals that are not watched at present. */
let latest: Float64Array | null = null;
const former = new Map<string, number>();
const log = new SignalLog();
let number = 0;
/** Values not yet in a trail: only the following status tells whether they are of the past. */
let fresh: { time: number; values: Float64Array } | null = null;

/** Sets the signals that `subscriber` watches, in place of its previous ones. */
export function watch(subscriber: string, names: string[]): void {
  if (names.length === 0) subscriptions.delete(subscriber);
  else subscriptions.set(subscriber, names);
  const wanted = [...new Set([...subscriptions.values()].flat())].sort();
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

/** Shows values without adding them to trails, which already have the whole curves. */
export function showSignals(values: Float64Array): void {
  latest = values;
  announce("signals");
}

/** Adds received values to the trails; replayed ones are in them already. */
function keep(): void {
  const arrived = fresh;
  fresh = null;
  if (!arrived || (store.status?.seeking && !store.scene?.replay)) return;
  log.push(arrived.time, arrived.values, Boolean(store.scene?.replay));
}
on("status", keep);

/** The latest value of a watched signal in SI units, or null. */
export function valueOf(name: string | null): number | null {
  if (name === null) return null;
  const place = latest ? log.placeOf(name) : undefined;
  if (!latest || place === undefined) return former.get(name) ?? null;
  const value = latest[place] ?? NaN;
  return Number.isNaN(value) && store.scene?.replay ? null : value; // is simulated again
}

/** Drops all received values: another run is shown. */
export function forgetTrails(): void {
  fresh = null;
  latest = null;
  former.clear();
  log.clear();
}

/** The curves so far, to be restored when their run is shown again. */
export function historiesNow(): Map<string, SignalHistory> {
  keep();
  return new Map(log.order.map((name) => [name, log.history(name) ?? new SignalHistory()]));
}

export function putHistories(kept: Map<string, SignalHistory>): void {
  for (const [name, history] of kept) if (log.placeOf(name) !== undefined) log.put(name, history);
}

/** Fills a trail with a whole recorded curve. */
export function fillTrail(name: string, times: ArrayLike<number>, values: ArrayLike<number>): void {
  const history = new SignalHistory();
  for (let i = 0; i < times.length; i++) {
    if (Number.isNaN(values[i] ?? NaN)) continue;
    history.times.push(times[i]!);
    history.values.push(values[i]!);
  }
  log.put(name, history);
}

export function historyOf(name: string): SignalHistory | null {
  return log.history(name);
}
