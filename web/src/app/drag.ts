import type { Dof } from "../protocol/messages";

/** The drag under way, if any; other pieces show it. */
export const drag = {
  /** Name of the joint being moved, or null. */
  joint: null as string | null,
  /** The degree of freedom that the drag is mostly about. */
  dof: null as Dof | null,
  /** Its wanted value [rad or m]. */
  value: 0,
  /** Wanted values by the signal that measures them. */
  values: {} as Record<string, number>,
  /** Whether the joint is at its limit and stops there. */
  held: false,
  /** What the drag does, in words, for the label at the pointer; empty where a glyph says it. */
  words: "",
  /** A pull: where it holds and where it pulls to, in the world [m], and how stiffly [N/m]. */
  pull: null as {
    element: string;
    point: [number, number, number];
    target: [number, number, number];
    stiffness: number;
    /** What the spring pulls with now [N]. */
    force: number;
  } | null,
};
