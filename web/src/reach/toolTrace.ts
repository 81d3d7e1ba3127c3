import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments } from "three";
import { token } from "../app/theme";
import { JUMPS } from "./numbers";

const MOST = 3000;
/** The tool must have gone this far for another point [m]. */
const STEP = 1e-3;

/** The way that the tool has gone; where the robot was put elsewhere at once there is none. */
export class ToolTrace {
  readonly paint = new LineBasicMaterial({ transparent: true, opacity: 0.9 });
  private readonly places = new Float32Array(3 * MOST);
  private readonly at = new BufferAttribute(this.places, 3);
  /** Whether the tool has come to a place from the one before. */
  private readonly came = new Uint8Array(MOST);
  private readonly pairs = new BufferAttribute(new Uint16Array(2 * MOST), 1);
  readonly root: LineSegments;
  /** How many places it goes through, and how many lines there are between them. */
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
            x - this.places[last]!,
            y - this.places[last + 1]!,
            z - this.places[last + 2]!,
          );
    if (far < STEP && !jumped) return;
    this.jumps = numbers[JUMPS]!;
    if (this.length === MOST) this.makeRoom();
    this.places.set([x, y, z], 3 * this.length);
    this.came[this.length] = Number(!jumped && this.length > 0);
    this.length += 1;
    this.join(this.length - 1);
    this.at.needsUpdate = this.pairs.needsUpdate = true;
    this.root.geometry.setDrawRange(0, 2 * this.lines);
  }

  /** Draws a line to a place from the one before it, where the tool has gone there. */
  private join(n: number): void {
    if (!this.came[n]) return;
    this.pairs.setX(2 * this.lines, n - 1);
    this.pairs.setX(2 * this.lines + 1, n);
    this.lines += 1;
  }

  /** The older half makes room, so that not every point has all others moved. */
  private makeRoom(): void {
    this.places.copyWithin(0, 3 * (MOST / 2));
    this.came.copyWithin(0, MOST / 2);
    this.came[0] = 0;
    this.length = MOST / 2;
    this.lines = 0;
    for (let n = 1; n < this.length; n++) this.join(n);
  }
}
