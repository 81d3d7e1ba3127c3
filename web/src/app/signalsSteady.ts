import { on } from "./topics";

/** Maximum interval and minimum number of signals that count as steady [ms]. */
const SOON = 100;
const OFTEN = 4;
/** Maximum waiting time [ms]. */
const LATEST = 1500;

/**
 * Calls a function once signals arrive steadily: a page misses values while it builds a chart.
 * While paused no signals may arrive, and it is called after a timeout.
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
