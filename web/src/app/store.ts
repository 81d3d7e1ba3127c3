import type { Attributes, FindingView, People, Refused, Scene, Status } from "../protocol/messages";
import type { LinkState } from "../protocol/connection";

export type Kind = "scene" | "part" | "element" | "joint" | "anchor" | "sensor" | "agent" | "loop";

export interface Thing {
  kind: Kind;
  name: string;
}

export interface Note {
  level: string;
  text: string;
  source: string;
  /** Simulated step, or null for the scene's own findings. */
  step: number | null;
}

/** Everything the page knows. Pieces read it and announce what they change. */
export const store = {
  link: "connecting" as LinkState,
  linkReason: "",
  version: "",
  you: "",
  /** Where other machines reach the studio; empty where they cannot. */
  address: "",
  people: { type: "people", driver: null, people: [], asks: null } as People,
  scene: null as Scene | null,
  status: null as Status | null,
  undo: { can_undo: false, can_redo: false, dirty: false },
  owners: {} as Record<string, string>,
  attributes: null as Attributes | null,
  refused: null as Refused | null,
  notes: [] as Note[],
  findings: [] as FindingView[],
  poses: null as Float32Array | null,
  ghost: null as Float32Array | null,
  contacts: null as Float32Array | null,
  poseTime: 0,
  selection: [] as Thing[],
  hover: null as Thing | null,
  degrees: true,
};

/** The thing whose attributes are shown: the one selected last. */
export function primary(): Thing | null {
  return store.selection.at(-1) ?? null;
}

export function isDriver(): boolean {
  return store.people.driver !== null && store.people.driver === store.you;
}

export function same(a: Thing | null, b: Thing | null): boolean {
  return a?.kind === b?.kind && a?.name === b?.name;
}
