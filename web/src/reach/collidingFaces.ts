import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from "three";
import { store } from "../app/store";
import { token } from "../app/theme";
import type { Bodies, ShapeMesh } from "../views/bodies";
import { facesOf, nearest, surfaceOf } from "./faces";
import { ROW } from "./nearLines";
import { crossing, type Triangles } from "./triangles";

/** Maximum number of checked pairs, and minimum time between checks of faces [ms]. */
const MOST = 6;
const REST = 80;

/** The faces of penetrating shapes, one by one, in red. */
export class CollidingFaces {
  private readonly paint = new MeshBasicMaterial({
    side: DoubleSide,
    transparent: true,
    opacity: 0.85,
    polygonOffset: true,
    polygonOffsetFactor: -4,
    polygonOffsetUnits: -4,
  });
  readonly root = new Mesh(new BufferGeometry(), this.paint);
  /** Names of the elements that collide, pair by pair. */
  pairs: [string, string][] = [];
  private rows: Float32Array | null = null;
  private last = 0;

  constructor() {
    this.root.frustumCulled = false;
    this.root.renderOrder = 600;
  }

  recolor(): void {
    this.paint.color = new Color(token("err"));
  }

  /** Number of colored triangles. */
  get count(): number {
    return (this.root.geometry.getAttribute("position")?.count ?? 0) / 3;
  }

  update(rows: Float32Array | null, bodies: Bodies, on: boolean): void {
    this.root.visible = on;
    const now = performance.now();
    if (rows === this.rows || (on && now - this.last < REST)) return;
    this.rows = rows;
    this.last = now;
    this.pairs = [];
    const found: Triangles[] = [];
    for (let at = 0; on && rows && at < rows.length && rows[at + 6]! < 0; at += ROW) {
      if (this.pairs.length === MOST) break;
      const a = pieceOf(bodies, rows[at + 7]!, rows[at + 8]!);
      const b = pieceOf(bodies, rows[at + 9]!, rows[at + 10]!);
      if (!a || !b) continue;
      this.pairs.push([a.element.name, b.element.name]);
      const [one, two] = [surfaceOf(a), surfaceOf(b)];
      const [mine, theirs] = crossing(one.triangles, two.triangles);
      // A shape that is wholly inside crosses no face: the face next to the deepest point is used.
      const place = (from: number): Vector3 => new Vector3().fromArray(rows, at + from);
      found.push(facesOf(one, mine.length > 0 ? mine : nearest(one, place(0))));
      found.push(facesOf(two, theirs.length > 0 ? theirs : nearest(two, place(3))));
    }
    this.draw(found);
  }

  private draw(found: Triangles[]): void {
    const size = found.reduce((sum, each) => sum + each.length, 0);
    if (size === 0 && this.count === 0) return;
    const positions = new Float32Array(size);
    let at = 0;
    for (const each of found) {
      positions.set(each, at);
      at += each.length;
    }
    this.root.geometry.dispose();
    this.root.geometry = new BufferGeometry().setAttribute(
      "position",
      new BufferAttribute(positions, 3),
    );
  }
}

/** A piece by the indices of its element and of the shape within it. */
function pieceOf(bodies: Bodies, element: number, shape: number): ShapeMesh | undefined {
  const of = store.scene?.elements[element];
  return bodies.shapeMeshes.find((each) => each.element === of && each.shape === of?.shapes[shape]);
}
