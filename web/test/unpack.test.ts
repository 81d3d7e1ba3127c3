import { describe, expect, it } from "vitest";
import { unpackBytes, unpackCounts, unpackFloats } from "../src/player/unpack";

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function text(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Packs as `packing.py` does: bytes of equal weight side by side, deflated, as text. */
async function planes(numbers: Uint32Array): Promise<string> {
  const bytes = new Uint8Array(numbers.buffer);
  const made = new Uint8Array(bytes.length);
  bytes.forEach((byte, i) => (made[(i % 4) * numbers.length + (i >> 2)] = byte));
  return text(await deflated(made));
}

describe("tables of a page", () => {
  it("inflates bytes", async () => {
    const packed = text(await deflated(new Uint8Array([1, 2, 3])));
    expect([...new Uint8Array(await unpackBytes(packed))]).toEqual([1, 2, 3]);
  });

  it("adds differences of either sign, column by column", async () => {
    const fold = (n: number): number => (n < 0 ? -2 * n - 1 : 2 * n);
    const packed = await planes(Uint32Array.from([5, -3, 0, 2 ** 30, -(2 ** 30) - 1, 7].map(fold)));
    const read = await unpackCounts(packed, 3, 0.5);
    expect([...read]).toEqual([2.5, 1, 1, 2 ** 29, -0.5, 3]);
  });

  it("reads floats to the bit", async () => {
    const floats = Float32Array.from([0.1, -1e-9, 3e8, NaN]);
    const read = await unpackFloats(await planes(new Uint32Array(floats.buffer)));
    expect([...read]).toEqual([...floats]);
  });

  it("refuses what was cut off", async () => {
    const cut = text((await deflated(new Uint8Array(1000))).subarray(0, 8));
    await expect(unpackBytes(cut)).rejects.toThrow();
  });
});
