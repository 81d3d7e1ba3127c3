/**
 * Rows that are scrolled out of sight: there is no need to draw them. What has `content-visibility:
 * auto` the browser tells of early, some screens ahead; those near by are looked up here, once after
 * each scrolling or change of size. `appear` is called when some come into sight.
 */
export class Unseen {
  private readonly far = new WeakSet<Element>();
  private seen = new WeakMap<Element, boolean>();

  constructor(
    private readonly within: HTMLElement,
    appear: () => void,
  ) {
    const look = (): void => {
      this.seen = new WeakMap();
      appear();
    };
    within.addEventListener("contentvisibilityautostatechange", (event) => {
      const row = event.target as Element;
      if ((event as ContentVisibilityAutoStateChangeEvent).skipped) this.far.add(row);
      else this.far.delete(row);
      look();
    });
    document.addEventListener(
      "scroll",
      (event) => (event.target as Node).contains(within) && look(),
      { capture: true, passive: true },
    );
    new ResizeObserver(look).observe(within);
    addEventListener("resize", look);
  }

  has(row: Element): boolean {
    if (this.far.has(row)) return true;
    let seen = this.seen.get(row);
    if (seen === undefined) {
      const { top, bottom } = row.getBoundingClientRect();
      const box = this.frame();
      seen = bottom > box.top && top < box.bottom;
      this.seen.set(row, seen);
    }
    return !seen;
  }

  /** What of the rows' surroundings can be seen at most: that which scrolls them. */
  private frame(): { top: number; bottom: number } {
    for (let e: HTMLElement | null = this.within; e; e = e.parentElement) {
      if (e.scrollHeight > e.clientHeight && getComputedStyle(e).overflowY !== "visible") {
        return e.getBoundingClientRect();
      }
    }
    return { top: 0, bottom: innerHeight };
  }
}
