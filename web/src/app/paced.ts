import { Beat } from "./beat";

/** Numbers that change faster than this many pictures of the screen cannot be read. */
const EACH = 10;
/** Where pictures are slow, numbers keep up after this long [ms]. */
const LATEST = 400;

const asked = new Set<() => void>();
let rest = 0;
let last = 0;

const beat = new Beat(() => {
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
 * Makes a drawing of words and numbers, which may be asked for at any time, happen in step with the
 * screen and with all others: whatever changes the page changes it in the same one of several
 * pictures, since each change has the browser lay it out anew. The last request is never lost.
 */
export function paced(draw: () => void): () => void {
  return () => {
    asked.add(draw);
    beat.ask();
  };
}

/** Draws one of many in every second picture of the screen, in turn, until each has been drawn. */
export class Turns<T extends { draw(): void }> {
  private readonly waiting = new Set<T>();
  private resting = false;
  private readonly beat = new Beat(() => this.turn());

  ask(things: Iterable<T>): void {
    for (const thing of things) this.waiting.add(thing);
    if (this.waiting.size > 0) this.beat.ask();
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
