import { Group } from "three";
import type { JointView, SceneMessage } from "../protocol/messages";
import { show } from "../app/show";
import { store } from "../app/store";
import { drag } from "../app/drag";
import { AnchorMarks } from "./anchorMarks";
import type { Bodies } from "./bodies";
import { BodyFrames } from "./bodyFrames";
import { CameraCones } from "./cameraCones";
import { ContactArrows, markScale } from "./contactArrows";
import { JointForces } from "./jointForces";
import { JointGlyph } from "./jointGlyph";
import { nearestJoint } from "./linkDrag";
import { PullLine } from "./pullLine";
import { SensorRays } from "./sensorRays";
import { tool } from "./tool";
import { Trace } from "./trace";
import type { View } from "./view";

/** Displays around the bodies: glyphs, contacts, frames, centers, traces, the pull. */
export class Marks {
  readonly root = new Group();
  readonly glyph = new JointGlyph();
  readonly contacts = new ContactArrows();
  readonly held = new JointForces();
  readonly anchors = new AnchorMarks();
  readonly frames = new BodyFrames();
  readonly rays = new SensorRays();
  readonly cones = new CameraCones();
  readonly trace = new Trace();
  private readonly pull = new PullLine();

  constructor() {
    this.root.add(
      this.glyph.root,
      this.contacts.root,
      this.held.root,
      this.anchors.root,
      this.frames.root,
      this.rays.root,
      this.cones.root,
      this.trace.root,
      this.pull.root,
    );
  }

  build(scene: SceneMessage): void {
    this.held.build();
    this.anchors.build(scene);
    this.frames.build(scene);
    this.rays.build(scene);
    this.cones.build(scene);
    this.trace.clear();
  }

  recolor(): void {
    this.glyph.recolor();
    this.contacts.recolor();
    this.held.recolor();
    this.anchors.recolor();
    this.frames.recolor();
    this.rays.recolor();
    this.cones.recolor();
    this.trace.recolor();
    this.pull.recolor();
    tool.current?.recolor();
  }

  update(views: View[], bodies: Bodies): void {
    this.glyph.update(show.glyphs ? shownJoint() : null, views, bodies);
    this.contacts.update(store.contacts, show.contacts, show.forces, markScale(bodies.smallest()));
    this.held.update(store.forces, show.held, views, bodies);
    this.anchors.update(show.anchors, bodies);
    this.frames.update(bodies);
    this.rays.update(show.rays, bodies);
    this.cones.update(show.rays, bodies);
    this.trace.update(show.traces, bodies);
    this.pull.update(bodies);
    tool.current?.update(views, bodies);
  }

  /** Computes the positions of visible marks. */
  settle(): void {
    for (const each of this.root.children) if (each.visible) each.updateMatrixWorld();
  }
}

/** The dragged or selected joint, or the joint of the selection. */
function shownJoint(): JointView | null {
  const scene = store.scene;
  const chosen = store.selection.at(-1);
  const name = drag.joint ?? (chosen?.kind === "joint" ? chosen.name : null);
  if (!scene) return null;
  if (name !== null) return scene.joints.find((joint) => joint.name === name) ?? null;
  const element = scene.elements.find((e) => chosen?.kind === "element" && e.name === chosen.name);
  return element ? nearestJoint(scene.joints, element.body) : null;
}
