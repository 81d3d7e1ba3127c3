import {
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  LatheGeometry,
  PlaneGeometry,
  SphereGeometry,
  Vector2,
} from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { ShapeView } from "../protocol/messages";
import { blob } from "./blobs";

const known = new Map<string, BufferGeometry>();
const ROUND = 40;

/** The surface of a shape, shared by all shapes of the same kind and size. */
export async function surface(shape: ShapeView): Promise<BufferGeometry> {
  const key = shape.mesh ? `mesh ${shape.mesh}` : `${shape.kind} ${shape.size.join(" ")}`;
  const old = known.get(key);
  if (old) return old;
  const made = shape.mesh ? await fetchMesh(shape.mesh) : primitive(shape.kind, shape.size);
  known.set(key, made);
  return made;
}

function primitive(kind: string, size: number[]): BufferGeometry {
  const [a = 0.1, b = 0.1, c = 0.1] = size;
  switch (kind) {
    case "box":
      return new RoundedBoxGeometry(a, b, c, 2, Math.min(a, b, c) * 0.06);
    case "cylinder":
      return turned(a, a, b);
    case "cone":
      return turned(a, size[2] ?? 0, b);
    case "sphere":
      return new SphereGeometry(a, ROUND, ROUND / 2).rotateX(Math.PI / 2);
    case "capsule":
      return new CapsuleGeometry(a, b, 10, ROUND).rotateX(Math.PI / 2);
    case "plane":
      return new PlaneGeometry(a || 20, b || 20);
    default:
      throw new Error(`The client cannot draw a shape of kind ${kind}.`);
  }
}

/** A solid of revolution along z with chamfered edges: bottom and top radius, length [m]. */
function turned(bottom: number, top: number, length: number): BufferGeometry {
  const half = length / 2;
  const edge = Math.min(bottom, top || bottom, half) * 0.05;
  const profile = [new Vector2(0, -half), new Vector2(Math.max(bottom - edge, 0), -half)];
  profile.push(new Vector2(bottom, -half + edge), new Vector2(top, half - (top > 0 ? edge : 0)));
  if (top > 0) profile.push(new Vector2(top - edge, half), new Vector2(0, half));
  return sharp(new LatheGeometry(profile, ROUND).rotateX(Math.PI / 2));
}

/** Lathe surfaces are smoothed along the profile; flat rings need split corners. */
function sharp(lathe: BufferGeometry): BufferGeometry {
  const flat = lathe.toNonIndexed();
  const at = flat.getAttribute("position");
  flat.computeVertexNormals();
  const normal = flat.getAttribute("normal");
  // Smooth around the axis: the normal of a wall has only z and radial components.
  for (let i = 0; i < at.count; i++) {
    const z = normal.getZ(i);
    const r = Math.hypot(at.getX(i), at.getY(i));
    const level = Math.sqrt(Math.max(0, 1 - z * z));
    if (r > 1e-9 && level > 1e-3)
      normal.setXYZ(i, (at.getX(i) / r) * level, (at.getY(i) / r) * level, z);
  }
  return flat;
}

async function fetchMesh(hash: string): Promise<BufferGeometry> {
  const data = await blob(hash);
  if (!data) throw new Error(`Mesh ${hash.slice(0, 8)} could not be loaded.`);
  const [vertices = 0, triangles = 0] = new Uint32Array(data, 0, 2);
  const indexed = new BufferGeometry();
  indexed.setAttribute("position", new BufferAttribute(new Float32Array(data, 8, vertices * 3), 3));
  indexed.setIndex(new BufferAttribute(new Uint32Array(data, 8 + vertices * 12, triangles * 3), 1));
  return toCreasedNormals(indexed, Math.PI / 5);
}
