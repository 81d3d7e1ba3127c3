import { Box3, Vector3 } from "three";
import { drag } from "../app/drag";
import { on } from "../app/topics";
import { store } from "../app/store";
import type { Bodies, ShapeMesh } from "./bodies";
import { followed } from "./follow";
import type { Highlight } from "./highlight";
import { nextViewpoint, type Preset } from "./presets";
import type { View } from "./view";

/** Interval of the check whether something has left a fitted view [ms]. */
const LOOK_MS = 250;
/** Bodies farther away than this multiple of the fitted size are ignored. */
const LOST = 3;
/** Margin around a framed selection. */
const AROUND = 1.5;

/** Targets of the cameras: everything, the selection, a side, a viewpoint, or a followed body. */
export class CameraTargets {
  private seen = -1;
  private body: number | null = null;
  private looked = 0;
  private later: number | undefined;
  /** Bounds of everything visible since the views were fitted, and the size then [m]. */
  private readonly been = new Box3();
  private size = 0;
  private readonly last = new Vector3();

  constructor(
    private readonly views: View[],
    private readonly bodies: Bodies,
    private readonly highlight: Highlight,
    private readonly refresh: () => void,
  ) {
    on("layout", () => this.beginFollowing());
    on("drag", () => this.keepInSight());
  }

  /** Fits the whole scene once its shapes and poses have arrived. */
  arrive(): void {
    const scene = store.scene;
    if (!scene || this.seen === store.shown || !store.poses) return;
    const shapes = scene.elements.reduce((n, e) => n + e.shapes.length, 0);
    if (this.bodies.shapeMeshes.length < shapes) return;
    this.seen = store.shown;
    this.fit(this.views, "once");
  }

  /** Fits everything, also after the view is resized. */
  fit(views: View[] = this.views, at: "glide" | "once" = "glide"): void {
    const corners = this.bodies.corners();
    this.been.setFromPoints(corners);
    this.size = this.been.getSize(new Vector3()).length();
    this.show(views, corners, at);
  }

  private show(views: View[], points: Vector3[], at: "glide" | "once"): void {
    for (const view of views) {
      view.measure();
      view.camera.fit(points, at);
      view.camera.fitted = true;
    }
    this.refresh();
  }

  /** Zooms out if something moves out of a fitted view. */
  private widen(): void {
    // During a drag, a moving camera would move the dragged object.
    if (this.size === 0 || drag.joint !== null || drag.pull !== null) return;
    if (this.later !== undefined) return;
    const now = performance.now();
    const wait = this.looked + LOOK_MS - now;
    if (wait > 0) {
      // Objects that come to rest meanwhile are not announced again.
      this.later = window.setTimeout(() => {
        this.later = undefined;
        this.widen();
      }, wait);
      return;
    }
    this.looked = now;
    const middle = this.been.getCenter(new Vector3());
    const corners = this.bodies
      .corners()
      .filter((corner) => corner.distanceTo(middle) < LOST * this.size);
    const left = this.views.filter(
      (view) => view.camera.fitted && corners.some((corner) => !view.shows(corner)),
    );
    if (left.length === 0) return;
    for (const corner of corners) this.been.expandByPoint(corner);
    this.show(left, cornersOf(this.been), "glide");
  }

  /** After a view has changed its size. */
  refit(): void {
    const views = this.views.filter((view) => view.measure() && view.camera.fitted);
    if (views.length > 0) this.fit(views, "once");
  }

  /** Fits the selection, or everything if nothing is selected. */
  frame(shapeMeshes: ShapeMesh[] = this.highlight.selected()): void {
    const corners = this.bodies.corners(shapeMeshes);
    if (corners.length === 0) return this.fit();
    for (const view of this.views) {
      view.measure();
      view.camera.fit(corners, "glide", AROUND);
      view.camera.fitted = false;
    }
    this.refresh();
  }

  choose(view: View, preset: Preset): void {
    const { fitted } = view.camera;
    view.choose(preset);
    if (fitted) this.fit([view]);
    this.refresh();
  }

  /** The next viewpoint of the scene, or the one of this name. */
  viewpoint(view: View, name?: string): void {
    const all = store.scene?.viewpoints ?? [];
    const found =
      name === undefined
        ? nextViewpoint(all, view.camera.viewpoint)
        : all.find((each) => each.name === name);
    if (!found) return;
    view.lookFrom(found);
    this.refresh();
  }

  /** Resets every view. */
  reset(): void {
    for (const view of this.views) view.choose(view.slot);
    this.fit();
  }

  private beginFollowing(): void {
    const body = followed();
    if (body === this.body) return;
    this.body = body;
    const group = body === null ? undefined : this.bodies.groups[body];
    if (!group) return;
    this.last.setFromMatrixPosition(group.matrix);
    this.views.forEach((view) => view.camera.center(this.last));
    this.refresh();
  }

  /** Called after bodies have moved, and after a drag. */
  keepInSight(): void {
    const group = this.body === null ? undefined : this.bodies.groups[this.body];
    if (!group) return this.widen();
    const now = new Vector3().setFromMatrixPosition(group.matrix);
    const by = now.clone().sub(this.last);
    this.views.forEach((view) => view.camera.shift(by));
    this.last.copy(now);
  }
}

function cornersOf({ min, max }: Box3): Vector3[] {
  return [min.x, max.x].flatMap((x) =>
    [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => new Vector3(x, y, z))),
  );
}
