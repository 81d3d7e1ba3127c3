import { Color, Vector3 } from "three";
import { token } from "../app/theme";
import { Arrows } from "./arrows";

const MOST = 256;
const ROW = 7;
/** Maximum arrow length [m]; lengths are by square root, so that small forces stay visible. */
const LONGEST = 0.25;
/** Marks have full size on bodies of this size [m], and less on smaller ones. */
const FULL_SIZE = 0.2;
const SMALLEST = 0.35;

/** Scale of marks for objects of a size [m], so that these stay visible. */
export function markScale(size: number): number {
  return Math.min(1, Math.max(SMALLEST, size / FULL_SIZE));
}

/** Contact points and the forces there, in the color of force. */
export class ContactArrows extends Arrows {
  constructor() {
    super(MOST, 620);
  }

  recolor(): void {
    this.paint.color = new Color(token("force"));
  }

  /**
   * @param rows - contacts: position and force, seven numbers each
   * @param scale - scale of marks, up to 1
   */
  update(rows: Float32Array | null, points: boolean, forces: boolean, scale: number): void {
    const count = rows ? Math.min(MOST, Math.floor(rows.length / ROW)) : 0;
    if (!this.begin(count, points, forces) || !rows) return;
    const at = new Vector3();
    const way = new Vector3();
    for (let i = 0; i < count; i++) {
      at.fromArray(rows, i * ROW);
      const force = way.fromArray(rows, i * ROW + 3).length();
      if (force > 0) way.divideScalar(force);
      else way.set(0, 0, 1);
      this.put(i, at, way, scale * Math.min(LONGEST, 0.02 * Math.sqrt(force)), scale);
    }
    this.end(count);
  }
}
