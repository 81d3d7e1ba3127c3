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
  if (kind === "anaglyph") return new AnaglyphEffect(renderer);
  if (kind === "interlaced") return new ParallaxBarrierEffect(renderer);
  return new StereoEffect(renderer);
}
