import { CONTACTS, GHOST, POSES, SIGNALS } from "./messages";

export { CONTACTS, GHOST, POSES, SIGNALS };

/** A binary frame of the stream: a 16-byte header, then numbers, little endian. */
export interface Frame {
  kind: number;
  flags: number;
  count: number;
  /** Version of the scene the numbers belong to. */
  version: number;
  /** Simulated time [s]. */
  time: number;
  values: Float32Array | Float64Array;
}

const HEADER = 16;
const ROW = 7;

/** Reads one frame; throws when the length does not fit the header. */
export function decodeFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < HEADER) {
    throw new Error(`A frame of ${buffer.byteLength} bytes has no header of ${HEADER}.`);
  }
  const view = new DataView(buffer);
  const kind = view.getUint8(0);
  const count = view.getUint16(2, true);
  const wide = kind === SIGNALS;
  const expected = HEADER + count * (wide ? 8 : 4 * ROW);
  if (buffer.byteLength !== expected) {
    throw new Error(`Frame of kind ${kind}: ${buffer.byteLength} bytes instead of ${expected}.`);
  }
  return {
    kind,
    flags: view.getUint8(1),
    count,
    version: view.getUint32(4, true),
    time: view.getFloat64(8, true),
    values: wide
      ? new Float64Array(buffer, HEADER, count)
      : new Float32Array(buffer, HEADER, count * ROW),
  };
}
