import type { ReachAim, ReachSetup, Scene } from "../protocol/messages";
import { expectSetup, reach } from "../app/reach";
import { command } from "../app/session";
import { primary, store } from "../app/store";

/** The tool's place more than its turn, then the posture that it began with. */
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

/** How a tool is dragged if nothing else is said. */
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

/** Asks for another setup: the present one with some changes. */
export function change(changes: Partial<ReachSetup>): void {
  if (reach.setup) put({ ...reach.setup, ...changes });
}

function put(setup: ReachSetup): void {
  if (command({ type: "set_reach", setup })) expectSetup(setup);
}

/** Another tool: its chain begins anew, and control points are those of the old robot. */
export function chooseTip(tip: string): void {
  const old = reach.setup ?? usual(tip);
  const aims = old.aims.filter((each) => each.kind !== "point");
  put({ ...old, tip, first: "", aims });
}

/** How many joints carry a body. */
function depth(scene: Scene, body: number): number {
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

/** Everything that can be a tool: it hangs on a joint. Anchors first, those far out before. */
export function tips(scene: Scene): Tip[] {
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

/** The tool to begin with: what is selected, or what most joints carry. */
export function firstTip(): string | null {
  if (!store.scene) return null;
  const all = tips(store.scene);
  const chosen = all.find((each) => each.name === primary()?.name);
  const most = Math.max(0, ...all.map((each) => each.depth));
  return (chosen ?? all.find((each) => each.depth === most))?.name ?? null;
}
