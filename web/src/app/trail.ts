const CAPACITY = 6000;

/** The recent past of one signal, in order of time. Going back in time forgets the future. */
export class Trail {
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

  private forgetFrom(time: number): void {
    let keep = this.times.length;
    while (keep > 0 && this.times[keep - 1]! >= time) keep--;
    this.times.length = keep;
    this.values.length = keep;
  }
}
