import { define } from "../app/commands";
import { command } from "../app/session";
import { store } from "../app/store";

/** Simulated seconds per real second, slowest first; 0 is as fast as possible. */
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 0];

/** The next slower or faster one of the list. */
export function nextSpeed(now: number, by: 1 | -1): number {
  const fast = (speed: number): number => (speed === 0 ? Infinity : speed);
  const found =
    by > 0
      ? SPEEDS.find((speed) => fast(speed) > fast(now))
      : SPEEDS.findLast((speed) => fast(speed) < fast(now));
  return found ?? now;
}

function change(by: 1 | -1): void {
  command({ type: "speed", value: nextSpeed(store.status?.speed ?? 1, by) });
}

define([
  { id: "slower", title: "Slower", key: "[", run: () => change(-1) },
  { id: "faster", title: "Faster", key: "]", run: () => change(1) },
]);
