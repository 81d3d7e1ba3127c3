import { expect, test } from "vitest";
import { MISS } from "../src/reach/numbers";
import { leftToGo } from "../src/reach/toolSection";

function numbers(target: number, way: number, turn: number): Float64Array {
  const n = new Float64Array(33);
  n[7] = target;
  n[MISS] = way;
  n[MISS + 1] = turn;
  return n;
}

test("a tool that rests before it is there says how far is left", () => {
  expect(leftToGo(numbers(NaN, 0, 0), true)).toEqual(["nothing", false]);
  expect(leftToGo(numbers(1, 0.38, 0), true)).toEqual(["380.0 mm, 0.0°", false]);
  expect(leftToGo(numbers(NaN, 0.38, 0), true)).toEqual(["380.0 mm, 0.0° short", true]);
});
