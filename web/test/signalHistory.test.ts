import { describe, expect, it } from "vitest";
import { SignalHistory } from "../src/app/signalHistory";
import { align } from "../src/charts/align";
import { toCsv } from "../src/charts/csv";

function history(points: [number, number][]): SignalHistory {
  const made = new SignalHistory();
  points.forEach(([t, v]) => made.push(t, v));
  return made;
}

describe("Trail", () => {
  it("forgets the future when time goes back", () => {
    expect(
      history([
        [0, 1],
        [1, 2],
        [2, 3],
        [0.5, 9],
      ]).times,
    ).toEqual([0, 0.5]);
  });

  it("keeps the newer of two values at one time", () => {
    expect(
      history([
        [0, 1],
        [0, 2],
      ]).values,
    ).toEqual([2]);
  });

  it("takes values of a recording in any order", () => {
    const made = new SignalHistory();
    for (const t of [1, 3, 2, 3, 0]) made.insert(t, 10 * t);
    expect(made.times).toEqual([0, 1, 2, 3]);
    expect(made.values).toEqual([0, 10, 20, 30]);
    for (let i = 20_000; i > 0; i--) made.insert(i, i);
    expect(made.times.length).toBeLessThan(8000);
    expect(made.times).toContain(1);
  });

  it("loses nothing of a whole curve when one of its values is put in again", () => {
    const made = new SignalHistory();
    for (let i = 0; i < 9000; i++) {
      made.times.push(i);
      made.values.push(i);
    }
    for (let i = 0; i < 9000; i++) made.insert(i, -i);
    expect(made.times.length).toBe(9000);
    expect(made.values[8999]).toBe(-8999);
  });

  it("stays bounded", () => {
    const made = new SignalHistory();
    for (let i = 0; i < 20_000; i++) made.push(i, i);
    expect(made.times.length).toBeLessThan(8000);
    expect(made.times.at(-1)).toBe(19_999);
  });
});

describe("align", () => {
  it("puts curves of different times on one axis", () => {
    const a = {
      history: history([
        [0, 10],
        [1, 20],
      ]),
      factor: 10,
    };
    const b = { history: history([[1, 5]]), factor: 1 };
    expect(align([a, b], 10)).toEqual([
      [0, 1],
      [1, 2],
      [null, 5],
    ]);
  });

  it("shows only the last seconds", () => {
    expect(
      align(
        [
          {
            history: history([
              [0, 1],
              [8, 2],
              [9, 3],
            ]),
            factor: 1,
          },
        ],
        2,
      ),
    ).toEqual([
      [8, 9],
      [2, 3],
    ]);
  });
});

describe("toCsv", () => {
  it("writes a head with units and a line per time", () => {
    const text = toCsv([
      {
        name: "arm/J1.angle",
        unit: "rad",
        history: history([
          [0, 0.5],
          [0.1, 0.6],
        ]),
      },
    ]);
    expect(text).toBe("time [s],arm/J1.angle [rad]\r\n0,0.5\r\n0.1,0.6\r\n");
  });
});
