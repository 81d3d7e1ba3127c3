import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments } from "three";
import { token } from "../app/theme";
import { JUMPS } from "./numbers";

const MOST = 3000;
/** Minimum distance between points [m]. */
const STEP = 1e-3;

/** The path of the tool, with a gap where the robot was moved by other means. */
export class ToolTrace {
  readonly paint = new LineBasicMaterial({ transparent: true, opacity: 0.9 });
  private readonly positions = new Float32Array(3 * MOST);
  private readonly at = new BufferAttribute(this.positions, 3);
  /** Whether the tool moved to a point from the previous one. */
  private readonly came = new Uint8Array(MOST);
  private readonly pairs = new BufferAttribute(new Uint16Array(2 * MOST), 1);
  readonly root: LineSegments;
  /** Number of points, and of lines between them. */
  length = 0;
  lines = 0;
  private jumps = -1;

  constructor() {
    const shape = new BufferGeometry().setAttribute("position", this.at).setIndex(this.pairs);
    this.root = new LineSegments(shape, this.paint);
    this.root.frustumCulled = false;
    this.root.renderOrder = 612;
    this.clear();
  }

  clear(): void {
    this.length = this.lines = 0;
    this.root.geometry.setDrawRange(0, 0);
  }

  recolor(): void {
    this.paint.color = new Color(token("chart3"));
  }

  update(numbers: Float64Array, on: boolean): void {
    this.root.visible = on;
    if (!on) return;
    const [x = 0, y = 0, z = 0] = numbers;
    const jumped = numbers[JUMPS]! !== this.jumps;
    const last = 3 * (this.length - 1);
    const far =
      this.length === 0
        ? Infinity
        : Math.hypot(
            x - this.positions[last]!,
            y - this.positions[last + 1]!,
            z - this.positions[last + 2]!,
          );
    if (far < STEP && !jumped) return;
    this.jumps = numbers[JUMPS]!;
    if (this.length === MOST) this.makeRoom();
    this.positions.set([x, y, z], 3 * this.length);
    this.came[this.length] = Number(!jumped && this.length > 0);
    this.length += 1;
    this.join(this.length - 1);
    this.at.needsUpdate = this.pairs.needsUpdate = true;
    this.root.geometry.setDrawRange(0, 2 * this.lines);
  }

  /** Draws a line to a point from the previous one, if the tool moved there. */
  private join(n: number): void {
    if (!this.came[n]) return;
    this.pairs.setX(2 * this.lines, n - 1);
    this.pairs.setX(2 * this.lines + 1, n);
    this.lines += 1;
  }

  /** Drops the older half at once, so that not every new point shifts all others. */
  private makeRoom(): void {
    this.positions.copyWithin(0, 3 * (MOST / 2));
    this.came.copyWithin(0, MOST / 2);
    this.came[0] = 0;
    this.length = MOST / 2;
    this.lines = 0;
    for (let n = 1; n < this.length; n++) this.join(n);
  }
}
