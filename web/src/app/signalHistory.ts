export const CAPACITY = 6000;

/** Recent values of one signal, in order of time. Going back in time drops later values. */
export class SignalHistory {
  readonly times: number[] = [];
  readonly values: number[] = [];

  push(time: number, value: number): void {
    const last = this.times.at(-1);
    if (last !== undefined && time === last) {
      this.values[this.values.length - 1] = value;
      return;
    }
    if (last !== undefined && time < last) this.forgetFrom(time);
    this.times.push(time);
    this.values.push(value);
    if (this.times.length > CAPACITY + CAPACITY / 4) {
      this.times.splice(0, CAPACITY / 4);
      this.values.splice(0, CAPACITY / 4);
    }
  }

  /** Inserts a value by time; later values are kept. */
  insert(time: number, value: number): void {
    let at = this.times.length;
    while (at > 0 && this.times[at - 1]! > time) at--;
    if (this.times[at - 1] === time) {
      this.values[at - 1] = value;
      return;
    }
    this.times.splice(at, 0, time);
    this.values.splice(at, 0, value);
    if (this.times.length > CAPACITY + CAPACITY / 4) {
      const [from, count] = at > CAPACITY / 2 ? [0, CAPACITY / 4] : [CAPACITY, CAPACITY];
      this.times.splice(from, count);
      this.values.splice(from, count);
    }
  }

  private forgetFrom(time: number): void {
    let keep = this.times.length;
    while (keep > 0 && this.times[keep - 1]! >= time) keep--;
    this.times.length = keep;
    this.values.length = keep;
  }
}
