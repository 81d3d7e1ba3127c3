import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { paced, Turns } from "../src/app/paced";

let waiting: (() => void)[] = [];
let clock = 0;

/** Lets the screen show some pictures. */
function show(frames: number): void {
  for (let i = 0; i < frames; i++) {
    const now = waiting;
    waiting = [];
    now.forEach((call) => call());
  }
}

beforeEach(() => {
  waiting = [];
  vi.stubGlobal("performance", { now: () => clock });
  vi.stubGlobal("requestAnimationFrame", (call: () => void) => waiting.push(call));
});
afterEach(() => vi.unstubAllGlobals());

describe("paced", () => {
  it("draws all together, every so many pictures, and never loses the last request", () => {
    const drawn: string[] = [];
    const first = paced(() => drawn.push("first"));
    const second = paced(() => drawn.push("second"));
    for (let i = 0; i < 16; i++) {
      first();
      if (i === 3) second();
      show(1);
    }
    expect(drawn).toEqual(["first", "first", "second"]);
    show(24);
    expect(drawn).toEqual(["first", "first", "second", "first"]);
  });

  it("does not wait for pictures that are slow to come", () => {
    let drawn = 0;
    const ask = paced(() => drawn++);
    for (let i = 0; i < 3; i++) {
      ask();
      clock += 500;
      show(1);
    }
    expect(drawn).toBe(3);
    show(24);
  });

  it("asks the screen for nothing while there is nothing to draw", () => {
    const ask = paced(() => undefined);
    ask();
    show(24);
    expect(waiting).toEqual([]);
    ask();
    expect(waiting).toHaveLength(1);
    show(24);
  });
});

describe("Turns", () => {
  it("draws one per two pictures, in turn, until each has been drawn", () => {
    const drawn: string[] = [];
    const make = (name: string) => ({ draw: () => void drawn.push(name) });
    const [a, b, c] = [make("a"), make("b"), make("c")];
    const turns = new Turns<{ draw(): void }>();
    turns.ask([a, b, c]);
    show(2);
    expect(drawn).toEqual(["a"]);
    turns.ask([a, b, c]);
    show(10);
    expect(drawn).toEqual(["a", "b", "c", "a"]);
    turns.ask([a, b]);
    turns.forget(a);
    show(6);
    expect(drawn.at(-1)).toBe("b");
    expect(waiting).toEqual([]);
  });
});
