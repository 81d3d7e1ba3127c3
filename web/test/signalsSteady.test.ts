import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { whenSteady } from "../src/app/signalsSteady";
import { announce } from "../src/app/topics";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function signals(...after: number[]): void {
  for (const ms of after) {
    vi.advanceTimersByTime(ms);
    announce("signals");
  }
}

test("a page that builds a chart waits until signals come without a gap", () => {
  const act = vi.fn();
  whenSteady(act);
  signals(16, 16, 700, 16, 16, 16);
  expect(act).not.toHaveBeenCalled();
  signals(16);
  expect(act).toHaveBeenCalledOnce();
  signals(16, 16, 16, 16, 16, 2000);
  expect(act).toHaveBeenCalledOnce();
});

test("where nothing comes it is done nevertheless, and once", () => {
  const act = vi.fn();
  whenSteady(act);
  signals(16);
  vi.advanceTimersByTime(5000);
  expect(act).toHaveBeenCalledOnce();
});
