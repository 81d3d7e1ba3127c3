import type { Dof } from "../protocol/messages";

/** The active drag, if any, shown by other components. */
export const drag = {
  /** Name of the joint being moved, or null. */
  joint: null as string | null,
  /** The main degree of freedom of the drag. */
  dof: null as Dof | null,
  /** Its target [rad or m]. */
  value: 0,
  /** Targets by the signal that measures them. */
  values: {} as Record<string, number>,
  /** Whether the joint is at its limit. */
  held: false,
  /** Text for the label at the pointer; empty if a glyph shows the drag. */
  words: "",
  /** A pull: its point and target in the world [m], and its stiffness [N/m]. */
  pull: null as {
    element: string;
    point: [number, number, number];
    target: [number, number, number];
    stiffness: number;
    /** Present force of the spring [N]. */
    force: number;
  } | null,
};
