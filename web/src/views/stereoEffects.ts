import type { PerspectiveCamera, Scene, WebGLRenderer } from "three";
import { AnaglyphEffect } from "three/examples/jsm/effects/AnaglyphEffect.js";
import { ParallaxBarrierEffect } from "three/examples/jsm/effects/ParallaxBarrierEffect.js";
import { StereoEffect } from "three/examples/jsm/effects/StereoEffect.js";
import type { Stereo } from "../app/layout";

interface Effect {
  setSize(width: number, height: number): void;
  render(scene: Scene, camera: PerspectiveCamera): void;
}

export function make(kind: Stereo, renderer: WebGLRenderer): Effect {
  if (kind === "anaglyph") return new NearAnaglyph(renderer);
  if (kind === "interlaced") return new ParallaxBarrierEffect(renderer);
  return new NearStereo(renderer);
}

/** Eyes this part of the distance apart: comfortable for what is looked at, near or far. */
const EYES = 1 / 40;

class NearAnaglyph extends AnaglyphEffect {
  constructor(renderer: WebGLRenderer) {
    super(renderer);
    const render = this.render;
    this.render = (scene, camera) => {
      const distance = (camera as PerspectiveCamera).focus;
      Object.assign(this, { eyeSep: distance * EYES, planeDistance: distance });
      render(scene, camera);
    };
  }
}

class NearStereo extends StereoEffect {
  constructor(renderer: WebGLRenderer) {
    super(renderer);
    const render = this.render;
    this.render = (scene, camera) => {
      this.setEyeSeparation((camera as PerspectiveCamera).focus * EYES);
      render(scene, camera);
    };
  }
}
