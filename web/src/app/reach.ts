import type { Cloud, Reaching, ReachSetup } from "../protocol/messages";
import { store } from "./store";
import { announce, on } from "./topics";

/** What the page knows of the tool that is dragged; the code about it comes when one is. */
export const reach = {
  setup: null as ReachSetup | null,
  /** Joints that carry the tool, the first one first. */
  chain: [] as string[],
  /** Joints that may move; none while the mathematics are being made ready. */
  joints: [] as string[],
  /** Degrees of freedom that its Jacobian has columns of. */
  columns: [] as string[],
  /** The tool as the session has it, as the protocol's REACH says. */
  numbers: null as Float64Array | null,
  /** What is near, as the protocol's NEAR says. */
  near: null as Float32Array | null,
  cloud: null as Cloud | null,
  /** What is drawn. */
  shows: { ellipsoid: true, distances: true, trace: true, collisions: true, cloud: true },
  /** Whether arrows or rings are at the tool, and whether they stand along its own axes. */
  turns: false,
  own: false,
};

export type ReachShow = keyof typeof reach.shows;

/** Brings what draws and drags the tool. */
let bring: () => Promise<unknown> = () => Promise.resolve();

export function bringReach(load: () => Promise<unknown>): void {
  bring = load;
}

/** The setup as the session told it last, and the one asked for that it has not told yet. */
let told: ReachSetup | null = null;
let asked: ReachSetup | null = null;

/** Builds on a setup that was asked for: the next change may come before the answer. */
export function expectSetup(setup: ReachSetup): void {
  reach.setup = asked = setup;
  announce("reach");
}

/** What was asked for does not come: what the session has, holds. */
function giveUpAsking(): void {
  if (!asked) return;
  asked = null;
  reach.setup = told;
  announce("reach");
}
on("refused", () => store.refused?.what === "set_reach" && giveUpAsking());
on("link", giveUpAsking);

/** Whether two things say the same, in whatever order. */
export function alike(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([key, value]) => alike(value, right.get(key)));
}

export function receiveReaching({ setup, chain, joints, columns }: Reaching): void {
  told = setup;
  // The answer to an earlier change must not take a later one back.
  if (!setup || alike(setup, asked)) asked = null;
  reach.setup = asked ?? setup;
  reach.chain = chain;
  reach.joints = joints;
  reach.columns = columns;
  if (!setup) reach.numbers = reach.near = null;
  if (setup) void bring().then(() => announce("reach"));
  announce("reach");
}

export function receiveCloud(cloud: Cloud): void {
  reach.cloud = cloud.count > 0 ? cloud : null;
  announce("cloud");
}

/** Arrows at the tool, or rings. */
export function turnGizmo(turns: boolean): void {
  reach.turns = turns;
  announce("reach");
}

/** Whether distances are asked for: to be drawn, or for what touches. */
export function looksNear(): boolean {
  return reach.setup !== null && (reach.shows.distances || reach.shows.collisions);
}
