import { on } from "./topics";

/** Signals that come this soon after each other, so often, come steadily [ms]. */
const SOON = 100;
const OFTEN = 4;
/** Whatever comes, nobody waits longer [ms]. */
const LATEST = 1500;

/**
 * Does something once signals arrive steadily: while a page builds a chart it misses what happens
 * meanwhile. Where time stands nothing may come at all, and it is done after a while.
 */
export function whenSteady(act: () => void): void {
  let last = -Infinity;
  let count = 0;
  const done = (): void => {
    stop();
    clearTimeout(timer);
    act();
  };
  const stop = on("signals", () => {
    const now = performance.now();
    count = now - last < SOON ? count + 1 : 0;
    last = now;
    if (count >= OFTEN) done();
  });
  const timer = setTimeout(done, LATEST);
}
