import { describe, expect, it } from "vitest";
import { SignalLog } from "../src/app/signalLog";
import { SignalHistory } from "../src/app/signalHistory";

function logOf(order: string[], rows: [number, ...number[]][], replay = false): SignalLog {
  const log = new SignalLog();
  log.watch(order);
  for (const [time, ...values] of rows) log.push(time, new Float64Array(values), replay);
  return log;
}

describe("SignalLog", () => {
  it("makes a trail of what has arrived before anyone asked, and goes on with it", () => {
    const log = logOf(["a", "b"], [[0, 1, 10], [1, 2, 20]]); // prettier-ignore
    expect(log.history("b")?.values).toEqual([10, 20]);
    log.push(2, new Float64Array([3, 30]), false);
    expect(log.history("b")?.values).toEqual([10, 20, 30]);
    expect(log.history("a")?.times).toEqual([0, 1, 2]);
    expect(log.history("c")).toBeNull();
  });

  it("begins anew after a time in which a signal was not watched", () => {
    const log = logOf(["a"], [[0, 1]]);
    log.watch(["b"]);
    log.push(1, new Float64Array([5]), false);
    log.watch(["a", "b"]);
    log.push(2, new Float64Array([2, 6]), false);
    expect(log.history("a")?.values).toEqual([2]);
    expect(log.history("b")?.values).toEqual([5, 6]);
  });

  it("keeps the numbers, not the picture that they were a part of", () => {
    const picture = new Float64Array([7, 8]);
    const log = logOf(["a", "b"], []);
    log.push(0, picture, false);
    picture.fill(0);
    expect(log.history("b")?.values).toEqual([8]);
  });

  it("stays bounded, and trails lose nothing when the log does", () => {
    const log = logOf(["a"], [[0, 0]]);
    log.put("a", new SignalHistory());
    for (let i = 1; i <= 20_000; i++) log.push(i, new Float64Array([i]), false);
    const history = log.history("a")!;
    expect(history.times.at(-1)).toBe(20_000);
    expect(history.times.length).toBeGreaterThan(5900);
    expect(history.times.every((t, i) => i === 0 || t === history.times[i - 1]! + 1)).toBe(true);
  });

  it("takes a recording in any order, without what is simulated again", () => {
    const log = logOf(["a"], [[2, 20], [1, 10], [3, NaN]], true); // prettier-ignore
    expect(log.history("a")?.values).toEqual([10, 20]);
  });
});
