import { Matrix4, Quaternion, Vector3 } from "three";

const place = new Vector3();
const turn = new Quaternion();
const one = new Vector3(1, 1, 1);

/** The matrix of a pose `x y z w x y z` that starts at `at` in `values`. */
export function poseMatrix(values: ArrayLike<number>, at = 0, out = new Matrix4()): Matrix4 {
  place.set(values[at]!, values[at + 1]!, values[at + 2]!);
  turn.set(values[at + 4]!, values[at + 5]!, values[at + 6]!, values[at + 3]!);
  return out.compose(place, turn, one);
}
