/**
 * Rows that are scrolled out of sight, as the browser tells of whatever has `content-visibility:
 * auto`: there is no need to draw them. `appear` is called when some come into sight.
 */
export class Unseen {
  private readonly rows = new WeakSet<Element>();

  constructor(within: HTMLElement, appear: () => void) {
    within.addEventListener("contentvisibilityautostatechange", (event) => {
      const row = event.target as Element;
      if ((event as ContentVisibilityAutoStateChangeEvent).skipped) this.rows.add(row);
      else {
        this.rows.delete(row);
        appear();
      }
    });
  }

  has(row: Element): boolean {
    return this.rows.has(row);
  }
}
