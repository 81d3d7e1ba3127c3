/** As long as someone asks more often than this, one waits for the next who asks [ms]. */
const QUIET_MS = 50;

/**
 * Does something in step with the pictures of the screen in which it is asked for, and in no others
 * as long as asking goes on: a picture for its own sake costs the browser as much as any. Once nobody
 * asks any more it goes on until all is done.
 */
export class Beat {
  private coming = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heard = 0;

  /** @param work - is done once per picture; returns whether some is left */
  constructor(private readonly work: () => boolean) {}

  ask(): void {
    this.heard = performance.now();
    this.next();
  }

  private next(): void {
    if (this.coming) return;
    this.coming = true;
    requestAnimationFrame(() => {
      this.coming = false;
      if (this.work() && this.timer === undefined) this.goOn();
    });
  }

  private goOn(): void {
    if (performance.now() - this.heard >= QUIET_MS) return this.next();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.goOn();
    }, QUIET_MS);
  }
}
