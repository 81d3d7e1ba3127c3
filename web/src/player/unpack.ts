/** Reads tables of numbers as `packing.py` writes them. */

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Text to bytes, inflated. */
export async function unpackBytes(text: string): Promise<ArrayBuffer> {
  const stream = new Blob([bytesOf(text)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/** Interleaves separated byte planes to numbers of four bytes. */
function gather(data: ArrayBuffer): ArrayBuffer {
  const from = new Uint8Array(data);
  const count = from.length / 4;
  const to = new Uint8Array(from.length);
  for (let plane = 0; plane < 4; plane++) {
    const start = plane * count;
    for (let i = 0; i < count; i++) to[4 * i + plane] = from[start + i]!;
  }
  return to.buffer;
}

/** A table of float32, column after column. */
export async function unpackFloats(text: string): Promise<Float32Array> {
  return new Float32Array(gather(await unpackBytes(text)));
}

/** A table of multiples of `scale`, column after column of `rows` numbers. */
export async function unpackCounts(
  text: string,
  rows: number,
  scale: number,
): Promise<Float32Array> {
  const folded = new Uint32Array(gather(await unpackBytes(text)));
  const made = new Float32Array(folded.length);
  let sum = 0;
  for (let i = 0; i < folded.length; i++) {
    if (i % rows === 0) sum = 0;
    const each = folded[i]!;
    sum += each & 1 ? -((each >>> 1) + 1) : each >>> 1;
    made[i] = sum * scale;
  }
  return made;
}
