import { Quaternion, Vector3, type Ray } from "three";
import { HingeDrag, intersectPlane, SliderDrag } from "../views/jointDrag";
import type { View } from "../views/view";

/** A handle of the gizmo: along an axis, in a plane across it, about it, or in the middle. */
export interface Handle {
  kind: "arrow" | "square" | "ring" | "ball";
  /** Index of the gizmo's axis; −1 for the middle. */
  axis: number;
}

/** A position and a rotation. */
export interface Stand {
  place: Vector3;
  turn: Quaternion;
}

/** Dimensions relative to the gizmo's length: start and end of squares, radius of rings. */
export const INNER = 0.28;
export const OUTER = 0.52;
export const RING = 0.82;
/** Its length, and the pick distance of the pointer [px]. */
export const LENGTH_PX = 84;
const NEAR_PX = 9;
/** Above this cosine an axis points at the eye; below the other a ring is seen edge-on. */
const AT_EYE = 0.96;
const EDGE_ON = 0.12;

export const MOVES: Handle[] = [
  { kind: "ball", axis: -1 },
  ...[0, 1, 2].map((axis): Handle => ({ kind: "arrow", axis })),
  ...[0, 1, 2].map((axis): Handle => ({ kind: "square", axis })),
];
export const TURNS: Handle[] = [0, 1, 2].map((axis): Handle => ({ kind: "ring", axis }));

/** The axes of the gizmo in the world, unit vectors. */
export function axesOf(turn: Quaternion): Vector3[] {
  return [
    new Vector3(1, 0, 0).applyQuaternion(turn),
    new Vector3(0, 1, 0).applyQuaternion(turn),
    new Vector3(0, 0, 1).applyQuaternion(turn),
  ];
}

/** Whether a handle can be used from this view direction. */
export function usable(handle: Handle, axes: Vector3[], sight: Vector3): boolean {
  if (handle.axis < 0) return true;
  const along = Math.abs(axes[handle.axis]!.dot(sight));
  if (handle.kind === "arrow") return along < AT_EYE;
  return along > (handle.kind === "ring" ? EDGE_ON : 0.2);
}

/** Distance of a pointer [px of the view] to a handle [px]; infinite if far away. */
export function distanceTo(
  handle: Handle,
  stand: Stand,
  view: View,
  pointer: { x: number; y: number },
): number {
  const length = LENGTH_PX * view.pixelAt(stand.place);
  const axes = axesOf(stand.turn);
  const seen = (x: Vector3): { x: number; y: number } =>
    view.project(x) ?? { x: Infinity, y: Infinity };
  const at = (a: number, b: number, c: number): Vector3 =>
    stand.place
      .clone()
      .addScaledVector(axes[0]!, a * length)
      .addScaledVector(axes[1]!, b * length)
      .addScaledVector(axes[2]!, c * length);
  const along = (axis: number, far: number): Vector3 =>
    at(axis === 0 ? far : 0, axis === 1 ? far : 0, axis === 2 ? far : 0);
  switch (handle.kind) {
    case "ball":
      return near(apart(seen(stand.place), pointer));
    case "arrow":
      return near(
        toSegment(pointer, seen(along(handle.axis, 0.2)), seen(along(handle.axis, 1.12))),
      );
    case "square": {
      const [b, c] = [(handle.axis + 1) % 3, (handle.axis + 2) % 3];
      const corner = (u: number, v: number): { x: number; y: number } =>
        seen(at(...(spread(b, u, c, v) as [number, number, number])));
      const ring = [
        corner(INNER, INNER),
        corner(OUTER, INNER),
        corner(OUTER, OUTER),
        corner(INNER, OUTER),
      ];
      return inside(pointer, ring) ? 0.5 : Infinity;
    }
    case "ring": {
      const [b, c] = [(handle.axis + 1) % 3, (handle.axis + 2) % 3];
      let best = Infinity;
      let last: { x: number; y: number } | null = null;
      for (let i = 0; i <= 48; i++) {
        const angle = (i / 48) * 2 * Math.PI;
        const spot = spread(b, RING * Math.cos(angle), c, RING * Math.sin(angle));
        const here = seen(at(...(spot as [number, number, number])));
        if (last) best = Math.min(best, toSegment(pointer, last, here));
        last = here;
      }
      return near(best);
    }
  }
}

const near = (px: number): number => (px <= NEAR_PX ? px : Infinity);

function spread(b: number, u: number, c: number, v: number): number[] {
  const made = [0, 0, 0];
  made[b] = u;
  made[c] = v;
  return made;
}

type Spot = { x: number; y: number };
const apart = (a: Spot, b: Spot): number => Math.hypot(a.x - b.x, a.y - b.y);

function toSegment(p: Spot, a: Spot, b: Spot): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const long = dx * dx + dy * dy;
  if (!Number.isFinite(long)) return Infinity;
  const part = long > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / long : 0;
  const t = Math.min(1, Math.max(0, part));
  return apart(p, { x: a.x + t * dx, y: a.y + t * dy });
}

function inside(p: Spot, corners: Spot[]): boolean {
  let odd = false;
  corners.forEach((a, i) => {
    const b = corners[(i + 1) % corners.length]!;
    if (a.y > p.y !== b.y > p.y && p.x < ((b.x - a.x) * (p.y - a.y)) / (b.y - a.y) + a.x)
      odd = !odd;
  });
  return odd;
}

/** Maps the pointer's ray to the target pose of the tool. */
export type Follow = (ray: Ray) => { stand: Stand; moved: Vector3; turned: number };

/** Returns the mapping of a handle that is dragged from a ray. */
export function follow(handle: Handle, tool: Stand, gizmo: Stand, view: View, ray: Ray): Follow {
  const sight = ray.direction.clone();
  const origin = gizmo.place.clone();
  const axis = axesOf(gizmo.turn)[Math.max(0, handle.axis)]!;
  const moved = (by: Vector3): ReturnType<Follow> => ({
    stand: { place: tool.place.clone().add(by), turn: tool.turn.clone() },
    moved: by,
    turned: 0,
  });
  if (handle.kind === "arrow") {
    const up = new Vector3().setFromMatrixColumn(view.camera.camera.matrixWorld, 1);
    const slide = new SliderDrag({ pivot: origin, axis }, origin, sight, up);
    const start = slide.change(ray);
    return (now) => moved(axis.clone().multiplyScalar(slide.change(now) - start));
  }
  if (handle.kind === "ring") {
    const grab = intersectPlane(ray, origin, axis) ?? origin.clone().add(sight);
    const turn = new HingeDrag({ pivot: origin, axis }, grab, sight, view.pixelAt(origin));
    const start = turn.change(ray);
    return (now) => {
      const angle = turn.change(now) - start;
      const by = new Quaternion().setFromAxisAngle(axis, angle);
      return {
        stand: { place: tool.place.clone(), turn: by.multiply(tool.turn) },
        moved: new Vector3(),
        turned: angle,
      };
    };
  }
  const normal = handle.kind === "square" ? axis : sight;
  const start = intersectPlane(ray, origin, normal);
  let last = new Vector3();
  return (now) => {
    const at = intersectPlane(now, origin, normal);
    if (at && start) last = at.sub(start);
    return moved(last.clone());
  };
}
