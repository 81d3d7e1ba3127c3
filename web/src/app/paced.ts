/** Numbers that change faster than this many pictures of the screen cannot be read. */
const EACH = 10;
/** Where pictures are slow, numbers keep up after this long [ms]. */
const LATEST = 400;

const asked = new Set<() => void>();
let rest = 0;
let last = 0;
let running = false;

function run(): void {
  rest--;
  if (asked.size > 0 && (rest <= 0 || performance.now() - last > LATEST)) {
    rest = EACH;
    last = performance.now();
    const all = [...asked];
    asked.clear();
    all.forEach((draw) => draw());
  }
  running = asked.size > 0 || rest > 1;
  if (running) requestAnimationFrame(run);
}

/**
 * Makes a drawing of words and numbers, which may be asked for at any time, happen in step with the
 * screen and with all others: whatever changes the page changes it in the same one of several
 * pictures, since each change has the browser lay it out anew. The last request is never lost.
 */
export function paced(draw: () => void): () => void {
  return () => {
    asked.add(draw);
    if (running) return;
    running = true;
    requestAnimationFrame(run);
  };
}

/** Draws one of many in every second picture of the screen, in turn, until each has been drawn. */
export class Turns<T extends { draw(): void }> {
  private readonly waiting = new Set<T>();
  private resting = false;
  private asked = false;

  ask(things: Iterable<T>): void {
    for (const thing of things) this.waiting.add(thing);
    this.next();
  }

  forget(thing: T): void {
    this.waiting.delete(thing);
  }

  private next(): void {
    if (this.asked || (this.waiting.size === 0 && !this.resting)) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.turn();
      this.next();
    });
  }

  private turn(): void {
    const [first] = this.waiting;
    this.resting = !this.resting && first !== undefined;
    if (!this.resting || !first) return;
    this.waiting.delete(first);
    first.draw();
  }
}
