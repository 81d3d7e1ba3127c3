import { Matrix4, Vector3 } from "three";
import type { JointView } from "../protocol/messages";
import { poseMatrix } from "./pose";
import type { JointFrame } from "./jointDrag";

const parent = new Matrix4();
const zero = new Matrix4();

/** Present pose of a joint: parent ∘ x0 carries its pivot and axis. */
export function jointFrame(joint: JointView, poses: Float32Array): JointFrame & { base: Matrix4 } {
  if (joint.parent >= 0) poseMatrix(poses, joint.parent * 7, parent);
  else parent.identity();
  const base = parent.clone().multiply(poseMatrix(joint.x0, 0, zero));
  const pivot = new Vector3().fromArray(joint.pivot).applyMatrix4(base);
  const axis = new Vector3().fromArray(joint.axis).transformDirection(base);
  return { pivot, axis, base };
}

const TURNS = new Set(["hinge", "screw", "universal"]);
const SLIDES = new Set(["slider", "cylindrical"]);

export type Motion = "turn" | "slide" | null;

/** Motion of a joint's first degree of freedom along its axis, or null if there is none. */
export function motionOf(joint: JointView): Motion {
  if (joint.dofs.length === 0) return null;
  if (TURNS.has(joint.type)) return "turn";
  if (SLIDES.has(joint.type)) return "slide";
  return null;
}
