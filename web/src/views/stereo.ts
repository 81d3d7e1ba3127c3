import type { PerspectiveCamera, Scene, WebGLRenderer } from "three";
import type { Stereo } from "../app/layout";
import { announce } from "../app/topics";

interface Effect {
  setSize(width: number, height: number): void;
  render(scene: Scene, camera: PerspectiveCamera): void;
}

/** Pictures for two eyes; the effects are fetched when first chosen. */
export class StereoDrawing {
  private effects = new Map<Stereo, Effect>();
  private asked = new Set<Stereo>();

  constructor(private readonly renderer: WebGLRenderer) {}

  draw(kind: Stereo, scene: Scene, camera: PerspectiveCamera, distance: number): void {
    const effect = this.effects.get(kind);
    this.renderer.setScissorTest(false);
    const { clientWidth: w, clientHeight: h } = this.renderer.domElement;
    this.renderer.setViewport(0, 0, w, h);
    this.renderer.clear();
    camera.focus = distance;
    if (!effect) {
      this.renderer.render(scene, camera);
      if (!this.asked.has(kind)) void this.fetch(kind);
      return;
    }
    effect.setSize(w, h);
    this.renderer.setScissorTest(false);
    this.renderer.autoClear = true;
    effect.render(scene, camera);
    this.renderer.autoClear = false;
  }

  private async fetch(kind: Stereo): Promise<void> {
    this.asked.add(kind);
    const { make } = await import("./stereoEffects");
    this.effects.set(kind, make(kind, this.renderer));
    announce("hover");
  }
}
