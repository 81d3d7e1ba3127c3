import {
  BufferGeometry,
  Color,
  ConeGeometry,
  DoubleSide,
  Group,
  Line,
  LineBasicMaterial,
  Mesh,
  MeshBasicMaterial,
  Object3D,
  PlaneGeometry,
  SphereGeometry,
  TorusGeometry,
  Vector3,
  type Material,
} from "three";
import { token } from "../app/theme";
import type { View } from "../views/view";
import {
  axesOf,
  distanceTo,
  INNER,
  LENGTH_PX,
  MOVES,
  OUTER,
  RING,
  TURNS,
  usable,
  type Handle,
  type Stand,
} from "./handles";

const AXES = ["axis-x", "axis-y", "axis-z"];
const ORDER = 680;
const SHAFT_END = 0.92;

/** Arrows, squares and rings at the tool, at constant screen size; drawn over everything. */
export class Gizmo {
  readonly root = new Group();
  stand: Stand | null = null;
  /** The handle under the pointer or being dragged. */
  hot: Handle | null = null;
  private readonly parts: { handle: Handle; object: Object3D; paint: MeshBasicMaterial[] }[] = [];
  private readonly lines: LineBasicMaterial[] = [];

  constructor() {
    for (const handle of [...MOVES, ...TURNS]) {
      const object = new Group();
      const paint = make(handle, object, this.lines);
      object.traverse((each) => (each.renderOrder = ORDER));
      this.parts.push({ handle, object, paint });
      this.root.add(object);
    }
    this.root.visible = false;
  }

  /** The handles of the present mode. */
  handles(turns: boolean): Handle[] {
    return turns ? TURNS : MOVES;
  }

  recolor(): void {
    for (const { handle, paint } of this.parts) {
      const color = new Color(token(handle.axis < 0 ? "accent" : AXES[handle.axis]!));
      for (const each of paint) each.color = color;
    }
    this.lines.forEach((each, axis) => (each.color = new Color(token(AXES[axis]!))));
  }

  /** Scales it for a view, and hides handles that cannot be used there. */
  face(view: View, turns: boolean): void {
    if (!this.stand) return;
    const { place, turn } = this.stand;
    this.root.position.copy(place);
    this.root.quaternion.copy(turn);
    this.root.scale.setScalar(LENGTH_PX * view.pixelAt(place));
    const shown = this.handles(turns);
    const axes = axesOf(turn);
    const sight = view.camera.camera.getWorldDirection(new Vector3());
    for (const { handle, object, paint } of this.parts) {
      object.visible = shown.includes(handle) && usable(handle, axes, sight);
      const hot = this.hot === handle;
      for (const each of paint) each.opacity = hot ? 1 : handle.kind === "square" ? 0.35 : 0.8;
    }
    this.root.updateMatrixWorld();
  }

  /** The handle nearest to the pointer, if one is near. */
  near(view: View, place: { clientX: number; clientY: number }, turns: boolean): Handle | null {
    const { stand } = this;
    if (!stand || !this.root.visible) return null;
    const box = view.element.getBoundingClientRect();
    const pointer = { x: place.clientX - box.left, y: place.clientY - box.top };
    const axes = axesOf(stand.turn);
    const sight = view.camera.camera.getWorldDirection(new Vector3());
    let best: Handle | null = null;
    let least = Infinity;
    for (const handle of this.handles(turns)) {
      if (!usable(handle, axes, sight)) continue;
      const far = distanceTo(handle, stand, view, pointer);
      if (far < least) [best, least] = [handle, far];
    }
    return best;
  }
}

/** Draws a handle along its axis; returns its fill materials. */
function make(handle: Handle, into: Object3D, lines: LineBasicMaterial[]): MeshBasicMaterial[] {
  const fill = (geometry: BufferGeometry): Mesh<BufferGeometry, MeshBasicMaterial> =>
    new Mesh(
      geometry,
      new MeshBasicMaterial({ transparent: true, depthTest: false, side: DoubleSide }),
    );
  const made: Mesh<BufferGeometry, MeshBasicMaterial>[] = [];
  if (handle.kind === "ball") made.push(fill(new SphereGeometry(0.085, 20, 14)));
  if (handle.kind === "arrow") {
    const head = fill(new ConeGeometry(0.06, 0.2, 16));
    head.position.y = SHAFT_END + 0.1;
    const paint = new LineBasicMaterial({ transparent: true, depthTest: false });
    const ends = [new Vector3(0, 0.1, 0), new Vector3(0, SHAFT_END, 0)];
    const shaft: Line<BufferGeometry, Material> = new Line(
      new BufferGeometry().setFromPoints(ends),
      paint,
    );
    lines[handle.axis] = paint;
    into.add(shaft);
    made.push(head);
    // Along y like the cone geometry; rotated to its own axis.
    if (handle.axis === 0) into.rotation.z = -Math.PI / 2;
    if (handle.axis === 2) into.rotation.x = Math.PI / 2;
  }
  if (handle.kind === "square") {
    const side = fill(new PlaneGeometry(OUTER - INNER, OUTER - INNER));
    const middle = (INNER + OUTER) / 2;
    side.position.set(middle, middle, 0);
    made.push(side);
    // In the x-y plane like the geometry; axis 0 is across y and z, axis 1 across z and x.
    if (handle.axis === 0) into.rotation.set(Math.PI / 2, Math.PI / 2, 0);
    if (handle.axis === 1) into.rotation.set(-Math.PI / 2, 0, -Math.PI / 2);
  }
  if (handle.kind === "ring") {
    made.push(fill(new TorusGeometry(RING, 0.018, 8, 72)));
    if (handle.axis === 0) into.rotation.y = Math.PI / 2;
    if (handle.axis === 1) into.rotation.x = Math.PI / 2;
  }
  into.add(...made);
  return made.map((mesh) => mesh.material);
}
