import { describe, expect, it } from "vitest";
import { bitPlaces, placeWords, rawValue, readSignals, type Coded } from "../src/charts/bitLayout";
import type { FrameSignalView } from "../src/protocol/messages";

const coded = (start: number, bits: number, more: Partial<Coded> = {}): Coded => ({
  start,
  bits,
  big_endian: false,
  signed: false,
  real: false,
  ...more,
});
const motorola = { big_endian: true };
const bytes = (hex: string): number[] => hex.split(" ").map((byte) => parseInt(byte, 16));

function signal(name: string, more: Partial<FrameSignalView>): FrameSignalView {
  const plain = { scale: 1, offset: 0, unit: "", words: {}, parent: "", ranges: [] };
  return { ...coded(0, 8), name, ...plain, ...more };
}

describe("bitPlaces", () => {
  it("goes up from the lowest bit in Intel order", () => {
    expect(bitPlaces(coded(0, 12))).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(bitPlaces(coded(6, 4))).toEqual([9, 8, 7, 6]);
  });

  it("goes down from the highest bit and on to the next byte in Motorola order", () => {
    expect(bitPlaces(coded(7, 12, motorola))).toEqual([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12]);
    expect(bitPlaces(coded(2, 5, motorola))).toEqual([2, 1, 0, 15, 14]);
  });
});

describe("rawValue", () => {
  // The values are those of cantools for the same signals and bytes.
  it("reads both orders", () => {
    const data = bytes("12 34 56 78 9A BC DE F0");
    expect(rawValue(coded(0, 16), data)).toBe(0x3412n);
    expect(rawValue(coded(7, 16, motorola), data)).toBe(0x1234n);
    expect(rawValue(coded(4, 12), data)).toBe(0x341n);
    expect(rawValue(coded(3, 12, motorola), data)).toBe(0x234n);
    expect(rawValue(coded(0, 64), data)).toBe(0xf0debc9a78563412n);
    expect(rawValue(coded(7, 64, motorola), data)).toBe(0x123456789abcdef0n);
  });

  it("knows signs", () => {
    expect(rawValue(coded(0, 12, { signed: true }), bytes("FF 0F"))).toBe(-1n);
    expect(rawValue(coded(0, 12, { signed: true }), bytes("00 08"))).toBe(-2048n);
    expect(rawValue(coded(7, 16, { signed: true, ...motorola }), bytes("FF 38"))).toBe(-200n);
  });

  it("knows IEEE numbers", () => {
    expect(rawValue(coded(0, 32, { real: true }), bytes("00 00 C0 3F"))).toBe(1.5);
    expect(rawValue(coded(7, 32, { real: true, ...motorola }), bytes("3F C0 00 00"))).toBe(1.5);
    expect(rawValue(coded(0, 16, { real: true }), bytes("00 C1"))).toBe(-2.5);
    expect(rawValue(coded(0, 64, { real: true }), bytes("00 00 00 00 00 00 F8 3F"))).toBe(1.5);
  });

  it("reads nothing beyond the end", () => {
    expect(rawValue(coded(8, 12), bytes("12 34"))).toBeNull();
    expect(rawValue(coded(15, 12, motorola), bytes("12 34"))).toBeNull();
  });
});

describe("readSignals", () => {
  it("makes physical values", () => {
    const shoulder = signal("shoulder", {
      start: 7,
      bits: 16,
      ...motorola,
      scale: 0.01,
      signed: true,
    });
    const gripper = signal("gripper", { start: 16, scale: 0.5, offset: -10 });
    const [a, b] = readSignals([shoulder, gripper], bytes("FF 38 50"));
    expect(a!.value).toBeCloseTo(-2);
    expect(b!.raw).toBe(80n);
    expect(b!.value).toBe(30);
  });

  it("leaves out what the multiplexer does not choose", () => {
    const page = signal("page", { bits: 4 });
    const one = signal("one", { start: 8, parent: "page", ranges: [[1, 1]] });
    const two = signal("two", { start: 8, parent: "page", ranges: [[2, 3]] });
    const names = (hex: string): string[] =>
      readSignals([page, one, two], bytes(hex)).map((each) => each.signal.name);
    expect(names("01 55")).toEqual(["page", "one"]);
    expect(names("03 55")).toEqual(["page", "two"]);
    expect(names("09 55")).toEqual(["page"]);
    expect(names("01")).toEqual(["page"]);
  });
});

describe("placeWords", () => {
  it("says bytes, and bits where they are not whole", () => {
    expect(placeWords(bitPlaces(coded(16, 16)))).toBe("bytes 2 … 3");
    expect(placeWords(bitPlaces(coded(24, 8)))).toBe("byte 3");
    expect(placeWords(bitPlaces(coded(4, 4)))).toBe("byte 0, bits 4 … 7");
    expect(placeWords(bitPlaces(coded(7, 12, motorola)))).toBe("bytes 0 … 1, 12 bits");
  });
});
