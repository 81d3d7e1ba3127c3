import { Vector3 } from "three";

/** Margin around the fitted points, relative to the half height and width of a view. */
export interface Room {
  top: number;
  bottom: number;
  side: number;
}

export interface Fitted {
  target: Vector3;
  /** Half of the visible height at the target [m]. */
  half: number;
}

const LEAST = 0.02;

/**
 * The nearest camera placement from which every point is visible.
 *
 * In a frustum with tangent t a point (x, y, z toward the eye) is visible from distance d when |x −
 * c| ≤ t (d − z); both sides together give d ≥ (max(x + t z) + max(−x + t z)) / 2t.
 *
 * @param right - unit vectors of the view: to the right, up, and towards the eye
 * @param slope - tangent of half the vertical field of view; 0 for a parallel projection
 */
export function fitPoints(
  points: Vector3[],
  [right, up, out]: [Vector3, Vector3, Vector3],
  aspect: number,
  slope: number,
  room: Room,
): Fitted {
  const origin = centerOf(points);
  const seen = points.map((point) => {
    const p = point.clone().sub(origin);
    return { x: p.dot(right), y: p.dot(up), z: p.dot(out) };
  });
  const flat = slope === 0;
  const unit = flat ? 1 : slope;
  const wide = unit * aspect * (1 - room.side);
  const high = unit * (1 - room.top);
  const low = unit * (1 - room.bottom);
  const most = (of: (p: { x: number; y: number; z: number }) => number): number =>
    Math.max(...seen.map(of));
  const depth = (t: number, z: number): number => (flat ? 0 : t * z);
  const rightmost = most((p) => p.x + depth(wide, p.z));
  const leftmost = most((p) => -p.x + depth(wide, p.z));
  const highest = most((p) => p.y + depth(high, p.z));
  const lowest = most((p) => -p.y + depth(low, p.z));
  const distance = Math.max(
    LEAST / unit,
    (rightmost + leftmost) / (2 * wide),
    (highest + lowest) / (high + low),
  );
  const x = (rightmost - leftmost) / 2;
  const y = (highest - high * distance + (low * distance - lowest)) / 2;
  return {
    target: origin.clone().addScaledVector(right, x).addScaledVector(up, y),
    half: distance * unit,
  };
}

function centerOf(points: Vector3[]): Vector3 {
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = low.clone().negate();
  for (const point of points) {
    low.min(point);
    high.max(point);
  }
  return low.add(high).multiplyScalar(0.5);
}
