import {
  BufferGeometry,
  Color,
  Group,
  Line,
  LineBasicMaterial,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import type { ReachSetup } from "../protocol/messages";
import { token } from "../app/theme";
import { AXES, LENGTHS } from "./numbers";

/** Drawn length of one meter per second and unit of joint speed [m]. */
export const SCALE = 0.2;
/** Drawn length of an infinite axis, relative to the longest finite one. */
const ENDLESS = 3;

/** Drawn lengths of the axes [m]: velocities to scale, others normalized. */
export function drawnLengths(lengths: ArrayLike<number>, kind: ReachSetup["ellipsoid"]): number[] {
  const all = [lengths[0]!, lengths[1]!, lengths[2]!];
  const longest = Math.max(0, ...all.filter(Number.isFinite));
  const factor = kind === "velocity" ? SCALE : longest > 0 ? SCALE / longest : 1;
  return all.map((each) => (Number.isFinite(each) ? each * factor : ENDLESS * SCALE));
}

/** The manipulability ellipsoid at the tool, in the neutral color of measurements. */
export class EllipsoidMark {
  readonly root = new Group();
  private readonly skin = new MeshBasicMaterial({
    transparent: true,
    opacity: 0.16,
    depthWrite: false,
  });
  private readonly edge = new LineBasicMaterial({ transparent: true, opacity: 0.75 });

  constructor() {
    const body = new Mesh(new SphereGeometry(1, 40, 24), this.skin);
    body.renderOrder = 610;
    this.root.add(body, ...[0, 1, 2].map((axis) => this.circle(axis)));
    this.root.matrixAutoUpdate = false;
  }

  private circle(axis: number): Line {
    const points = Array.from({ length: 65 }, (_, i) => {
      const [c, s] = [Math.cos((i * Math.PI) / 32), Math.sin((i * Math.PI) / 32)];
      return new Vector3(
        axis === 0 ? 0 : c,
        axis === 1 ? 0 : axis === 0 ? c : s,
        axis === 2 ? 0 : s,
      );
    });
    const line = new Line(new BufferGeometry().setFromPoints(points), this.edge);
    line.renderOrder = 611;
    return line;
  }

  recolor(): void {
    this.skin.color = new Color(token("text"));
    this.edge.color = new Color(token("text2"));
  }

  update(numbers: Float64Array, kind: ReachSetup["ellipsoid"], on: boolean): void {
    this.root.visible = on && !Number.isNaN(numbers[LENGTHS]!);
    if (!this.root.visible) return;
    const lengths = drawnLengths(numbers.subarray(LENGTHS, LENGTHS + 3), kind);
    // A matrix with zero extent would have no inverse for lighting.
    const sides = [0, 1, 2].map((axis) =>
      new Vector3()
        .fromArray(numbers, AXES + 3 * axis)
        .multiplyScalar(Math.max(lengths[axis]!, 1e-4)),
    );
    this.root.matrix
      .copy(new Matrix4().makeBasis(sides[0]!, sides[1]!, sides[2]!))
      .setPosition(numbers[0]!, numbers[1]!, numbers[2]!);
    this.root.matrixWorldNeedsUpdate = true;
  }
}
