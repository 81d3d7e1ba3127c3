import { Group, Quaternion, Vector3 } from "three";
import { formatFine } from "../app/numbers";
import { reach } from "../app/reach";
import { isDriver, store } from "../app/store";
import { announce } from "../app/topics";
import type { Bodies, ShapeMesh } from "../views/bodies";
import type { LinkDrag, Place } from "../views/linkDrag";
import type { Tool } from "../views/tool";
import type { View } from "../views/view";
import { CloudPoints } from "./cloudPoints";
import { CollidingFaces } from "./collidingFaces";
import { drawnLengths, EllipsoidMark } from "./ellipsoid";
import { Gizmo } from "./gizmo";
import type { Handle, Stand } from "./handles";
import { NearLines } from "./nearLines";
import { FIGURE, LENGTHS } from "./numbers";
import { ChainDrag, HandleDrag, mayReach } from "./toolDrag";
import { ToolTrace } from "./toolTrace";
import { ViewLabels, type Words } from "./viewLabels";

/** The dragged tool: its gizmo, and everything drawn around it. */
export class ReachTool implements Tool {
  readonly root = new Group();
  readonly gizmo = new Gizmo();
  readonly ellipsoid = new EllipsoidMark();
  readonly trace = new ToolTrace();
  readonly near = new NearLines();
  readonly cloud = new CloudPoints();
  readonly faces = new CollidingFaces();
  private readonly labels = new ViewLabels();
  /** Target pose of the active drag. */
  private wanted: Stand | null = null;
  /** The frame whose trace is drawn. */
  private traced = "";

  constructor() {
    this.root.add(
      this.cloud.root,
      this.faces.root,
      this.ellipsoid.root,
      this.trace.root,
      this.near.root,
      this.gizmo.root,
    );
    this.recolor();
  }

  recolor(): void {
    for (const each of [this.gizmo, this.ellipsoid, this.trace, this.near, this.cloud, this.faces])
      each.recolor();
  }

  update(views: View[], bodies: Bodies): void {
    const { numbers, setup, shows } = reach;
    const tool = standOf(numbers, 0);
    this.root.visible = setup !== null && tool !== null;
    if (!this.root.visible || !tool || !numbers || !setup) {
      this.labels.draw(views, []);
      return;
    }
    const target = this.wanted ?? standOf(numbers, 7) ?? tool;
    const turn = reach.own ? target.turn : new Quaternion();
    this.gizmo.stand = { place: target.place, turn };
    this.gizmo.root.visible = isDriver() && !store.scene?.replay;
    this.ellipsoid.update(numbers, setup.ellipsoid, shows.ellipsoid);
    const of = `${store.shown} ${setup.tip}`;
    if (of !== this.traced) this.trace.clear();
    this.traced = of;
    this.trace.update(numbers, shows.trace);
    this.cloud.update(shows.cloud);
    this.faces.update(reach.near, bodies, shows.collisions);
    const near = this.near.update(reach.near, setup.keep, shows.distances);
    this.labels.draw(views, shows.ellipsoid ? [figure(numbers, tool), ...near] : near);
  }

  face(view: View): void {
    if (this.root.visible) this.gizmo.face(view, reach.turns);
  }

  hover(view: View, place: Place | null): boolean {
    const hot = place && this.root.visible ? this.gizmo.near(view, place, reach.turns) : null;
    if (hot !== this.gizmo.hot && !this.wanted) {
      this.gizmo.hot = hot;
      announce("tool");
    }
    return hot !== null;
  }

  grab(view: View, place: Place): (() => LinkDrag | null) | null {
    const handle = this.root.visible ? this.gizmo.near(view, place, reach.turns) : null;
    if (!handle) return null;
    return () => (mayReach() ? this.drag(view, handle, place) : null);
  }

  private drag(view: View, handle: Handle, from: Place): LinkDrag | null {
    const tool = standOf(reach.numbers, 0);
    const { stand } = this.gizmo;
    if (!tool || !stand) return null;
    this.gizmo.hot = handle;
    return new HandleDrag(view, handle, tool, stand, from, (wanted) => {
      this.wanted = wanted;
      if (!wanted) this.gizmo.hot = null;
      announce("tool");
    });
  }

  link(view: View, piece: ShapeMesh, at: Vector3, from: Place): LinkDrag | null | undefined {
    const { scene, poses } = store;
    if (!this.root.visible || !scene || !poses || !carried(piece.element.body)) return undefined;
    return mayReach() ? new ChainDrag(view, piece, at, from, poses) : null;
  }
}

/** Label with the figure of the ellipsoid. */
function figure(numbers: Float64Array, { place }: Stand): Words {
  const longest = Math.max(
    ...drawnLengths(numbers.subarray(LENGTHS, LENGTHS + 3), reach.setup?.ellipsoid ?? "velocity"),
  );
  const at = place.clone().setZ(place.z - 0.7 * longest);
  return { at, text: `w ${formatFine(numbers[FIGURE]!, 4)}`, tone: "" };
}

/** Whether one of the movable joints carries a body. */
function carried(body: number): boolean {
  const joints = store.scene?.joints ?? [];
  for (let at = body, steps = 0; steps <= joints.length; steps++) {
    const joint = joints.find((each) => each.body === at);
    if (!joint) return false;
    if (reach.joints.includes(joint.name)) return true;
    at = joint.parent;
  }
  return false;
}

/** A pose in an array of numbers; null if there is none. */
function standOf(numbers: Float64Array | null, at: number): Stand | null {
  if (!numbers || !Number.isFinite(numbers[at]!)) return null;
  const [x, y, z, w, i, j, k] = numbers.subarray(at, at + 7);
  return { place: new Vector3(x, y, z), turn: new Quaternion(i!, j!, k!, w!) };
}
