import { describe, expect, it } from "vitest";
import { decodeFrame, POSES, SIGNALS } from "../src/protocol/frames";

function frame(kind: number, count: number, body: number[], wide: boolean): ArrayBuffer {
  const size = wide ? 8 : 4;
  const buffer = new ArrayBuffer(16 + body.length * size);
  const view = new DataView(buffer);
  view.setUint8(0, kind);
  view.setUint8(1, 7);
  view.setUint16(2, count, true);
  view.setUint32(4, 3, true);
  view.setFloat64(8, 12.48, true);
  body.forEach((value, i) =>
    wide ? view.setFloat64(16 + i * 8, value, true) : view.setFloat32(16 + i * 4, value, true),
  );
  return buffer;
}

describe("decodeFrame", () => {
  it("reads poses with their scene version and time", () => {
    const got = decodeFrame(frame(POSES, 2, [0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0], false));
    expect(got).toMatchObject({ kind: POSES, flags: 7, count: 2, version: 3, time: 12.48 });
    expect([...got.values].slice(7, 10)).toEqual([1, 2, 3]);
  });

  it("reads signals in full precision, not-a-number included", () => {
    const got = decodeFrame(frame(SIGNALS, 2, [Math.PI, NaN], true));
    expect(got.values[0]).toBe(Math.PI);
    expect(got.values[1]).toBeNaN();
  });

  it("refuses a torn frame", () => {
    expect(() => decodeFrame(frame(POSES, 3, [0, 0, 0, 1, 0, 0, 0], false))).toThrow(
      /44 bytes instead of 100/,
    );
    expect(() => decodeFrame(new ArrayBuffer(5))).toThrow(/no header/);
  });
});
