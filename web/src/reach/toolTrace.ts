import { BufferAttribute, BufferGeometry, Color, Line, LineBasicMaterial } from "three";
import { token } from "../app/theme";

const MOST = 3000;
/** The tool must have gone this far for another point [m]. */
const STEP = 1e-3;

/** The way that the tool has gone. */
export class ToolTrace {
  readonly paint = new LineBasicMaterial({ transparent: true, opacity: 0.9 });
  private readonly places = new Float32Array(3 * MOST);
  private readonly at = new BufferAttribute(this.places, 3);
  readonly root = new Line(new BufferGeometry().setAttribute("position", this.at), this.paint);
  /** How many places it goes through. */
  length = 0;

  constructor() {
    this.root.frustumCulled = false;
    this.root.renderOrder = 612;
    this.clear();
  }

  clear(): void {
    this.length = 0;
    this.root.geometry.setDrawRange(0, 0);
  }

  recolor(): void {
    this.paint.color = new Color(token("chart3"));
  }

  update(numbers: Float64Array, on: boolean): void {
    this.root.visible = on;
    if (!on) return;
    const [x = 0, y = 0, z = 0] = numbers;
    const last = 3 * (this.length - 1);
    const far =
      this.length === 0
        ? Infinity
        : Math.hypot(
            x - this.places[last]!,
            y - this.places[last + 1]!,
            z - this.places[last + 2]!,
          );
    if (far < STEP) return;
    if (this.length === MOST) {
      // The older half makes room, so that not every point has all others moved.
      this.places.copyWithin(0, 3 * (MOST / 2));
      this.length = MOST / 2;
    }
    this.places.set([x, y, z], 3 * this.length);
    this.length += 1;
    this.at.needsUpdate = true;
    this.root.geometry.setDrawRange(0, this.length);
  }
}
