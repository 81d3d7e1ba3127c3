import { expect, test } from "vitest";
import { JUMPS } from "../src/reach/numbers";
import { ToolTrace } from "../src/reach/toolTrace";

function at(x: number, jumps: number): Float64Array {
  const numbers = new Float64Array(JUMPS + 1);
  numbers[0] = x;
  numbers[JUMPS] = jumps;
  return numbers;
}

/** The lines that are drawn, by the x of their ends. */
function lines(trace: ToolTrace): number[][] {
  const { geometry } = trace.root;
  const { position } = geometry.attributes;
  return Array.from({ length: geometry.drawRange.count / 2 }, (_, n) =>
    [2 * n, 2 * n + 1].map((k) => Math.round(position!.getX(geometry.index!.getX(k)) * 1e3)),
  );
}

test("no line leads from where the robot was to where it was put", () => {
  const trace = new ToolTrace();
  for (const [x, jumps] of [[0, 3], [0.01, 3], [0.02, 3], [0.5, 4], [0.51, 4]] as const)
    trace.update(at(x, jumps), true); // prettier-ignore
  expect(lines(trace)).toEqual([[0, 10], [10, 20], [500, 510]]); // prettier-ignore
});

test("gaps stay gaps when the older half is forgotten", () => {
  const trace = new ToolTrace();
  for (let n = 0; n < 3000; n++) trace.update(at(n / 100, n < 2000 ? 0 : 1), true);
  expect(trace.lines).toBe(2998);
  trace.update(at(30, 1), true);
  expect(trace.length).toBe(1501);
  expect(lines(trace)).toHaveLength(1499);
  expect(lines(trace)).not.toContainEqual([19_990, 20_000]);
  expect(lines(trace).at(-1)).toEqual([29_990, 30_000]);
});
