import type { WorkspaceCloudState, ReachState, ReachSetup } from "../protocol/messages";
import { store } from "./store";
import { announce, on } from "./topics";

/** State of the dragged tool; its code is loaded on demand. */
export const reach = {
  setup: null as ReachSetup | null,
  /** Joints that carry the tool, the first one first. */
  chain: [] as string[],
  /** Joints that may move; none while the solver is being prepared. */
  joints: [] as string[],
  /** Degrees of freedom of the Jacobian's columns. */
  columns: [] as string[],
  /** The tool's state, in the layout of the protocol's REACH. */
  numbers: null as Float64Array | null,
  /** Nearby shapes, in the layout of the protocol's NEAR. */
  near: null as Float32Array | null,
  cloud: null as WorkspaceCloudState | null,
  /** The enabled displays. */
  shows: { ellipsoid: true, distances: true, trace: true, collisions: true, cloud: true },
  /** Whether the gizmo has arrows or rings, and whether it is aligned with the tool's axes. */
  turns: false,
  own: false,
};

export type ReachShow = keyof typeof reach.shows;

/** Loads the code that draws and drags the tool. */
let bring: () => Promise<unknown> = () => Promise.resolve();

export function bringReach(load: () => Promise<unknown>): void {
  bring = load;
}

/** The setup that the session confirmed last, and the requested one that is not confirmed yet. */
let confirmed: ReachSetup | null = null;
let asked: ReachSetup | null = null;

/** Builds on a requested setup: the next change may come before the answer. */
export function expectSetup(setup: ReachSetup): void {
  reach.setup = asked = setup;
  announce("reach");
}

/** The request failed: the session's setup applies. */
function giveUpAsking(): void {
  if (!asked) return;
  asked = null;
  reach.setup = confirmed;
  announce("reach");
}
on("refused", () => store.refused?.what === "set_reach" && giveUpAsking());
on("link", giveUpAsking);

/** Whether two objects are equal, regardless of key order. */
export function alike(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([key, value]) => alike(value, right.get(key)));
}

export function receiveReaching({ setup, chain, joints, columns }: ReachState): void {
  confirmed = setup;
  // The answer to an earlier change must not revert a later one.
  if (!setup || alike(setup, asked)) asked = null;
  reach.setup = asked ?? setup;
  reach.chain = chain;
  reach.joints = joints;
  reach.columns = columns;
  if (!setup) reach.numbers = reach.near = null;
  if (setup) void bring().then(() => announce("reach"));
  announce("reach");
}

export function receiveCloud(cloud: WorkspaceCloudState): void {
  reach.cloud = cloud.count > 0 ? cloud : null;
  announce("cloud");
}

/** Shows arrows or rings at the tool. */
export function turnGizmo(turns: boolean): void {
  reach.turns = turns;
  announce("reach");
}

/** Whether distances are requested: for drawing, or for collisions. */
export function looksNear(): boolean {
  return reach.setup !== null && (reach.shows.distances || reach.shows.collisions);
}
