import type {
  Attributes,
  FindingView,
  People,
  Refused,
  Scene,
  Status,
  UndoState,
} from "../protocol/messages";
import type { LinkState } from "../protocol/connection";

export type Kind =
  | "scene"
  | "part"
  | "element"
  | "joint"
  | "anchor"
  | "sensor"
  | "agent"
  | "loop"
  | "posture"
  | "light"
  | "viewpoint";

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
  /** Shows in a request that it is of this page. */
  key: "",
  /** Where other machines reach the studio; empty where they cannot. */
  address: "",
  people: { type: "people", driver: null, people: [], asks: null } as People,
  scene: null as Scene | null,
  /** Counts the scenes that were shown; one that is edited or saved elsewhere is no other. */
  shown: 0,
  /** What was asked to be opened and is not there yet; empty for nothing. */
  opening: "",
  status: null as Status | null,
  undo: {
    type: "undo",
    can_undo: false,
    can_redo: false,
    dirty: false,
    undo: "",
    redo: "",
    files: [],
    own: true,
    suggestion: "",
  } as UndoState,
  /** Whether a copy of the scene in TOML was asked for, which shows the same things. */
  converting: false,
  /** A rename that was asked for; the selection follows when the scene comes back. */
  renaming: null as { thing: Thing; to: string } | null,
  owners: {} as Record<string, string>,
  attributes: null as Attributes | null,
  refused: null as Refused | null,
  notes: [] as Note[],
  findings: [] as FindingView[],
  poses: null as Float32Array | null,
  ghost: null as Float32Array | null,
  contacts: null as Float32Array | null,
  /** What holds joints and loops: place, force and number of each. */
  forces: null as Float32Array | null,
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

/** Whether attributes are those of the thing whose attributes are shown. */
export function ofPrimary(attributes: Attributes | null): boolean {
  const thing = primary();
  return thing !== null && attributes?.name === thing.name && attributes.kind === thing.kind;
}

export function same(a: Thing | null, b: Thing | null): boolean {
  return a?.kind === b?.kind && a?.name === b?.name;
}

/** Whether a scene has a thing. */
export function exists(scene: Scene, { kind, name }: Thing): boolean {
  const named = (list: { name: string }[]): boolean => list.some((each) => each.name === name);
  switch (kind) {
    case "scene":
      return true;
    case "part":
      return [...scene.elements, ...scene.joints].some((each) => each.name.startsWith(`${name}/`));
    case "posture":
      return scene.postures.includes(name);
    default:
      return named(scene[`${kind}s`]);
  }
}
