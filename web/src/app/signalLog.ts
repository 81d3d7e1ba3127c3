import { CAPACITY, SignalHistory } from "./signalHistory";

/** All watched values of one instant. */
interface Arrival {
  time: number;
  /** Index of each signal among the values. */
  columns: Map<string, number>;
  values: Float64Array;
  /** Of a recording, whose instants arrive in any order. */
  replay: boolean;
}

/**
 * Received values of all watched signals, in order of arrival. Trails are built on demand: most
 * signals are shown as numbers only, and then cost nothing.
 */
export class SignalLog {
  order: string[] = [];
  private columns = new Map<string, number>();
  private arrivals: Arrival[] = [];
  /** Number of dropped entries. */
  private dropped = 0;
  private readonly histories = new Map<string, { history: SignalHistory; read: number }>();

  /** Sets the signals that arrive from now on, in this order; trails of others are dropped. */
  watch(order: string[]): void {
    this.order = order;
    this.columns = new Map(order.map((name, i) => [name, i]));
    for (const name of [...this.histories.keys()])
      if (!this.columns.has(name)) this.histories.delete(name);
  }

  placeOf(name: string): number | undefined {
    return this.columns.get(name);
  }

  push(time: number, values: Float64Array, replay: boolean): void {
    // A copy, since they are a view of a whole snapshot.
    this.arrivals.push({ time, columns: this.columns, values: values.slice(), replay });
    if (this.arrivals.length <= CAPACITY + CAPACITY / 4) return;
    for (const name of this.histories.keys()) this.history(name);
    this.arrivals.splice(0, CAPACITY / 4);
    this.dropped += CAPACITY / 4;
  }

  /** The recent values of a signal; null if it is not watched. */
  history(name: string): SignalHistory | null {
    let kept = this.histories.get(name);
    if (!kept) {
      if (!this.columns.has(name)) return null;
      this.histories.set(name, (kept = { history: new SignalHistory(), read: this.since(name) }));
    }
    for (let i = kept.read - this.dropped; i < this.arrivals.length; i++) {
      const { time, columns, values, replay } = this.arrivals[i]!;
      const value = values[columns.get(name) ?? -1] ?? NaN;
      if (!replay) kept.history.push(time, value);
      else if (!Number.isNaN(value)) kept.history.insert(time, value);
    }
    kept.read = this.dropped + this.arrivals.length;
    return kept.history;
  }

  /** Index of the first entry since which a signal has arrived without a gap. */
  private since(name: string): number {
    let first = this.arrivals.length;
    while (first > 0 && this.arrivals[first - 1]!.columns.has(name)) first--;
    return this.dropped + first;
  }

  put(name: string, history: SignalHistory): void {
    this.histories.set(name, { history, read: this.dropped + this.arrivals.length });
  }

  clear(): void {
    this.arrivals = [];
    this.dropped = 0;
    this.histories.clear();
  }
}
