import { CAPACITY, Trail } from "./trail";

/** All watched values of one instant. */
interface Arrival {
  time: number;
  /** Where each signal is among the values. */
  places: Map<string, number>;
  values: Float64Array;
  /** Of a recording, whose instants arrive in any order. */
  replay: boolean;
}

/**
 * What arrived of all watched signals, as it came. A trail is made of it for those who ask, up to
 * where it was read: most signals are shown as numbers only, and cost nothing then.
 */
export class SignalLog {
  order: string[] = [];
  private places = new Map<string, number>();
  private arrivals: Arrival[] = [];
  /** How many have been dropped. */
  private dropped = 0;
  private readonly trails = new Map<string, { trail: Trail; read: number }>();

  /** These signals arrive from now on, in this order; the trails of others are forgotten. */
  watch(order: string[]): void {
    this.order = order;
    this.places = new Map(order.map((name, i) => [name, i]));
    for (const name of [...this.trails.keys()])
      if (!this.places.has(name)) this.trails.delete(name);
  }

  placeOf(name: string): number | undefined {
    return this.places.get(name);
  }

  push(time: number, values: Float64Array, replay: boolean): void {
    // A copy, as they are a part of a picture with all its poses.
    this.arrivals.push({ time, places: this.places, values: values.slice(), replay });
    if (this.arrivals.length <= CAPACITY + CAPACITY / 4) return;
    for (const name of this.trails.keys()) this.trail(name);
    this.arrivals.splice(0, CAPACITY / 4);
    this.dropped += CAPACITY / 4;
  }

  /** The recent past of a signal; null where it is not watched. */
  trail(name: string): Trail | null {
    let kept = this.trails.get(name);
    if (!kept) {
      if (!this.places.has(name)) return null;
      this.trails.set(name, (kept = { trail: new Trail(), read: this.since(name) }));
    }
    for (let i = kept.read - this.dropped; i < this.arrivals.length; i++) {
      const { time, places, values, replay } = this.arrivals[i]!;
      const value = values[places.get(name) ?? -1] ?? NaN;
      if (!replay) kept.trail.push(time, value);
      else if (!Number.isNaN(value)) kept.trail.insert(time, value);
    }
    kept.read = this.dropped + this.arrivals.length;
    return kept.trail;
  }

  /** Number of the arrival from which on a signal has been there without a gap. */
  private since(name: string): number {
    let first = this.arrivals.length;
    while (first > 0 && this.arrivals[first - 1]!.places.has(name)) first--;
    return this.dropped + first;
  }

  put(name: string, trail: Trail): void {
    this.trails.set(name, { trail, read: this.dropped + this.arrivals.length });
  }

  clear(): void {
    this.arrivals = [];
    this.dropped = 0;
    this.trails.clear();
  }
}
