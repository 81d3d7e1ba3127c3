import {
  BufferAttribute,
  BufferGeometry,
  Color,
  LineBasicMaterial,
  LineSegments,
  Vector3,
} from "three";
import { format } from "../app/numbers";
import { token } from "../app/theme";
import type { Words } from "./viewLabels";

/** Numbers in a row of the protocol's NEAR. */
export const ROW = 11;
const MOST = 24;
/** Distances below this are shown as close [m]. */
const CLOSE = 0.02;
/** Maximum number of labeled distances in the views. */
const LABELED = 2;

/** The shortest lines from the robot to nearby shapes: neutral, amber if close. */
export class NearLines {
  private readonly paint = new LineBasicMaterial({ vertexColors: true, depthTest: false });
  private readonly positions = new Float32Array(6 * MOST);
  private readonly colors = new Float32Array(6 * MOST);
  readonly root = new LineSegments(new BufferGeometry(), this.paint);
  private tones: Record<Words["tone"], Color> = {
    "": new Color(),
    warn: new Color(),
    err: new Color(),
  };
  /** Number of lines. */
  count = 0;

  constructor() {
    this.root.geometry.setAttribute("position", new BufferAttribute(this.positions, 3));
    this.root.geometry.setAttribute("color", new BufferAttribute(this.colors, 3));
    this.root.frustumCulled = false;
    this.root.renderOrder = 630;
    this.paint.transparent = true;
  }

  recolor(): void {
    this.tones = {
      "": new Color(token("text2")),
      warn: new Color(token("warn")),
      err: new Color(token("err")),
    };
  }

  /** Draws them and returns the labels of the closest. */
  update(rows: Float32Array | null, keep: number | null, on: boolean): Words[] {
    this.root.visible = on;
    this.count = on && rows ? Math.min(MOST, Math.floor(rows.length / ROW)) : 0;
    const words: Words[] = [];
    for (let n = 0; n < this.count; n++) {
      const at = n * ROW;
      const far = rows![at + 6]!;
      const tone = far <= 0 ? "err" : far < Math.max(keep ?? 0, CLOSE) + 1e-3 ? "warn" : "";
      this.positions.set(rows!.subarray(at, at + 6), 6 * n);
      this.tones[tone].toArray(this.colors, 6 * n);
      this.tones[tone].toArray(this.colors, 6 * n + 3);
      if (n >= LABELED) continue;
      const middle = new Vector3().fromArray(rows!, at);
      middle.add(new Vector3().fromArray(rows!, at + 3)).multiplyScalar(0.5);
      const text = far <= 0 ? `${format(-far * 1e3, 1)} mm inside` : `${format(far * 1e3, 0)} mm`;
      words.push({ at: middle, text, tone });
    }
    const { geometry } = this.root;
    geometry.setDrawRange(0, 2 * this.count);
    geometry.getAttribute("position").needsUpdate = true;
    geometry.getAttribute("color").needsUpdate = true;
    return words;
  }
}
