import {
  CONTACTS,
  FORCES,
  GHOST,
  IMAGE,
  NEAR,
  SNAPSHOT,
  POSES,
  REACH,
  ROWS,
  SIGNALS,
} from "./messages";

export { CONTACTS, FORCES, GHOST, IMAGE, NEAR, POSES, REACH, SIGNALS };

/** A block of a snapshot: rows of numbers. */
export interface Block {
  kind: number;
  flags: number;
  /** Number of rows. */
  count: number;
  values: Float32Array | Float64Array | Uint8Array;
}

/** A binary frame of the stream: one snapshot. */
export interface Snapshot {
  /** Version of the scene the numbers belong to. */
  version: number;
  /** Simulated time [s]. */
  time: number;
  blocks: Block[];
}

const HEADER = 16;
const BLOCK = 8;

/** Parses a frame; null if its kind is unknown. Throws if it is truncated. */
export function decodeSnapshot(buffer: ArrayBuffer): Snapshot | null {
  const size = buffer.byteLength;
  if (size < HEADER) throw new Error(`A frame of ${size} bytes has no header of ${HEADER}.`);
  const view = new DataView(buffer);
  if (view.getUint8(0) !== SNAPSHOT) return null;
  const blocks: Block[] = [];
  let at = HEADER;
  while (at < size) {
    if (at + BLOCK > size) throw new Error(`A frame ends within the header of a block, at ${at}.`);
    const kind = view.getUint16(at, true);
    const length = view.getUint32(at + 4, true);
    const next = at + BLOCK + Math.ceil(length / 8) * 8;
    if (next > size) throw new Error(`Block of kind ${kind}: ${next} bytes instead of ${size}.`);
    const block = decodeBlock(buffer, kind, view.getUint16(at + 2, true), at + BLOCK, length);
    if (block) blocks.push(block);
    at = next;
  }
  return { version: view.getUint32(4, true), time: view.getFloat64(8, true), blocks };
}

/** Parses a block; null if its kind is unknown. */
function decodeBlock(
  buffer: ArrayBuffer,
  kind: number,
  flags: number,
  start: number,
  length: number,
): Block | null {
  const row = ROWS[kind];
  if (!row) return null;
  const [each, bytes] = row;
  const count = length / (each * bytes);
  if (!Number.isInteger(count)) {
    throw new Error(`Block of kind ${kind}: ${length} bytes are no rows of ${each * bytes}.`);
  }
  const Numbers = bytes === 8 ? Float64Array : bytes === 4 ? Float32Array : Uint8Array;
  return { kind, flags, count, values: new Numbers(buffer, start, count * each) };
}
