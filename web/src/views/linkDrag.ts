import { Vector3 } from "three";
import type { JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { formatSI } from "../app/numbers";
import { offerTakeOver, programOf } from "../app/owners";
import { command } from "../app/session";
import { valueOf } from "../app/signals";
import { isDriver, store } from "../app/store";
import { beginGesture, want } from "../app/targetSender";
import { toast } from "../ui/toast";
import type { ShapeMesh } from "./bodies";
import { linkDragSolver, type LinkDragSolver } from "./linkDragSolver";
import { motionOf } from "./jointFrame";
import { Pull } from "./pull";
import { tool } from "./tool";
import type { View } from "./view";

export interface Place {
  clientX: number;
  clientY: number;
}

/** An active drag of a link. */
export interface LinkDrag {
  move(event: Place): void;
  /** Ends the drag; a canceled drag restores the joint. */
  end(givenUp: boolean): void;
}

/** The joint that carries a body, or the nearest movable one above it. */
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
 * Begins to drag a link: its nearest joint follows, or a spring pulls it. Returns null if nothing
 * can be dragged, and reports the reason.
 */
export function beginLinkDrag(
  view: View,
  piece: ShapeMesh,
  grab: Vector3,
  from: Place,
  pull: boolean,
): LinkDrag | null {
  const { scene, poses } = store;
  if (!scene || !poses || scene.bodies[piece.element.body]?.static !== false) return null;
  if (!isDriver()) {
    command({ type: "drop" }); // names the driver
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
    toast({ level: "info", text: `${piece.element.name} has no movable joint.` });
    return null;
  }
  const who = joint.dofs.map(programOf).find((each) => each !== null);
  if (running && who) {
    offerTakeOver(joint.name, joint.dofs, who);
    return null;
  }
  const sight = view.ray(from).direction.clone();
  const up = new Vector3().setFromMatrixColumn(view.camera.camera.matrixWorld, 1);
  const solver = linkDragSolver({
    joint,
    poses,
    grab: grab.clone(),
    sight,
    up,
    pixel: view.pixelAt(grab),
    valueOf: (dof) => valueOf(dof.signal) ?? 0,
  });
  return solver && new Turn(view, joint, solver, view.ray(from));
}

/** Moves a joint by hand. */
class Turn implements LinkDrag {
  private limitShown = false;
  private readonly starts: { [dof: string]: number } = {};

  constructor(
    private readonly view: View,
    private readonly joint: JointView,
    private readonly solver: LinkDragSolver,
    ray: ReturnType<View["ray"]>,
  ) {
    for (const { dof, value } of solver(ray)) this.starts[dof.name] = value;
    drag.joint = joint.name;
    beginGesture();
  }

  move(event: Place): void {
    const { joint } = this;
    const targets = this.solver(this.view.ray(event));
    const first = targets.find((target) => target.held) ?? targets[0];
    if (!first) return;
    if (first.held && !this.limitShown) {
      const name = joint.name.split("/").at(-1) ?? joint.name;
      const at = formatSI(first.value, first.dof.unit, store.degrees);
      toast({ level: "warning", text: `${name} is at its limit, ${at}. It stops here.` });
      this.limitShown = true;
    }
    drag.dof = first.dof;
    drag.value = first.value;
    drag.held = first.held;
    drag.values = Object.fromEntries(targets.map(({ dof, value }) => [dof.signal, value]));
    const glyph = motionOf(joint) !== null && joint.dofs.length === 1;
    drag.words = glyph
      ? ""
      : targets
          .map(({ dof, value }) => `${dof.name} ${formatSI(value, dof.unit, store.degrees)}`)
          .join("  ");
    for (const { dof, value } of targets) want(joint, dof, value);
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
