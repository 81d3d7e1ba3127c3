import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { paced, Turns } from "../src/app/throttle";

const PICTURE_MS = 16;
let waiting: (() => void)[] = [];

/** Lets the screen show some pictures; `before` happens ahead of each. Tells how many were asked for. */
function show(frames: number, before: (frame: number) => void = () => undefined): number {
  let asked = 0;
  for (let i = 0; i < frames; i++) {
    before(i);
    vi.advanceTimersByTime(PICTURE_MS);
    const now = waiting;
    waiting = [];
    if (now.length > 0) asked++;
    now.forEach((call) => call());
  }
  return asked;
}

beforeEach(() => {
  waiting = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.stubGlobal("requestAnimationFrame", (call: () => void) => waiting.push(call));
});
afterEach(() => {
  show(60);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("paced", () => {
  it("draws all together, every so many pictures, and never loses the last request", () => {
    const drawn: string[] = [];
    const first = paced(() => drawn.push("first"));
    const second = paced(() => drawn.push("second"));
    show(16, (i) => {
      first();
      if (i === 3) second();
    });
    expect(drawn).toEqual(["first", "first", "second"]);
    show(30);
    expect(drawn).toEqual(["first", "first", "second", "first"]);
  });

  it("does not wait for pictures that are slow to come", () => {
    let drawn = 0;
    const ask = paced(() => drawn++);
    for (let i = 0; i < 3; i++) {
      ask();
      vi.advanceTimersByTime(500);
      show(1);
    }
    expect(drawn).toBe(3);
  });

  it("asks the screen for no picture of its own while others ask, nor when all is drawn", () => {
    const ask = paced(() => undefined);
    // Every third picture of the screen shows something new.
    expect(show(30, (i) => i % 3 === 0 && ask())).toBe(10);
    show(60);
    expect(waiting).toEqual([]);
    expect(show(10)).toBe(0);
  });
});

describe("Turns", () => {
  it("draws one per two pictures, in turn, until each has been drawn", () => {
    const drawn: string[] = [];
    const make = (name: string) => ({ draw: () => void drawn.push(name) });
    const [a, b, c] = [make("a"), make("b"), make("c")];
    const turns = new Turns<{ draw(): void }>();
    show(2, () => turns.ask([a, b, c]));
    expect(drawn).toEqual(["a"]);
    show(20);
    expect(drawn).toEqual(["a", "b", "c", "a"]);
    turns.ask([a, b]);
    turns.forget(a);
    show(20);
    expect(drawn.at(-1)).toBe("b");
    expect(show(10)).toBe(0);
  });
});
