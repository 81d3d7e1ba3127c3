import { describe, expect, it } from "vitest";
import { keyWords, numberList, readNumber } from "../src/panels/attributeWords";
import { shortNames } from "../src/panels/jointTable";
import { ago } from "../src/start/ago";
import { equalBox } from "../src/views/bodyFrames";
import { roundLength } from "../src/views/scaleBar";

describe("words and numbers on the screen", () => {
  it("says keys of the file in plain words", () => {
    expect(keyWords("max_speed_deg")).toBe("Max speed");
    expect(keyWords("at.rpy_deg")).toBe("Rotation");
  });

  it("reads typed numbers in the unit of their row", () => {
    expect(readNumber("2*45", "deg")).toBe(90);
    expect(readNumber("1rad", "deg")).toBeCloseTo(57.2958, 4);
    expect(readNumber("24 mm", "m")).toBeCloseTo(0.024);
    expect(readNumber("twelve", "deg")).toBeNull();
  });

  it("reads lists of numbers only", () => {
    expect(numberList("[0, 0, 0.2]")).toEqual([0, 0, 0.2]);
    expect(numberList("[a, b]")).toBeNull();
    expect(numberList("tube")).toBeNull();
  });

  it("shortens names while they stay unique", () => {
    const names = shortNames([{ name: "t/leg1/hip" }, { name: "t/leg2/hip" }, { name: "arm/J1" }]);
    expect([...names.values()]).toEqual(["leg1/hip", "leg2/hip", "J1"]);
  });

  it("says how long ago something was", () => {
    expect(ago(1000, 1030)).toBe("just now");
    expect(ago(1000, 1000 + 240)).toBe("4 min ago");
    expect(ago(0, 90_000)).toBe("yesterday");
  });

  it("chooses round lengths for the scale bar", () => {
    expect(roundLength(0.37)).toBeCloseTo(0.2);
    expect(roundLength(1)).toBe(1);
  });

  it("draws the box whose inertia is the body's", () => {
    // A box of 0.2 × 0.4 × 0.6 m and 3 kg: Ixx = m (y² + z²) / 12 and so on.
    const inertia = [0.25 * (0.16 + 0.36), 0.25 * (0.04 + 0.36), 0.25 * (0.04 + 0.16)];
    const [x, y, z] = equalBox(3, inertia);
    expect([x, y, z].map((side) => Number(side.toFixed(6)))).toEqual([0.2, 0.4, 0.6]);
  });
});
