import { Group } from "three";
import { store, type Thing } from "../app/store";
import { token } from "../app/theme";
import { drag } from "../app/drag";
import type { Bodies, ShapeMesh } from "./bodies";
import { Outline } from "./outline";

/** Outlines of the selection and of the hovered object. */
export class Highlight {
  readonly root = new Group();
  private readonly chosen = new Outline(1, 2, 900);
  private readonly near = new Outline(2, 1, 890, 0.6);

  constructor(private readonly bodies: Bodies) {
    this.root.add(this.near.root, this.chosen.root);
  }

  /** The pieces of an object: an element's own, or the body of a joint. */
  shapeMeshes(thing: Thing): ShapeMesh[] {
    const scene = store.scene;
    if (!scene) return [];
    if (thing.kind === "element") return this.bodies.of(thing.name);
    if (thing.kind === "joint") {
      const joint = scene.joints.find((j) => j.name === thing.name);
      return joint ? this.bodies.onBody(joint.body) : [];
    }
    if (thing.kind === "part") {
      return this.bodies.shapeMeshes.filter(
        ({ element }) => element.part === thing.name || element.name.startsWith(`${thing.name}/`),
      );
    }
    if (thing.kind === "anchor") {
      const anchor = scene.anchors.find((a) => a.name === thing.name);
      return anchor ? this.bodies.of(anchor.on) : [];
    }
    return [];
  }

  selected(): ShapeMesh[] {
    return [...new Set(store.selection.flatMap((thing) => this.shapeMeshes(thing)))];
  }

  update(): void {
    const dragged = drag.joint ? this.shapeMeshes({ kind: "joint", name: drag.joint }) : [];
    this.chosen.around([...new Set([...this.selected(), ...dragged])]);
    this.near.around(store.hover ? this.shapeMeshes(store.hover) : []);
  }

  follow(): void {
    this.chosen.follow();
    this.near.follow();
  }

  resize(width: number, height: number): void {
    this.chosen.resize(width, height);
    this.near.resize(width, height);
  }

  recolor(): void {
    this.chosen.recolor(token("accent"));
    this.near.recolor(token("text"));
  }
}
