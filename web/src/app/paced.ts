/**
 * Makes a drawing that may be asked for at any time happen in step with the screen, at most every
 * `frames` pictures of it: a slow machine draws it less often. The last request is never lost.
 */
export function paced(frames: number, draw: () => void): () => void {
  let rest = 0;
  let asked = false;
  let running = false;
  const run = (): void => {
    if (rest > 0) rest--;
    else if (asked) {
      asked = false;
      rest = frames - 1;
      draw();
    }
    running = asked || rest > 0;
    if (running) requestAnimationFrame(run);
  };
  return () => {
    asked = true;
    if (running) return;
    running = true;
    requestAnimationFrame(run);
  };
}

/** Draws one of many per picture of the screen, in turn, until each has been drawn. */
export class Turns<T extends { draw(): void }> {
  private readonly waiting = new Set<T>();
  private asked = false;

  ask(things: Iterable<T>): void {
    for (const thing of things) this.waiting.add(thing);
    this.next();
  }

  forget(thing: T): void {
    this.waiting.delete(thing);
  }

  private next(): void {
    if (this.asked || this.waiting.size === 0) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const [first] = this.waiting;
      if (!first) return;
      this.waiting.delete(first);
      first.draw();
      this.next();
    });
  }
}
