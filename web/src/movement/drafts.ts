/** Edits of a movement as pure functions: a draft in, a draft out. */
import type { JointLimits, MovementDraft, PostureDraft } from "../protocol/messages";

export type LimitName = keyof JointLimits;

function withPostures(draft: MovementDraft, postures: PostureDraft[]): MovementDraft {
  return { ...draft, postures };
}

function others(values: Record<string, number>, joint: string): Record<string, number> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== joint));
}

/** Sets a joint's value; without one the joint is interpolated through the posture. */
export function withValue(
  draft: MovementDraft,
  at: number,
  joint: string,
  value: number | null,
): MovementDraft {
  return withPostures(
    draft,
    draft.postures.map((posture, n) => {
      if (n !== at) return posture;
      if (value !== null) return { ...posture, joints: { ...posture.joints, [joint]: value } };
      return {
        ...posture,
        joints: others(posture.joints, joint),
        speeds: others(posture.speeds, joint),
      };
    }),
  );
}

/** Moves the posture to another time [s], rounded to milliseconds. */
export function withTime(draft: MovementDraft, at: number, time: number): MovementDraft {
  const rounded = Math.max(0, Math.round(time * 1000) / 1000);
  return withPostures(
    draft,
    draft.postures.map((posture, n) => (n === at ? { ...posture, time: rounded } : posture)),
  );
}

/** Why a posture cannot have a time; empty if it can. */
export function whyNotAt(draft: MovementDraft, at: number, time: number): string {
  if (!(time >= 0)) return "A time is 0 s or more.";
  const rounded = Math.round(time * 1000) / 1000;
  return draft.postures.some((posture, n) => n !== at && posture.time === rounded)
    ? `There is a posture at ${rounded} s already. Give it another time.`
    : "";
}

export function without(draft: MovementDraft, at: number): MovementDraft {
  return withPostures(
    draft,
    draft.postures.filter((_, n) => n !== at),
  );
}

/** A copy between the posture and the next, or half a second after the last; and its index. */
export function duplicated(draft: MovementDraft, at: number): [MovementDraft, number] {
  const posture = draft.postures[at]!;
  const next = draft.postures[at + 1];
  const middle = next ? (posture.time + next.time) / 2 : posture.time + 0.5;
  const copy = { ...posture, time: Math.round(middle * 1000) / 1000 };
  const postures = [...draft.postures];
  postures.splice(at + 1, 0, copy);
  return [withPostures(draft, postures), at + 1];
}

/** Swaps the posture with a neighbor; the times stay. */
export function exchanged(draft: MovementDraft, at: number, by: 1 | -1): MovementDraft {
  const other = at + by;
  if (!draft.postures[other]) return draft;
  return withPostures(
    draft,
    draft.postures.map((posture, n) => {
      const from = n === at ? other : n === other ? at : n;
      return { ...draft.postures[from]!, time: posture.time };
    }),
  );
}

/** Interpolation or planner of the movement, as one name. */
export function mannerOf(draft: MovementDraft): string {
  return draft.planner || draft.interpolation;
}

const INTERPOLATIONS: readonly string[] = ["linear", "smooth", "hold"];

export function withManner(draft: MovementDraft, manner: string): MovementDraft {
  return INTERPOLATIONS.includes(manner)
    ? {
        ...draft,
        interpolation: manner as MovementDraft["interpolation"],
        planner: "",
        limits: {},
        postures: draft.postures.map((posture) => ({ ...posture, speeds: {}, planner: "" })),
      }
    : { ...draft, planner: manner as MovementDraft["planner"] };
}

/** The common limit of some joints; null for none, NaN if they differ. */
export function limitOf(draft: MovementDraft, joints: string[], limit: LimitName): number | null {
  const found = new Set(joints.map((joint) => draft.limits[joint]?.[limit] ?? null));
  return found.size > 1 ? Number.NaN : ([...found][0] ?? null);
}

export function withLimit(
  draft: MovementDraft,
  joints: string[],
  limit: LimitName,
  value: number | null,
): MovementDraft {
  const limits = { ...draft.limits };
  for (const joint of joints) {
    const old = limits[joint] ?? { speed: null, acceleration: null, jerk: null };
    limits[joint] = { ...old, [limit]: value };
  }
  return { ...draft, limits };
}

/** The joints that a draft names. */
export function named(draft: MovementDraft): Set<string> {
  return new Set(draft.postures.flatMap((posture) => Object.keys(posture.joints)));
}

/** Ticks of a time line [s]: at least its end, at round steps in a limited number. */
export function ticks(end: number): number[] {
  const step =
    [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((each) => end / each <= 12) ?? end / 10;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, n) => n * step);
}
