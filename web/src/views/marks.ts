import { Group } from "three";
import type { JointView, Scene } from "../protocol/messages";
import { show } from "../app/show";
import { store } from "../app/store";
import { drag } from "../app/drag";
import type { Bodies } from "./bodies";
import { BodyFrames } from "./bodyFrames";
import { CameraCones } from "./cameraCones";
import { ContactArrows, markScale } from "./contactArrows";
import { JointGlyph } from "./jointGlyph";
import { nearestJoint } from "./linkDrag";
import { PullLine } from "./pullLine";
import { SensorRays } from "./sensorRays";
import { Trace } from "./trace";
import type { View } from "./view";

/** What is drawn about the bodies: glyphs, contacts, frames, centres, traces, the pull. */
export class Marks {
  readonly root = new Group();
  readonly glyph = new JointGlyph();
  readonly contacts = new ContactArrows();
  readonly frames = new BodyFrames();
  readonly rays = new SensorRays();
  readonly cones = new CameraCones();
  readonly trace = new Trace();
  private readonly pull = new PullLine();

  constructor() {
    this.root.add(
      this.glyph.root,
      this.contacts.root,
      this.frames.root,
      this.rays.root,
      this.cones.root,
      this.trace.root,
      this.pull.root,
    );
  }

  build(scene: Scene): void {
    this.frames.build(scene);
    this.rays.build(scene);
    this.cones.build(scene);
    this.trace.clear();
  }

  recolor(): void {
    this.glyph.recolor();
    this.contacts.recolor();
    this.frames.recolor();
    this.rays.recolor();
    this.cones.recolor();
    this.trace.recolor();
    this.pull.recolor();
  }

  update(views: View[], bodies: Bodies): void {
    this.glyph.update(show.glyphs ? shownJoint() : null, views, bodies);
    this.contacts.update(store.contacts, show.contacts, show.forces, markScale(bodies.smallest()));
    this.frames.update(bodies);
    this.rays.update(show.rays, bodies);
    this.cones.update(show.rays, bodies);
    this.trace.update(show.traces, bodies);
    this.pull.update(bodies);
  }
}

/** The joint that is dragged or selected, or that carries what is selected. */
function shownJoint(): JointView | null {
  const scene = store.scene;
  const chosen = store.selection.at(-1);
  const name = drag.joint ?? (chosen?.kind === "joint" ? chosen.name : null);
  if (!scene) return null;
  if (name !== null) return scene.joints.find((joint) => joint.name === name) ?? null;
  const element = scene.elements.find((e) => chosen?.kind === "element" && e.name === chosen.name);
  return element ? nearestJoint(scene.joints, element.body) : null;
}
