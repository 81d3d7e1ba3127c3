import { Vector3 } from "three";
import type { JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { formatSI } from "../app/numbers";
import { offerTakeOver, programOf } from "../app/owners";
import { command } from "../app/session";
import { valueOf } from "../app/signals";
import { isDriver, store } from "../app/store";
import { beginGesture, want } from "../app/wanted";
import { toast } from "../ui/toast";
import type { Piece } from "./bodies";
import { gripOf, type Grip } from "./grip";
import { motionOf } from "./jointFrame";
import { Pull } from "./pull";
import { tool } from "./tool";
import type { View } from "./view";

export interface Place {
  clientX: number;
  clientY: number;
}

/** A drag of a link under way. */
export interface LinkDrag {
  move(event: Place): void;
  /** Lets go; a drag that is given up puts the joint back where it was. */
  end(givenUp: boolean): void;
}

/** The joint that carries a body, or the nearest above it that can move. */
export function nearestJoint(joints: JointView[], body: number): JointView | null {
  let at = body;
  for (let steps = 0; steps <= joints.length; steps++) {
    const joint = joints.find((j) => j.body === at);
    if (!joint) return null;
    if (joint.dofs.length > 0) return joint;
    at = joint.parent;
  }
  return null;
}

/**
 * Begins to drag a link: its nearest joint follows, or a spring pulls it. Returns null where
 * nothing can be dragged, and says why.
 */
export function beginLinkDrag(
  view: View,
  piece: Piece,
  grab: Vector3,
  from: Place,
  pull: boolean,
): LinkDrag | null {
  const { scene, poses } = store;
  if (!scene || !poses || scene.bodies[piece.element.body]?.static !== false) return null;
  if (!isDriver()) {
    command({ type: "drop" }); // says who drives
    return null;
  }
  const running = store.status?.running ?? false;
  const taken = pull ? undefined : tool.current?.link(view, piece, grab, from);
  if (taken !== undefined) return taken;
  if (pull && !running) {
    toast({
      level: "info",
      text: "A pull needs time to run.",
      action: { label: "Play", run: () => command({ type: "play" }) },
    });
    return null;
  }
  const joint = nearestJoint(scene.joints, piece.element.body);
  const driven = joint?.dofs.some((dof) => dof.target_signal !== null) ?? false;
  if (pull || (running && !driven)) return new Pull(view, piece, grab, from, poses);
  if (!joint) {
    toast({ level: "info", text: `${piece.element.name} hangs on no joint that moves.` });
    return null;
  }
  const who = joint.dofs.map(programOf).find((each) => each !== null);
  if (running && who) {
    offerTakeOver(joint.name, joint.dofs, who);
    return null;
  }
  const sight = view.ray(from).direction.clone();
  const up = new Vector3().setFromMatrixColumn(view.camera.camera.matrixWorld, 1);
  const grip = gripOf({
    joint,
    poses,
    grab: grab.clone(),
    sight,
    up,
    pixel: view.pixelAt(grab),
    valueOf: (dof) => valueOf(dof.signal) ?? 0,
  });
  return grip && new Turn(view, joint, grip, view.ray(from));
}

/** Moves a joint by hand. */
class Turn implements LinkDrag {
  private told = false;
  private readonly starts: { [dof: string]: number } = {};

  constructor(
    private readonly view: View,
    private readonly joint: JointView,
    private readonly grip: Grip,
    ray: ReturnType<View["ray"]>,
  ) {
    for (const { dof, value } of grip(ray)) this.starts[dof.name] = value;
    drag.joint = joint.name;
    beginGesture();
  }

  move(event: Place): void {
    const { joint } = this;
    const wishes = this.grip(this.view.ray(event));
    const first = wishes.find((wish) => wish.held) ?? wishes[0];
    if (!first) return;
    if (first.held && !this.told) {
      const name = joint.name.split("/").at(-1) ?? joint.name;
      const at = formatSI(first.value, first.dof.unit, store.degrees);
      toast({ level: "warning", text: `${name} is at its limit, ${at}. It stops here.` });
      this.told = true;
    }
    drag.dof = first.dof;
    drag.value = first.value;
    drag.held = first.held;
    drag.values = Object.fromEntries(wishes.map(({ dof, value }) => [dof.signal, value]));
    const glyph = motionOf(joint) !== null && joint.dofs.length === 1;
    drag.words = glyph
      ? ""
      : wishes
          .map(({ dof, value }) => `${dof.name} ${formatSI(value, dof.unit, store.degrees)}`)
          .join("  ");
    for (const { dof, value } of wishes) want(joint, dof, value);
  }

  end(givenUp: boolean): void {
    if (givenUp) {
      for (const dof of this.joint.dofs) {
        const start = this.starts[dof.name];
        if (start !== undefined) want(this.joint, dof, start);
      }
    }
    drag.joint = drag.dof = null;
    drag.values = {};
    drag.words = "";
    drag.held = false;
  }
}
