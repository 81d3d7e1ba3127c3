/** Visible area of rows [px]. */
interface Frame {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** Interval after which the visibility of rows is measured again [ms]. */
const LOOK_MS = 500;

/**
 * Skips rows that are scrolled out of view. Their positions are measured now and then; observing
 * them (`content-visibility`, observers) would cost time in each frame. `appear` is called when
 * some may have become visible.
 */
export class RowVisibility {
  private seen = new WeakMap<Element, boolean>();
  private box: Frame | null = null;
  private looked = 0;

  constructor(
    private readonly within: HTMLElement,
    appear: () => void,
  ) {
    const look = (): void => {
      this.looked = 0;
      appear();
    };
    document.addEventListener(
      "scroll",
      (event) => (event.target as Node).contains(within) && look(),
      { capture: true, passive: true },
    );
    new ResizeObserver(look).observe(within);
    addEventListener("resize", look);
  }

  /** The visible rows. Write to them after this call, which may trigger a layout. */
  among<T extends { element: Element }>(rows: T[]): T[] {
    const now = performance.now();
    if (now - this.looked > LOOK_MS) {
      this.looked = now;
      this.seen = new WeakMap();
      this.box = this.frame();
    }
    return rows.filter((row) => this.sees(row.element));
  }

  private sees(row: Element): boolean {
    let seen = this.seen.get(row);
    if (seen === undefined) {
      const { top, bottom, left, right } = row.getBoundingClientRect();
      const { box } = this;
      seen = box !== null && bottom > box.top && top < box.bottom;
      seen &&= right > box!.left && left < box!.right;
      this.seen.set(row, seen);
    }
    return seen;
  }

  /** The visible frame around the rows: their scroll container. */
  private frame(): Frame {
    for (let e: HTMLElement | null = this.within; e; e = e.parentElement) {
      const scrolls = e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth;
      if (scrolls && getComputedStyle(e).overflow !== "visible") return e.getBoundingClientRect();
    }
    return { top: 0, bottom: innerHeight, left: 0, right: innerWidth };
  }
}
