import { Matrix4, Quaternion, Vector3, type Ray } from "three";
import type { Dof, JointView } from "../protocol/messages";
import {
  EDGE_ON,
  HingeDrag,
  intersectPlane,
  SliderDrag,
  within,
  type JointDrag,
} from "./jointDrag";
import { jointFrame } from "./jointFrame";
import { poseMatrix } from "./pose";

/** Above this cosine between axis and view direction a cylindrical joint only turns. */
const FACING = 0.7;

/** Target of one degree of freedom in a drag [rad or m], and whether it is clamped by a limit. */
export interface DofTarget {
  dof: Dof;
  value: number;
  held: boolean;
}

/** A grip: a link's joint, a point on the link, and the view direction. */
export interface DragStart {
  joint: JointView;
  poses: Float32Array;
  /** The point of the link under the pointer when the drag began. */
  grab: Vector3;
  /** View direction there, unit vector. */
  sight: Vector3;
  /** The view's up direction, unit vector. */
  up: Vector3;
  /** Size of a pixel there [m]. */
  pixel: number;
  /** Present value of a degree of freedom. */
  valueOf: (dof: Dof) => number;
}

/** Maps the pointer's ray to targets of a joint's dofs. */
export type LinkDragSolver = (ray: Ray) => DofTarget[];

/** The drag mapping of a link, or null if its joint cannot be dragged. */
export function linkDragSolver(hold: DragStart): LinkDragSolver | null {
  const { joint } = hold;
  switch (joint.type) {
    case "hinge":
    case "screw":
      return turning(hold, 0, frameOf(hold).axis);
    case "slider":
      return sliding(hold, frameOf(hold).axis);
    case "rail":
      return sliding(hold, turned(hold, joint.axis2));
    case "universal":
      return universal(hold);
    case "cylindrical":
      return cylindrical(hold);
    case "planar":
      return planar(hold);
    case "ball":
      return ball(hold);
    case "free":
      return free(hold);
    default:
      return null;
  }
}

const frameOf = (hold: DragStart): ReturnType<typeof jointFrame> =>
  jointFrame(hold.joint, hold.poses);

/** A direction of the body in its present pose, in the world. */
function turned(hold: DragStart, direction: number[]): Vector3 {
  const body = poseMatrix(hold.poses, hold.joint.body * 7, new Matrix4());
  return new Vector3().fromArray(direction).transformDirection(body);
}

/** Adds changes to the initial dof values, within their limits. */
function from(hold: DragStart, dofs: Dof[], changes: (ray: Ray) => number[]): LinkDragSolver {
  const starts = dofs.map((dof) => hold.valueOf(dof));
  return (ray) =>
    changes(ray).map((change, i) => {
      const dof = dofs[i]!;
      const [value, held] = within(starts[i]! + change, dof.lo, dof.hi);
      return { dof, value, held };
    });
}

function mapped(hold: DragStart, index: number, map: JointDrag): LinkDragSolver | null {
  const dof = hold.joint.dofs[index];
  return dof ? from(hold, [dof], (ray) => [map.change(ray)]) : null;
}

function turning(hold: DragStart, index: number, axis: Vector3): LinkDragSolver | null {
  const { pivot } = frameOf(hold);
  return mapped(hold, index, new HingeDrag({ pivot, axis }, hold.grab, hold.sight, hold.pixel));
}

function sliding(hold: DragStart, axis: Vector3): LinkDragSolver | null {
  const { pivot } = frameOf(hold);
  return mapped(hold, 0, new SliderDrag({ pivot, axis }, hold.grab, hold.sight, hold.up));
}

/** The axis that faces the eye more turns. */
function universal(hold: DragStart): LinkDragSolver | null {
  const first = frameOf(hold).axis;
  const second = turned(hold, hold.joint.axis2);
  const other = Math.abs(second.dot(hold.sight)) > Math.abs(first.dot(hold.sight));
  return other ? turning(hold, 1, second) : turning(hold, 0, first);
}

/** Slides along the axis, turns across it; seen along the axis it only turns. */
function cylindrical(hold: DragStart): LinkDragSolver | null {
  const { pivot, axis } = frameOf(hold);
  const [position, angle] = hold.joint.dofs;
  if (!position || !angle) return null;
  if (Math.abs(axis.dot(hold.sight)) > FACING) return turning(hold, 1, axis);
  const slide = new SliderDrag({ pivot, axis }, hold.grab, hold.sight, hold.up);
  const turn = new HingeDrag({ pivot, axis }, hold.grab, hold.sight, hold.pixel, true);
  return from(hold, [position, angle], (ray) => [slide.change(ray), turn.change(ray)]);
}

/** Slides in its plane; the rotation about its normal is set in the table. */
function planar(hold: DragStart): LinkDragSolver | null {
  const { axis, base } = frameOf(hold);
  const [x, y] = hold.joint.dofs;
  if (!x || !y) return null;
  const east = new Vector3().fromArray(hold.joint.axis2).transformDirection(base);
  const north = axis.clone().cross(east);
  const normal = Math.abs(axis.dot(hold.sight)) < EDGE_ON ? hold.sight : axis;
  return from(hold, [x, y], (ray) => {
    const by = shift(hold, ray, normal);
    return [by.dot(east), by.dot(north)];
  });
}

/** Follows the pointer at the depth of the grip. */
function free(hold: DragStart): LinkDragSolver | null {
  const back = frameOf(hold).base.clone().invert();
  return from(hold, hold.joint.dofs.slice(0, 3), (ray) => {
    const by = shift(hold, ray, hold.sight);
    const length = by.length();
    if (length < 1e-12) return [0, 0, 0];
    return by.transformDirection(back).multiplyScalar(length).toArray();
  });
}

/** Turns about its center by the shortest rotation that brings the grip to the pointer. */
function ball(hold: DragStart): LinkDragSolver | null {
  const { pivot, base } = frameOf(hold);
  const frame = new Quaternion().setFromRotationMatrix(base);
  const body = poseMatrix(hold.poses, hold.joint.body * 7, new Matrix4());
  const start = frame.clone().invert().multiply(new Quaternion().setFromRotationMatrix(body));
  const arm = hold.grab.clone().sub(pivot);
  if (arm.length() < 1e-6) return null;
  return (ray) => {
    const at = hold.grab
      .clone()
      .add(shift(hold, ray, hold.sight))
      .sub(pivot);
    const turn = new Quaternion().setFromUnitVectors(arm.clone().normalize(), at.normalize());
    const now = frame.clone().invert().multiply(turn).multiply(frame).multiply(start);
    return rotationVector(now).map((wanted, i) => {
      const dof = hold.joint.dofs[i]!;
      const [value, held] = within(wanted, dof.lo, dof.hi);
      return { dof, value, held };
    });
  };
}

/** Displacement of the pointer in the plane through the grip. */
function shift(hold: DragStart, ray: Ray, normal: Vector3): Vector3 {
  return intersectPlane(ray, hold.grab, normal)?.sub(hold.grab) ?? new Vector3();
}

export function rotationVector(q: Quaternion): [number, number, number] {
  const sign = q.w < 0 ? -1 : 1;
  const sine = Math.hypot(q.x, q.y, q.z);
  const scale = sine < 1e-12 ? 2 : (2 * Math.atan2(sine, Math.abs(q.w))) / sine;
  return [sign * q.x * scale, sign * q.y * scale, sign * q.z * scale];
}
