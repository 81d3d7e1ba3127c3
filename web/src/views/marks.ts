import { Group } from "three";
import type { Scene } from "../protocol/messages";
import { show } from "../app/show";
import { store } from "../app/store";
import { drag } from "../app/drag";
import type { Bodies } from "./bodies";
import { BodyFrames } from "./bodyFrames";
import { ContactArrows } from "./contactArrows";
import { JointGlyph } from "./jointGlyph";
import { PullLine } from "./pullLine";
import { Trace } from "./trace";
import type { View } from "./view";

/** What is drawn about the bodies: glyphs, contacts, frames, centres, traces, the pull. */
export class Marks {
  readonly root = new Group();
  private readonly glyph = new JointGlyph();
  private readonly contacts = new ContactArrows();
  private readonly frames = new BodyFrames();
  private readonly trace = new Trace();
  private readonly pull = new PullLine();

  constructor() {
    this.root.add(
      this.glyph.root,
      this.contacts.root,
      this.frames.root,
      this.trace.root,
      this.pull.root,
    );
  }

  build(scene: Scene): void {
    this.frames.build(scene);
    this.trace.clear();
  }

  recolor(): void {
    this.glyph.recolor();
    this.contacts.recolor();
    this.trace.recolor();
    this.pull.recolor();
  }

  update(views: View[], bodies: Bodies): void {
    const scene = store.scene;
    const chosen = store.selection.at(-1);
    const name = drag.joint ?? (chosen?.kind === "joint" ? chosen.name : null);
    const joint = scene?.joints.find((j) => j.name === name) ?? null;
    this.glyph.update(show.glyphs ? joint : null, views, bodies);
    this.contacts.update(store.contacts, show.contacts, show.forces);
    this.frames.update(bodies);
    this.trace.update(show.traces, bodies);
    this.pull.update(bodies);
  }
}
