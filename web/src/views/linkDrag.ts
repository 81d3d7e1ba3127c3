import { Matrix4, Vector3, type Ray } from "three";
import type { Dof, JointView } from "../protocol/messages";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { drag } from "../app/drag";
import { formatSI } from "../app/numbers";
import { valueOf } from "../app/signals";
import { want } from "../app/wanted";
import { toast } from "../ui/toast";
import type { Piece } from "./bodies";
import { HingeDrag, SliderDrag, within, type JointDrag } from "./jointDrag";
import { jointFrame, motionOf } from "./jointFrame";
import { poseMatrix } from "./pose";
import type { View } from "./view";

interface Place {
  clientX: number;
  clientY: number;
}

/** The joint that carries a body, or the nearest above it that one can turn. */
export function nearestJoint(joints: JointView[], body: number): JointView | null {
  let at = body;
  for (let steps = 0; steps <= joints.length; steps++) {
    const joint = joints.find((j) => j.body === at);
    if (!joint) return null;
    if (motionOf(joint)) return joint;
    at = joint.parent;
  }
  return null;
}

/** A drag of a link: turns its joint, or pulls it with a spring. */
export class LinkDrag {
  private told = false;

  private constructor(
    private readonly view: View,
    private readonly turn: { joint: JointView; dof: Dof; start: number; map: JointDrag } | null,
    private readonly pull: {
      piece: Piece;
      local: [number, number, number];
      grab: Vector3;
      sight: Vector3;
    } | null,
  ) {}

  static begin(
    view: View,
    piece: Piece,
    grab: Vector3,
    from: Place,
    pull: boolean,
  ): LinkDrag | null {
    const scene = store.scene;
    const poses = store.poses;
    if (!scene || !poses || scene.bodies[piece.element.body]?.static !== false) return null;
    const ray = view.ray(from);
    if (!isDriver()) {
      command({ type: "drop" });
      return null;
    }
    if (pull) return LinkDrag.pulling(view, piece, grab, ray, poses);
    const joint = nearestJoint(scene.joints, piece.element.body);
    const dof = joint?.dofs[0];
    if (!joint || !dof) {
      if (store.status?.running) return LinkDrag.pulling(view, piece, grab, ray, poses);
      toast({
        level: "info",
        text: `${piece.element.name} has no joint to turn. Run, then Ctrl-drag pulls it.`,
      });
      return null;
    }
    const frame = jointFrame(joint, poses);
    const sight = ray.direction.clone();
    const up = new Vector3().setFromMatrixColumn(view.camera.camera.matrixWorld, 1);
    const map =
      motionOf(joint) === "turn"
        ? new HingeDrag(frame, grab.clone(), sight)
        : new SliderDrag(frame, grab.clone(), sight, up);
    map.change(ray);
    const start = valueOf(dof.signal) ?? 0;
    drag.joint = joint.name;
    drag.value = start;
    drag.held = false;
    return new LinkDrag(view, { joint, dof, start, map }, null);
  }

  private static pulling(
    view: View,
    piece: Piece,
    grab: Vector3,
    ray: Ray,
    poses: Float32Array,
  ): LinkDrag {
    const element = poseMatrix(poses, piece.element.body * 7, new Matrix4()).multiply(
      poseMatrix(piece.element.pose),
    );
    const local = grab.clone().applyMatrix4(element.invert());
    return new LinkDrag(view, null, {
      piece,
      local: [local.x, local.y, local.z],
      grab: grab.clone(),
      sight: ray.direction.clone(),
    });
  }

  move(event: Place): void {
    const ray = this.view.ray(event);
    if (this.turn) this.turnTo(ray);
    else if (this.pull) this.pullTo(ray);
  }

  private turnTo(ray: Ray): void {
    const { joint, dof, start, map } = this.turn!;
    const [value, held] = within(start + map.change(ray), dof.lo, dof.hi);
    if (held && !this.told) {
      const name = joint.name.split("/").at(-1) ?? joint.name;
      const at = formatSI(value, dof.unit, store.degrees);
      toast({ level: "warning", text: `${name} is at its limit, ${at}. It stops here.` });
      this.told = true;
    }
    drag.value = value;
    drag.held = held;
    want(joint, dof, value);
  }

  private pullTo(ray: Ray): void {
    const { piece, local, grab, sight } = this.pull!;
    const fall = ray.direction.dot(sight);
    const t = grab.clone().sub(ray.origin).dot(sight) / (fall || 1);
    const to = ray.origin.clone().addScaledVector(ray.direction, t);
    const target: [number, number, number] = [to.x, to.y, to.z];
    drag.pull = { element: piece.element.name, point: local, target };
    command({ type: "grab", element: piece.element.name, point: local, target });
  }

  end(): void {
    if (this.pull) command({ type: "drop" });
    drag.joint = null;
    drag.held = false;
    drag.pull = null;
  }
}
