/** The drag under way, if any; other pieces show it. */
export const drag = {
  /** Name of the joint being turned, or null. */
  joint: null as string | null,
  /** Wanted value [rad or m]. */
  value: 0,
  /** Whether the joint is at its limit and stops there. */
  held: false,
  /** A pull: where it holds and where it pulls to, in the world [m]. */
  pull: null as {
    element: string;
    point: [number, number, number];
    target: [number, number, number];
  } | null,
};
