import { Matrix4, Quaternion, Vector3 } from "three";
import type { JointView } from "../protocol/messages";
import { jointFrame } from "./jointFrame";
import { poseMatrix } from "./pose";

/** The glyph of one degree of freedom of a joint. */
export interface Hand {
  /** A dial turns about z with x at zero; a track is along z; a rail is along its points. */
  kind: "dial" | "track" | "rail" | "ring";
  /** From the hand's frame to the world. */
  matrix: Matrix4;
  lo: number | null;
  hi: number | null;
  actual: number;
  wanted: number | null;
  /** Points of a rail in the world [m]. */
  points: Vector3[];
}

/** Values of a joint's degrees of freedom [rad or m]. */
export interface Values {
  actual: number[];
  wanted: (number | null)[];
}

/**
 * The glyphs of a joint in its present pose.
 *
 * @param towards - direction of a dial's zero, in the frame of the body at value zero
 */
export function handsOf(
  joint: JointView,
  poses: Float32Array,
  values: Values,
  towards: Vector3,
): Hand[] {
  const { pivot, axis, base } = jointFrame(joint, poses);
  const second = new Vector3().fromArray(joint.axis2).transformDirection(base);
  const zero = towards.clone().applyMatrix4(base);
  const hand = (kind: Hand["kind"], dof: number, matrix: Matrix4): Hand => ({
    kind,
    matrix,
    lo: joint.dofs[dof]?.lo ?? null,
    hi: joint.dofs[dof]?.hi ?? null,
    actual: values.actual[dof] ?? 0,
    wanted: values.wanted[dof] ?? null,
    points: [],
  });
  const at = (dof: number): number => values.actual[dof] ?? 0;
  const along = (by: number, way = axis): Vector3 => pivot.clone().addScaledVector(way, by);
  switch (joint.type) {
    case "hinge":
      return [hand("dial", 0, stand(pivot, axis, zero))];
    case "screw":
      return [hand("dial", 0, stand(along(joint.pitch * at(0)), axis, zero))];
    case "slider":
      return [hand("track", 0, stand(pivot, axis, zero))];
    case "cylindrical":
      return [
        hand("track", 0, stand(pivot, axis, zero)),
        hand("dial", 1, stand(along(at(0)), axis, zero)),
      ];
    case "universal": {
      const turned = second.applyQuaternion(new Quaternion().setFromAxisAngle(axis, at(0)));
      return [
        hand("dial", 0, stand(pivot, axis, zero)),
        hand("dial", 1, stand(pivot, turned, zero)),
      ];
    }
    case "planar": {
      const y = axis.clone().cross(second);
      const place = along(at(0), second).addScaledVector(y, at(1));
      return [
        hand("track", 0, stand(along(at(1), y), second, zero)),
        hand("track", 1, stand(along(at(0), second), y, zero)),
        hand("dial", 2, stand(place, axis, zero)),
      ];
    }
    case "rail":
      return [{ ...hand("rail", 0, new Matrix4()), points: railPoints(joint, poses) }];
    case "ball":
      return turning(hand, 0, pivot, base, values);
    case "free": {
      const body = poseMatrix(poses, joint.body * 7, new Matrix4());
      const place = new Vector3().fromArray(joint.pivot).applyMatrix4(body);
      return turning(hand, 3, place, base, values);
    }
    default:
      return [];
  }
}

/** Three rings, and a dial about the axis of the rotation vector. */
function turning(
  hand: (kind: Hand["kind"], dof: number, matrix: Matrix4) => Hand,
  first: number,
  place: Vector3,
  base: Matrix4,
  values: Values,
): Hand[] {
  const frame = new Matrix4().extractRotation(base);
  const sides = [new Vector3(), new Vector3(), new Vector3()] as const;
  frame.extractBasis(...sides);
  const rings = sides.map((side, i) =>
    hand("ring", first + i, stand(place, side, sides[(i + 1) % 3]!)),
  );
  const turn = new Vector3().fromArray(values.actual, first);
  const angle = turn.length();
  if (angle < 1e-3) return rings;
  const axis = turn.divideScalar(angle).transformDirection(frame);
  const dial = hand("dial", first, stand(place, axis, place.clone().add(sides[0])));
  return [...rings, { ...dial, lo: null, hi: null, actual: angle, wanted: null }];
}

function railPoints(joint: JointView, poses: Float32Array): Vector3[] {
  const parent = joint.parent >= 0 ? poseMatrix(poses, joint.parent * 7) : new Matrix4();
  const points: Vector3[] = [];
  for (let i = 0; i + 2 < joint.path.length; i += 3)
    points.push(new Vector3().fromArray(joint.path, i).applyMatrix4(parent));
  return points;
}

/** A frame at `place`: z along the axis, x towards a point as far as possible. */
export function stand(place: Vector3, axis: Vector3, towards: Vector3): Matrix4 {
  const z = axis.clone().normalize();
  const x = towards.clone().sub(place).projectOnPlane(z);
  if (x.length() < 1e-3) {
    x.set(0, 0, 1).projectOnPlane(z);
    if (x.length() < 0.1) x.set(1, 0, 0).projectOnPlane(z);
  }
  x.normalize();
  return new Matrix4().makeBasis(x, z.clone().cross(x), z).setPosition(place);
}
