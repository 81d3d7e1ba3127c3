/** Where rows can be seen [px]. */
interface Frame {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** Rows are looked for anew after this long, whatever may have moved them [ms]. */
const LOOK_MS = 500;

/**
 * Rows that are scrolled out of sight: there is no need to draw them. Where they are is looked up
 * now and then; watching them (`content-visibility`, observers) would have the browser look at each
 * picture. `appear` is called when some may have come into sight.
 */
export class Unseen {
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

  /** Those that are in sight. Write to them after asking: asking may have the page laid out. */
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

  /** What of the rows' surroundings can be seen at most: that which scrolls them. */
  private frame(): Frame {
    for (let e: HTMLElement | null = this.within; e; e = e.parentElement) {
      const scrolls = e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth;
      if (scrolls && getComputedStyle(e).overflow !== "visible") return e.getBoundingClientRect();
    }
    return { top: 0, bottom: innerHeight, left: 0, right: innerWidth };
  }
}
