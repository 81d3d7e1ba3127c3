import { describe, expect, it } from "vitest";
import { marksOf, spanOf } from "../src/transport/timeline";

describe("the line of time", () => {
  it("begins at zero and has room ahead", () => {
    expect(spanOf(0, 0)).toEqual({ start: 0, length: 20 });
    expect(spanOf(3, 13)).toEqual({ start: 0, length: 20 });
  });
  it("keeps its length and moves on with a long run", () => {
    for (const now of [25, 87.3, 1000, 36000.5]) {
      const { start, length } = spanOf(now - 10, now);
      expect(length).toBe(20);
      expect(start).toBeLessThanOrEqual(now - 10);
      expect(now).toBeLessThanOrEqual(start + 0.95 * length + 1e-9);
      expect(start % 2).toBeCloseTo(0);
    }
  });
  it("is long enough for the history", () => {
    const { start, length } = spanOf(50, 110);
    expect(length).toBe(80);
    expect(start).toBeLessThanOrEqual(50);
  });
});

describe("marks of the timeline", () => {
  it("are round and distinct for recordings of any length", () => {
    for (const length of [0.012, 0.5, 0.73, 3.1, 20, 47, 1234]) {
      const { times, digits } = marksOf({ start: 0.3, length });
      expect(times.length).toBeGreaterThan(3);
      expect(times.length).toBeLessThan(12);
      expect(new Set(times.map((t) => t.toFixed(digits))).size).toBe(times.length);
      for (const t of times) expect(Number(t.toFixed(digits))).toBeCloseTo(t, 9);
    }
    expect(marksOf({ start: 0, length: 0.5 }).times).toHaveLength(11);
    expect(marksOf({ start: 0, length: 0.5 }).digits).toBe(2);
  });
});
