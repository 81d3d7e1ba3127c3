/** Offsets of the numbers in the protocol's REACH. */
export const LENGTHS = 14;
export const AXES = 17;
export const FIGURE = 26;
export const DAMPING = 27;
export const MISS = 28;
export const MOVING = 30;
export const JUMPS = 31;
export const COLUMNS = 32;
export const JACOBIAN = 33;
