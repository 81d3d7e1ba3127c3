import { Vector3, type Matrix4 } from "three";
import type { Hand } from "./hands";

export type Layer = "axis" | "arc" | "ends" | "sector" | "actual" | "wanted";
/** Triangles of each layer, in the world. */
export type Strokes = Record<Layer, number[]>;

const STEP = Math.PI / 36;
/** Range near a limit that is marked [rad]. */
const NEAR_LIMIT = (12 * Math.PI) / 180;

/** Triangles of a ring sector in the xy plane between two radii and two angles [rad]. */
export function ribbon(inner: number, outer: number, from: number, to: number): number[] {
  const segments = Math.max(1, Math.ceil(Math.abs(to - from) / STEP));
  const out: number[] = [];
  for (let i = 0; i < segments; i++) {
    const a = from + ((to - from) * i) / segments;
    const b = from + ((to - from) * (i + 1)) / segments;
    const p = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)] as const;
    out.push(
      p[0] * inner,
      p[1] * inner,
      0,
      p[0] * outer,
      p[1] * outer,
      0,
      p[2] * outer,
      p[3] * outer,
      0,
    );
    out.push(
      p[0] * inner,
      p[1] * inner,
      0,
      p[2] * outer,
      p[3] * outer,
      0,
      p[2] * inner,
      p[3] * inner,
      0,
    );
  }
  return out;
}

/** Triangles of a thin three-sided bar between two points. */
export function bar(from: Vector3, to: Vector3, radius: number): number[] {
  const along = to.clone().sub(from);
  if (along.length() < 1e-9) return [];
  along.normalize();
  const side = new Vector3(Math.abs(along.x) < 0.9 ? 1 : 0, Math.abs(along.x) < 0.9 ? 0 : 1, 0)
    .projectOnPlane(along)
    .normalize();
  const other = along.clone().cross(side);
  const corners = [0, 1, 2, 3].map((k) => {
    const angle = (k * Math.PI) / 2;
    return side
      .clone()
      .multiplyScalar(Math.cos(angle) * radius)
      .addScaledVector(other, Math.sin(angle) * radius);
  });
  const out: number[] = [];
  corners.forEach((corner, i) => {
    const next = corners[(i + 1) % corners.length]!;
    const a = from.clone().add(corner);
    const b = from.clone().add(next);
    const c = to.clone().add(next);
    const d = to.clone().add(corner);
    for (const p of [a, b, c, a, c, d]) out.push(p.x, p.y, p.z);
  });
  return out;
}

function put(out: number[], matrix: Matrix4, positions: number[]): void {
  const p = new Vector3();
  for (let i = 0; i < positions.length; i += 3) {
    p.fromArray(positions, i).applyMatrix4(matrix);
    out.push(p.x, p.y, p.z);
  }
}

/** A rotational degree of freedom: axis, range, its last 12°, sector from zero and two needles. */
export function dial(out: Strokes, hand: Hand, r: number): void {
  const { matrix, lo, hi, actual, wanted } = hand;
  const from = lo ?? -Math.PI;
  const to = hi ?? Math.PI;
  const end = Math.min(NEAR_LIMIT, (to - from) / 4);
  const thin = 0.018 * r;
  const tip = (angle: number, k: number): Vector3 =>
    new Vector3(Math.cos(angle) * r * k, Math.sin(angle) * r * k, 0);
  put(out.axis, matrix, bar(new Vector3(0, 0, -1.5 * r), new Vector3(0, 0, 1.5 * r), thin));
  put(out.arc, matrix, ribbon(r - thin, r + thin, from, to));
  put(out.sector, matrix, ribbon(0, r, 0, actual));
  if (lo !== null) put(out.ends, matrix, ribbon(0.72 * r, r, from, from + end));
  if (hi !== null) put(out.ends, matrix, ribbon(0.72 * r, r, to - end, to));
  put(out.actual, matrix, bar(tip(actual, 0.15), tip(actual, 1), 1.6 * thin));
  if (wanted !== null)
    put(out.wanted, matrix, bar(tip(wanted, 0.15), tip(wanted, 1.08), 1.6 * thin));
}

/** A translational degree of freedom: track beside its axis, ends of its range, two needles. */
export function track(out: Strokes, hand: Hand, r: number): void {
  const { matrix, lo, hi, actual, wanted } = hand;
  const from = lo ?? Math.min(-r, actual - r);
  const to = hi ?? Math.max(r, actual + r);
  const thin = 0.02 * r;
  const side = 0.5 * r;
  const end = 0.05 * (to - from);
  const at = (z: number, x: number): Vector3 => new Vector3(x, 0, z);
  put(out.axis, matrix, bar(at(from - 0.1 * r, 0), at(to + 0.1 * r, 0), thin));
  put(out.arc, matrix, bar(at(from, side), at(to, side), thin));
  if (lo !== null) put(out.ends, matrix, bar(at(from, side), at(from + end, side), 3 * thin));
  if (hi !== null) put(out.ends, matrix, bar(at(to - end, side), at(to, side), 3 * thin));
  put(out.sector, matrix, bar(at(0, side), at(actual, side), 4 * thin));
  put(out.actual, matrix, bar(at(actual, 0), at(actual, side * 1.2), 1.5 * thin));
  if (wanted !== null)
    put(out.wanted, matrix, bar(at(wanted, 0), at(wanted, side * 1.3), 1.5 * thin));
}

/** One of the three rotations of a ball joint. */
export function ring(out: Strokes, { matrix }: Hand, r: number): void {
  const thin = 0.012 * r;
  put(out.arc, matrix, ribbon(r - thin, r + thin, -Math.PI, Math.PI));
}

/** A curved track: its last twentieths marked, needles across it. */
export function rail(out: Strokes, { points, lo, hi, actual, wanted }: Hand, r: number): void {
  const thin = 0.02 * r;
  const count = points.length - 1;
  points.slice(1).forEach((to, i) => {
    const near = i < count * 0.05 || i >= count * 0.95;
    (near ? out.ends : out.arc).push(...bar(points[i]!, to, near ? 3 * thin : thin));
  });
  const from = lo ?? 0;
  // The points are evenly spaced, so their length is the range if the file has none.
  const way = points.slice(1).reduce((sum, to, i) => sum + to.distanceTo(points[i]!), 0);
  const range = hi === null ? way : hi - from;
  const needle = (value: number, height: number): number[] => {
    const part = range > 0 ? Math.min(1, Math.max(0, (value - from) / range)) : 0;
    const i = Math.min(count - 1, Math.floor(part * count));
    const [a, b] = [points[i], points[i + 1]];
    if (!a || !b) return [];
    const foot = a.clone().lerp(b, part * count - i);
    return bar(foot, foot.clone().add(new Vector3(0, 0, height * r)), 1.6 * thin);
  };
  out.actual.push(...needle(actual, 0.5));
  if (wanted !== null) out.wanted.push(...needle(wanted, 0.6));
}
