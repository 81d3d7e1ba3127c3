import { describe, expect, it } from "vitest";
import type { AttributeRow } from "../src/protocol/messages";
import {
  countWords,
  keyWords,
  originWords,
  plain,
  rangeWords,
  readNumber,
  shapeWords,
  stepped,
  stepSize,
} from "../src/panels/attributeWords";
import type { Refusal } from "../src/panels/attributeRow";
import { refusalWords, repairs } from "../src/panels/repairs";
import { typeAhead } from "../src/tree/rows";

const row = (over: Partial<AttributeRow>): AttributeRow => ({
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

const refusal = (tried: string | number): Refusal => ({ tried, text: "", avoid: [] });

describe("why a value was refused", () => {
  it("is said without the name that the panel shows already", () => {
    const words = (text: string) => refusalWords(row({}), { text }, []);
    expect(words("arm/E4: a moving body needs mass.")).toBe("A moving body needs mass.");
    expect(words("joint 'arm/J1': it is stuck.")).toBe("It is stuck.");
    expect(words("mass: must be 0 or more.")).toBe("Mass: must be 0 or more.");
  });
});

describe("words for keys", () => {
  it("leave out that a value is of the running scene: its place says so", () => {
    expect(keyWords("live.max_effort")).toBe("Max effort");
    expect(keyWords("max_effort")).toBe("Max effort");
  });
});

describe("repairs of a refused value", () => {
  it("swap a range that is the wrong way round", () => {
    expect(repairs(row({ key: "range_deg" }), refusal("[120, -120]"))).toEqual([
      { label: "Swap the two", value: "[-120, 120]" },
    ]);
  });
  it("go to the nearest that is allowed", () => {
    expect(repairs(row({ lo: 0 }), refusal(-1))).toEqual([{ label: "Use 0", value: 0 }]);
    expect(repairs(row({ lo: 0, hi: 1 }), refusal(3))).toEqual([{ label: "Use 1", value: 1 }]);
    expect(repairs(row({ lo: 0, hi: 1 }), refusal(""))).toEqual([]);
  });
  it("are not values that would be refused as well", () => {
    expect(repairs(row({ lo: 0 }), { ...refusal(-3), avoid: [0] })).toEqual([]);
  });
  it("take the name that was probably meant", () => {
    const reason = "there is no element named 'tub'. Did you mean 'tube'?";
    expect(repairs(row({ key: "on" }), { ...refusal("tub"), text: reason })).toEqual([
      { label: "Use tube", value: "tube" },
    ]);
  });
});

describe("words about an attribute", () => {
  it("say keys, ranges and origins", () => {
    expect(keyWords("at.xyz")).toBe("Position");
    expect(keyWords("shape.box.size_mm")).toBe("Size");
    expect(keyWords("shapes.1.sphere.radius")).toBe("Radius");
    expect(keyWords("shapes.1.at.xyz")).toBe("Position");
    expect(shapeWords("shapes.1.sphere.radius", ["box", "sphere"])).toBe("Sphere 2");
    expect(countWords(["box", "box", "sphere"])).toBe("2 boxes, 1 sphere");
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

describe("numbers that are shown", () => {
  it("have as many digits as they need, however small they are", () => {
    expect(plain(4e-7)).toBe("4e−7");
    expect(plain(-1.25e-5)).toBe("−1.25e−5");
    expect(plain(0.00012345)).toBe("0.00012345");
    expect(plain(12.345)).toBe("12.345");
    expect(plain(0.1 + 0.2)).toBe("0.3");
    expect(plain(-0.5)).toBe("−0.5");
    expect(plain(1234567)).toBe("1234567");
    expect(plain(0)).toBe("0");
    expect(readNumber(plain(4e-7), "kg")).toBe(4e-7);
  });

  it("are counted up and down in steps of their own size", () => {
    const step = (held: number, now = held, over: Partial<AttributeRow> = {}): number =>
      stepSize(row({ value: held, ...over }), held, now);
    expect(step(0.5)).toBeCloseTo(0.01);
    expect(step(4e-7)).toBeCloseTo(1e-8, 12);
    expect(step(4e-7, 2e-8)).toBeCloseTo(1e-8, 12);
    expect(step(0)).toBeCloseTo(1e-4);
    expect(step(30, 30, { unit: "deg" })).toBe(1);
    expect(step(0.5, 0.5, { lo: 0, hi: 1 })).toBeCloseTo(0.01);
    expect(step(4e-7, 4e-7, { lo: 0, hi: 1 })).toBeCloseTo(1e-8, 12);
    expect(stepped(1e-7, -10e-8, 1e-8)).toBe(0);
    expect(stepped(0.1, 0.2, 0.1)).toBe(0.3);
  });
});
