import { describe, expect, it } from "vitest";
import type { Row } from "../src/protocol/messages";
import { keyWords, originWords, rangeWords, readNumber } from "../src/panels/attributeWords";
import { repairs } from "../src/panels/repairs";
import { typeAhead } from "../src/tree/rows";

const row = (over: Partial<Row>): Row => ({
  key: "mass",
  value: 1,
  unit: "kg",
  lo: null,
  hi: null,
  words: null,
  origin: "",
  editable: true,
  changed: false,
  source: "default",
  help: "",
  ...over,
});

describe("numbers that are typed", () => {
  it("take the unit of the row, or bring their own", () => {
    expect(readNumber("30deg", "°")).toBe(30);
    expect(readNumber("0.5 rad", "°")).toBeCloseTo(28.6479, 3);
    expect(readNumber("30deg", "rad")).toBeCloseTo(Math.PI / 6);
    expect(readNumber("2*45", "°")).toBe(90);
    expect(readNumber("−3", "")).toBe(-3);
    expect(readNumber("20 mm", "m")).toBeCloseTo(0.02);
    expect(readNumber("250 g", "kg")).toBeCloseTo(0.25);
    expect(readNumber("1e-3", "s")).toBe(0.001);
  });
  it("are refused where the unit does not fit", () => {
    expect(readNumber("3 kg", "m")).toBeNull();
    expect(readNumber("3 m", "")).toBeNull();
    expect(readNumber("much", "kg")).toBeNull();
  });
});

describe("repairs of a refused value", () => {
  it("swap a range that is the wrong way round", () => {
    expect(repairs(row({ key: "range_deg" }), "[120, -120]", "")).toEqual([
      { label: "Swap the two", value: "[-120, 120]" },
    ]);
  });
  it("go to the nearest that is allowed", () => {
    expect(repairs(row({ lo: 0 }), -1, "")).toEqual([{ label: "Use 0", value: 0 }]);
    expect(repairs(row({ lo: 0, hi: 1 }), 3, "")).toEqual([{ label: "Use 1", value: 1 }]);
    expect(repairs(row({ lo: 0, hi: 1 }), "", "")).toEqual([]);
  });
  it("take the name that was probably meant", () => {
    const reason = "there is no element named 'tub'. Did you mean 'tube'?";
    expect(repairs(row({ key: "on" }), "tub", reason)).toEqual([
      { label: "Use tube", value: "tube" },
    ]);
  });
});

describe("words about an attribute", () => {
  it("say keys, ranges and origins", () => {
    expect(keyWords("at.xyz")).toBe("Position");
    expect(keyWords("shape.box.size_mm")).toBe("Box size");
    expect(keyWords("shapes.1.sphere.radius")).toBe("2 sphere radius");
    expect(rangeWords(row({ lo: 0 }))).toBe("0 kg or more.");
    expect(originWords(row({ origin: "/a/arm.toml:14", source: "kit" }))).toBe(
      "From /a/arm.toml, line 14",
    );
    expect(originWords(row({}))).toContain("Not set");
  });
});

describe("typing ahead in the tree", () => {
  const labels = ["bench", "arm", "J1", "J2", "tube", "Tip"];
  it("goes to the next that begins so, and around", () => {
    expect(typeAhead(labels, "j", 0)).toBe(2);
    expect(typeAhead(labels, "j", 2)).toBe(3);
    expect(typeAhead(labels, "j", 3)).toBe(2);
    expect(typeAhead(labels, "ti", 4)).toBe(5);
    expect(typeAhead(labels, "x", 4)).toBe(-1);
  });
});
