import { Vector3, type Ray } from "three";

/** Below this cosine between axis and view direction the plane of rotation is seen edge-on. */
export const EDGE_ON = 0.25;
/** Edge-on, a pixel turns by one degree at most: near the axis the true lever would be too fast. */
export const LEVER_PX = 180 / Math.PI;
const TURN = 2 * Math.PI;

/** Pose of a joint in the world. */
export interface JointFrame {
  pivot: Vector3;
  /** Unit vector. */
  axis: Vector3;
}

/** Maps pointer rays to a change of a joint's value [rad or m]. */
export interface JointDrag {
  /** The change since the drag began. */
  change(ray: Ray): number;
}

/** Rotation about an axis: the pointer is projected onto the plane normal to it. */
export class HingeDrag implements JointDrag {
  private readonly arm: Vector3;
  private readonly edgeOn: boolean;
  private readonly sideways: Vector3;
  private last = 0;

  /**
   * @param grab - the point of the link under the pointer when the drag began
   * @param sight - view direction there, unit vector
   * @param pixel - size of a pixel there [m]
   * @param across - follow the screen's tangent from any view direction
   */
  constructor(
    private readonly joint: JointFrame,
    private readonly grab: Vector3,
    private readonly sight: Vector3,
    private readonly pixel: number,
    across = false,
  ) {
    const { pivot, axis } = joint;
    this.arm = grab.clone().sub(pivot).projectOnPlane(axis);
    this.edgeOn = across || Math.abs(sight.dot(axis)) < EDGE_ON;
    // Edge-on, a rotation moves the point across the axis on the screen.
    this.sideways = axis.clone().cross(sight).normalize();
    const tangent = axis.clone().cross(this.arm);
    if (tangent.dot(this.sideways) < 0) this.sideways.negate();
  }

  change(ray: Ray): number {
    return this.edgeOn ? this.across(ray) : this.around(ray);
  }

  private around(ray: Ray): number {
    const at = intersectPlane(ray, this.grab, this.joint.axis);
    if (!at) return this.last;
    const now = at.sub(this.joint.pivot).projectOnPlane(this.joint.axis);
    if (now.length() < 1e-6 || this.arm.length() < 1e-6) return this.last;
    const angle = Math.atan2(this.arm.clone().cross(now).dot(this.joint.axis), this.arm.dot(now));
    // Counts full turns when the pointer moves by more than half a turn.
    this.last = angle + TURN * Math.round((this.last - angle) / TURN);
    return this.last;
  }

  private across(ray: Ray): number {
    const at = intersectPlane(ray, this.grab, this.sight);
    if (!at) return this.last;
    const radius = Math.max(this.arm.length(), LEVER_PX * this.pixel);
    this.last = at.sub(this.grab).dot(this.sideways) / radius;
    return this.last;
  }
}

/** Translation along an axis: the point of the axis nearest to the pointer's ray. */
export class SliderDrag implements JointDrag {
  private last = 0;

  constructor(
    private readonly joint: JointFrame,
    private readonly grab: Vector3,
    private readonly sight: Vector3,
    private readonly up: Vector3,
  ) {}

  change(ray: Ray): number {
    const { axis } = this.joint;
    const along = Math.abs(this.sight.dot(axis));
    if (along > 0.97) {
      const at = intersectPlane(ray, this.grab, this.sight);
      if (at) this.last = at.sub(this.grab).dot(this.up);
      return this.last;
    }
    const between = ray.origin.clone().sub(this.grab);
    const b = axis.dot(ray.direction);
    this.last = (between.dot(axis) - b * between.dot(ray.direction)) / (1 - b * b);
    return this.last;
  }
}

/** Intersection of a ray with the plane through `point` normal to `normal`; null if none. */
export function intersectPlane(ray: Ray, point: Vector3, normal: Vector3): Vector3 | null {
  const fall = ray.direction.dot(normal);
  if (Math.abs(fall) < 1e-9) return null;
  const t = point.clone().sub(ray.origin).dot(normal) / fall;
  return ray.origin.clone().addScaledVector(ray.direction, t);
}

/** A value clamped to the range of its joint, and whether it was clamped. */
export function within(value: number, lo: number | null, hi: number | null): [number, boolean] {
  const kept = Math.min(hi ?? Infinity, Math.max(lo ?? -Infinity, value));
  return [kept, kept !== value];
}
