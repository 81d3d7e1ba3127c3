import { describe, expect, it } from "vitest";
import { CONTACTS, decodeSnapshot, POSES, SIGNALS } from "../src/protocol/frames";

interface Made {
  kind: number;
  flags?: number;
  values: number[];
  wide?: boolean;
}

function picture(blocks: Made[], kind = 1): ArrayBuffer {
  const sizes = blocks.map((b) => b.values.length * (b.wide ? 8 : 4));
  const whole = 16 + sizes.reduce((sum, size) => sum + 8 + Math.ceil(size / 8) * 8, 0);
  const buffer = new ArrayBuffer(whole);
  const view = new DataView(buffer);
  view.setUint8(0, kind);
  view.setUint32(4, 3, true);
  view.setFloat64(8, 12.48, true);
  let at = 16;
  blocks.forEach((block, i) => {
    const size = sizes[i] ?? 0;
    view.setUint16(at, block.kind, true);
    view.setUint16(at + 2, block.flags ?? 0, true);
    view.setUint32(at + 4, size, true);
    block.values.forEach((value, n) =>
      block.wide
        ? view.setFloat64(at + 8 + n * 8, value, true)
        : view.setFloat32(at + 8 + n * 4, value, true),
    );
    at += 8 + Math.ceil(size / 8) * 8;
  });
  return buffer;
}

const POSE = [1, 2, 3, 1, 0, 0, 0];

describe("decodePicture", () => {
  it("reads all blocks of one instant with their scene version and time", () => {
    const got = decodeSnapshot(
      picture([
        { kind: POSES, values: POSE },
        { kind: SIGNALS, flags: 7, values: [Math.PI, NaN], wide: true },
        { kind: CONTACTS, values: [] },
      ]),
    );
    expect(got).toMatchObject({ version: 3, time: 12.48 });
    const [poses, signals, contacts] = got?.blocks ?? [];
    expect(poses).toMatchObject({ kind: POSES, count: 1 });
    expect([...(poses?.values ?? [])]).toEqual(POSE);
    expect(signals).toMatchObject({ kind: SIGNALS, flags: 7, count: 2 });
    expect(signals?.values[0]).toBe(Math.PI);
    expect(signals?.values[1]).toBeNaN();
    expect(contacts).toMatchObject({ kind: CONTACTS, count: 0 });
  });

  it("skips kinds of blocks and of frames that it does not know", () => {
    const got = decodeSnapshot(
      picture([
        { kind: 900, values: [1, 2, 3] },
        { kind: POSES, values: POSE },
      ]),
    );
    expect(got?.blocks.map((block) => block.kind)).toEqual([POSES]);
    expect(decodeSnapshot(picture([], 77))).toBeNull();
  });

  it("refuses what is cut, torn or of the wrong length", () => {
    const whole = picture([{ kind: POSES, values: [...POSE, ...POSE] }]);
    expect(() => decodeSnapshot(whole.slice(0, 40))).toThrow(/80 bytes instead of 40/);
    expect(() => decodeSnapshot(whole.slice(0, 20))).toThrow(/within the header of a block/);
    expect(() => decodeSnapshot(new ArrayBuffer(5))).toThrow(/no header/);
    expect(() => decodeSnapshot(picture([{ kind: POSES, values: [1, 2] }]))).toThrow(
      /no rows of 28/,
    );
  });
});
