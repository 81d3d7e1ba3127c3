import type { FrameSignalView } from "../protocol/messages";

/** Position of a signal's bits. */
export type Place = Pick<FrameSignalView, "start" | "bits" | "big_endian">;
/** Decoding of the bits. */
export type Coded = Place & Pick<FrameSignalView, "signed" | "real">;

/**
 * Positions of a signal's bits as in a DBC file, byte · 8 + bit; the highest bit first.
 *
 * Intel starts at the lowest bit and goes up; Motorola starts at the highest, goes down to bit 0 of
 * its byte and continues with bit 7 of the next.
 */
export function bitPlaces({ start, bits, big_endian }: Place): number[] {
  if (!big_endian) return Array.from({ length: bits }, (_, n) => start + bits - 1 - n);
  const flip = (n: number): number => 8 * Math.floor(n / 8) + 7 - (n % 8);
  return Array.from({ length: bits }, (_, n) => flip(flip(start) + n));
}

/** The bit at a position; null beyond the end of the data. */
export function bitAt(data: number[], place: number): number | null {
  const byte = data[place >> 3];
  return byte === undefined ? null : (byte >> (place & 7)) & 1;
}

/** The raw value of a signal: an integer, or the float of its bits; null if truncated. */
export function rawValue(signal: Coded, data: number[]): bigint | number | null {
  let word = 0n;
  for (const place of bitPlaces(signal)) {
    const bit = bitAt(data, place);
    if (bit === null) return null;
    word = (word << 1n) | BigInt(bit);
  }
  if (signal.real) return floatOf(word, signal.bits);
  return signal.signed ? BigInt.asIntN(signal.bits, word) : word;
}

function floatOf(word: bigint, bits: number): number | null {
  const view = new DataView(new ArrayBuffer(8));
  if (bits === 64) view.setBigUint64(0, word);
  else view.setUint32(0, Number(word));
  if (bits === 16) return halfOf(Number(word));
  return bits === 64 ? view.getFloat64(0) : bits === 32 ? view.getFloat32(0) : null;
}

function halfOf(word: number): number {
  const sign = word & 0x8000 ? -1 : 1;
  const power = (word >> 10) & 31;
  const rest = word & 1023;
  if (power === 31) return rest ? NaN : sign * Infinity;
  return sign * (power ? (1 + rest / 1024) * 2 ** (power - 15) : rest * 2 ** -24);
}

export interface Read {
  signal: FrameSignalView;
  positions: number[];
  raw: bigint | number;
  /** raw · scale + offset, in the signal's unit. */
  value: number;
}

/** The signals in these bytes: complete, and selected by their multiplexer. */
export function readSignals(signals: FrameSignalView[], data: number[]): Read[] {
  const raws = new Map(signals.map((signal) => [signal.name, rawValue(signal, data)]));
  const isThere = (signal: FrameSignalView): boolean => {
    if (!signal.parent) return true;
    const parent = signals.find(({ name }) => name === signal.parent);
    const chosen = raws.get(signal.parent) ?? null;
    if (!parent || chosen === null || !isThere(parent)) return false;
    return signal.ranges.some(([first, last]) => first <= chosen && chosen <= last);
  };
  return signals.flatMap((signal) => {
    const raw = raws.get(signal.name) ?? null;
    if (raw === null || !isThere(signal)) return [];
    const value = Number(raw) * signal.scale + signal.offset;
    return [{ signal, positions: bitPlaces(signal), raw, value }];
  });
}

/** Bit positions as text: `byte 2`, `bytes 2 … 3`, `byte 0, bits 4 … 7`. */
export function placeWords(positions: number[]): string {
  const span = (one: string, numbers: number[]): string => {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    return low === high ? `${one} ${low}` : `${one}s ${low} … ${high}`;
  };
  const bytes = [...new Set(positions.map((place) => place >> 3))];
  const words = span("byte", bytes);
  if (positions.length === 8 * bytes.length) return words;
  return bytes.length > 1
    ? `${words}, ${positions.length} bits`
    : `${words}, ${span(
        "bit",
        positions.map((place) => place & 7),
      )}`;
}
