import { address } from "../app/address";

/** Cached meshes and images, by hash. */
export const atHand = new Map<string, ArrayBuffer>();

/** A mesh or an image of the scene; null if there is none. */
export async function blob(hash: string): Promise<ArrayBuffer | null> {
  const held = atHand.get(hash);
  if (held) return held;
  const answer = await fetch(address(`/api/mesh/${hash}`));
  return answer.ok ? answer.arrayBuffer() : null;
}
