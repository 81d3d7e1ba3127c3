/** Time without requests after which remaining work continues on its own [ms]. */
const QUIET_MS = 50;

/**
 * Executes work in the animation frames in which it is requested, and in no others while requests
 * continue: an additional frame costs the browser as much as any. Once requests stop, it continues
 * until the work is done.
 */
export class FrameScheduler {
  private coming = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastMessage = 0;

  /** @param work - called once per frame; returns whether work remains */
  constructor(private readonly work: () => boolean) {}

  ask(): void {
    this.lastMessage = performance.now();
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
    if (performance.now() - this.lastMessage >= QUIET_MS) return this.next();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.goOn();
    }, QUIET_MS);
  }
}
