import { Vector3 } from "three";

const STEP = Math.PI / 36;

/** Triangles of a ring piece in the xy plane between two radii and two angles [rad]. */
export function ribbon(inner: number, outer: number, from: number, to: number): number[] {
  const pieces = Math.max(1, Math.ceil(Math.abs(to - from) / STEP));
  const out: number[] = [];
  for (let i = 0; i < pieces; i++) {
    const a = from + ((to - from) * i) / pieces;
    const b = from + ((to - from) * (i + 1)) / pieces;
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
