import { FrameScheduler } from "./frameScheduler";

/** Numbers are updated once per this many frames, to stay readable. */
const EACH = 10;
/** Maximum time between updates at low frame rates [ms]. */
const LATEST = 400;

const asked = new Set<() => void>();
let rest = 0;
let last = 0;

const scheduler = new FrameScheduler(() => {
  rest--;
  if (asked.size > 0 && (rest <= 0 || performance.now() - last > LATEST)) {
    rest = EACH;
    last = performance.now();
    const all = [...asked];
    asked.clear();
    all.forEach((draw) => draw());
  }
  return asked.size > 0 || rest > 0;
});

/**
 * Throttles a text update, which may be requested at any time, and synchronizes it with all others:
 * the page changes only in one of several frames, since each change triggers a layout. The last
 * request is never lost.
 */
export function paced(draw: () => void): () => void {
  return () => {
    asked.add(draw);
    scheduler.ask();
  };
}

/** Draws one item in every second frame, in turn, until each has been drawn. */
export class Turns<T extends { draw(): void }> {
  private readonly waiting = new Set<T>();
  private resting = false;
  private readonly scheduler = new FrameScheduler(() => this.turn());

  ask(things: Iterable<T>): void {
    for (const thing of things) this.waiting.add(thing);
    if (this.waiting.size > 0) this.scheduler.ask();
  }

  forget(thing: T): void {
    this.waiting.delete(thing);
  }

  private turn(): boolean {
    const [first] = this.waiting;
    this.resting = !this.resting && first !== undefined;
    if (this.resting && first) {
      this.waiting.delete(first);
      first.draw();
    }
    return this.waiting.size > 0 || this.resting;
  }
}
