import type {
  Attributes,
  FindingView,
  People,
  Refused,
  SceneMessage,
  Status,
  UndoState,
} from "../protocol/messages";
import type { LinkState, RefusalReason } from "../protocol/connection";

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

/** The page's state. Components read it and announce their changes. */
export const store = {
  link: "connecting" as LinkState,
  /** What users read about the connection. */
  linkText: "",
  /** Why the server rejects this client. */
  linkReason: "" as RefusalReason,
  version: "",
  you: "",
  /** Identifies requests of this page. */
  key: "",
  /** The studio's address for other machines; empty if they cannot reach it. */
  address: "",
  people: { type: "people", driver: null, people: [], requester: null } as People,
  scene: null as SceneMessage | null,
  /** Counts the displayed scenes; an edited or saved scene does not count again. */
  shown: 0,
  /** The name of the scene being opened; empty for none. */
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
    is_own_file: true,
    suggestion: "",
  } as UndoState,
  /** Whether a TOML copy of the scene was requested, which has the same objects. */
  converting: false,
  /** A requested rename; the selection follows when the scene arrives. */
  renaming: null as { thing: Thing; to: string } | null,
  owners: {} as Record<string, string>,
  attributes: null as Attributes | null,
  refused: null as Refused | null,
  notes: [] as Note[],
  findings: [] as FindingView[],
  poses: null as Float32Array | null,
  ghost: null as Float32Array | null,
  contacts: null as Float32Array | null,
  /** Constraint forces of joints and loops: position, force and index of each. */
  forces: null as Float32Array | null,
  poseTime: 0,
  selection: [] as Thing[],
  hover: null as Thing | null,
  degrees: true,
};

/** The object whose attributes are shown: the one selected last. */
export function primary(): Thing | null {
  return store.selection.at(-1) ?? null;
}

export function isDriver(): boolean {
  return store.people.driver !== null && store.people.driver === store.you;
}

/** Whether these attributes belong to the displayed object. */
export function ofPrimary(attributes: Attributes | null): boolean {
  const thing = primary();
  return thing !== null && attributes?.name === thing.name && attributes.kind === thing.kind;
}

export function same(a: Thing | null, b: Thing | null): boolean {
  return a?.kind === b?.kind && a?.name === b?.name;
}

/** Whether a scene has an object. */
export function exists(scene: SceneMessage, { kind, name }: Thing): boolean {
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
