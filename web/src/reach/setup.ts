import type { ReachAim, ReachSetup, SceneMessage } from "../protocol/messages";
import { expectSetup, reach } from "../app/reach";
import { command } from "../app/session";
import { primary, store } from "../app/store";

/** The tool's position, weighted above its orientation; then the initial posture. */
export const USUAL: ReachAim[] = [
  aim("position", 0, 1),
  aim("orientation", 0, 0.2),
  aim("posture", 1, 0.1),
];

export function aim(
  kind: ReachAim["kind"],
  priority: number,
  weight: number,
  frame = "",
): ReachAim {
  return { kind, priority, weight, frame, point: [0, 0, 0] };
}

/** The default setup of a dragged tool. */
export function usual(tip: string): ReachSetup {
  return {
    tip,
    point: [0, 0, 0],
    first: "",
    aims: USUAL,
    damping: "smallest",
    damping_value: 0.05,
    keep: null,
    itself: false,
    hold: false,
    ellipsoid: "velocity",
  };
}

/** Requests another setup: the present one with some changes. */
export function change(changes: Partial<ReachSetup>): void {
  if (reach.setup) put({ ...reach.setup, ...changes });
}

function put(setup: ReachSetup): void {
  if (command({ type: "set_reach", setup })) expectSetup(setup);
}

/** Selects another tool: the chain is reset, and control points of the old robot are dropped. */
export function chooseTip(tip: string): void {
  const old = reach.setup ?? usual(tip);
  const aims = old.aims.filter((each) => each.kind !== "point");
  put({ ...old, tip, first: "", aims });
}

/** Number of joints that carry a body. */
function depth(scene: SceneMessage, body: number): number {
  let count = 0;
  for (let at = body, steps = 0; steps <= scene.joints.length; steps++) {
    const joint = scene.joints.find((each) => each.body === at);
    if (!joint) return count;
    if (joint.dofs.length > 0 && joint.type !== "free") count++;
    at = joint.parent;
  }
  return count;
}

export interface Tip {
  name: string;
  kind: "anchor" | "element";
  depth: number;
}

/** All possible tools: anchors, then elements carried by a joint, distal ones first. */
export function tips(scene: SceneMessage): Tip[] {
  const anchors = scene.anchors.map(({ name, body }) => ({ name, kind: "anchor" as const, body }));
  const elements = scene.elements.map(({ name, body }) => ({
    name,
    kind: "element" as const,
    body,
  }));
  const found = [...anchors, ...elements].map(({ name, kind, body }) => ({
    name,
    kind,
    depth: depth(scene, body),
  }));
  return found
    .filter((each) => each.depth > 0)
    .sort((a, b) => (a.kind === b.kind ? b.depth - a.depth : a.kind === "anchor" ? -1 : 1));
}

/** The default tool: the selection, or the frame carried by most joints. */
export function firstTip(): string | null {
  if (!store.scene) return null;
  const all = tips(store.scene);
  const chosen = all.find((each) => each.name === primary()?.name);
  const most = Math.max(0, ...all.map((each) => each.depth));
  return (chosen ?? all.find((each) => each.depth === most))?.name ?? null;
}
