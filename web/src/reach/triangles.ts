/** Intersection of surfaces: triangles are nine numbers each, all in one frame. */

export type Triangles = Float32Array;

/** Bounding boxes of triangles: minimum and maximum x y z, six numbers each. */
function boxes(all: Triangles): Float32Array {
  const made = new Float32Array((all.length / 9) * 6);
  for (let t = 0, b = 0; t < all.length; t += 9, b += 6) {
    for (let c = 0; c < 3; c++) {
      const [p, q, r] = [all[t + c]!, all[t + 3 + c]!, all[t + 6 + c]!];
      made[b + c] = Math.min(p, q, r);
      made[b + 3 + c] = Math.max(p, q, r);
    }
  }
  return made;
}

/** The bounding box of some boxes. */
function whole(all: Float32Array): number[] {
  const made = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let b = 0; b < all.length; b += 6)
    for (let c = 0; c < 3; c++) {
      made[c] = Math.min(made[c]!, all[b + c]!);
      made[c + 3] = Math.max(made[c + 3]!, all[b + 3 + c]!);
    }
  return made;
}

function meets(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): boolean {
  for (let c = 0; c < 3; c++)
    if (a[i + c]! > b[j + 3 + c]! || b[j + c]! > a[i + 3 + c]!) return false;
  return true;
}

/** Indices of the triangles of each surface that cross one of the other. */
export function crossing(a: Triangles, b: Triangles): [number[], number[]] {
  const [around, beside] = [boxes(a), boxes(b)];
  const [all, other] = [whole(around), whole(beside)];
  const near: number[] = [];
  for (let j = 0; j < beside.length / 6; j++) if (meets(beside, 6 * j, all, 0)) near.push(j);
  const found: [Set<number>, Set<number>] = [new Set(), new Set()];
  for (let i = 0; i < around.length / 6; i++) {
    if (!meets(around, 6 * i, other, 0)) continue;
    for (const j of near) {
      if (found[0].has(i) && found[1].has(j)) continue;
      if (!meets(around, 6 * i, beside, 6 * j) || !cross(a, 9 * i, b, 9 * j)) continue;
      found[0].add(i);
      found[1].add(j);
    }
  }
  return [[...found[0]], [...found[1]]];
}

/** Whether two triangles cross: an edge of one intersects the other. */
function cross(a: Triangles, i: number, b: Triangles, j: number): boolean {
  for (let e = 0; e < 3; e++) {
    if (pierces(a, i + 3 * e, i + 3 * ((e + 1) % 3), b, j)) return true;
    if (pierces(b, j + 3 * e, j + 3 * ((e + 1) % 3), a, i)) return true;
  }
  return false;
}

/** Whether the segment between two corners intersects a triangle (Möller and Trumbore). */
function pierces(a: Triangles, from: number, to: number, b: Triangles, t: number): boolean {
  const [dx, dy, dz] = [a[to]! - a[from]!, a[to + 1]! - a[from + 1]!, a[to + 2]! - a[from + 2]!];
  const [ux, uy, uz] = [b[t + 3]! - b[t]!, b[t + 4]! - b[t + 1]!, b[t + 5]! - b[t + 2]!];
  const [vx, vy, vz] = [b[t + 6]! - b[t]!, b[t + 7]! - b[t + 1]!, b[t + 8]! - b[t + 2]!];
  const [px, py, pz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
  const size = ux * px + uy * py + uz * pz;
  if (Math.abs(size) < 1e-18) return false;
  const [sx, sy, sz] = [a[from]! - b[t]!, a[from + 1]! - b[t + 1]!, a[from + 2]! - b[t + 2]!];
  const u = (sx * px + sy * py + sz * pz) / size;
  if (u < 0 || u > 1) return false;
  const [qx, qy, qz] = [sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux];
  const v = (dx * qx + dy * qy + dz * qz) / size;
  if (v < 0 || u + v > 1) return false;
  const along = (vx * qx + vy * qy + vz * qz) / size;
  return along >= 0 && along <= 1;
}
