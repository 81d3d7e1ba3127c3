import type { Gallery } from "../protocol/messages";
import { address } from "../app/address";

let known: Promise<Gallery> | null = null;

/** Scenes, kits and recent files, requested once. */
export function fetchGallery(anew = false): Promise<Gallery> {
  if (!known || anew) {
    known = fetch(address("/api/gallery")).then(async (answer) => {
      if (answer.ok) return (await answer.json()) as Gallery;
      const problem = (await answer.json().catch(() => ({}))) as { error?: string };
      throw new Error(problem.error ?? `The server answers ${answer.status}.`);
    });
    known.catch(() => (known = null));
  }
  return known;
}
