import { OrthographicCamera, PerspectiveCamera, Vector3, type Sphere } from "three";
import { stillness } from "../app/theme";
import type { ViewName } from "../app/layout";

const OPENING = 32;
const GLIDE_MS = 180;
const STEEP = Math.PI / 2 - 0.001;

interface Stand {
  target: Vector3;
  yaw: number;
  pitch: number;
  /** Half of the height seen at the target [m]. */
  half: number;
}

/** Angles of sight of the fixed views: yaw about z, pitch above the floor [rad]. */
const ANGLES: Record<ViewName, [number, number]> = {
  top: [-Math.PI / 2, STEEP],
  front: [-Math.PI / 2, 0],
  right: [0, 0],
  perspective: [-0.9, 0.42],
};

/** A camera that looks at a target from an angle; orthographic for the three fixed views. */
export class ViewCamera {
  readonly perspective = new PerspectiveCamera(OPENING, 1, 0.01, 200);
  readonly orthographic = new OrthographicCamera(-1, 1, 1, -1, -100, 200);
  preset: ViewName;
  stand: Stand;
  private aspect = 1;
  private from: Stand | null = null;
  private to: Stand | null = null;
  private began = 0;

  constructor(preset: ViewName) {
    this.preset = preset;
    const [yaw, pitch] = ANGLES[preset];
    this.stand = { target: new Vector3(0, 0, 0.3), yaw, pitch, half: 0.8 };
    this.perspective.up.set(0, 0, 1);
    this.orthographic.up.set(0, 0, 1);
  }

  get flat(): boolean {
    return this.preset !== "perspective";
  }

  get camera(): PerspectiveCamera | OrthographicCamera {
    return this.flat ? this.orthographic : this.perspective;
  }

  get distance(): number {
    return this.stand.half / Math.tan((OPENING * Math.PI) / 360);
  }

  choose(preset: ViewName): void {
    this.preset = preset;
    const [yaw, pitch] = ANGLES[preset];
    this.glide({ ...this.stand, target: this.stand.target.clone(), yaw, pitch });
  }

  orbit(dx: number, dy: number): void {
    this.stop();
    this.stand.yaw -= dx * 0.008;
    this.stand.pitch = Math.min(STEEP, Math.max(-STEEP, this.stand.pitch + dy * 0.008));
  }

  /** Moves the target by pixels of a view of this height. */
  pan(dx: number, dy: number, height: number): void {
    this.stop();
    const scale = (2 * this.stand.half) / height;
    const camera = this.camera;
    const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    const up = new Vector3().setFromMatrixColumn(camera.matrixWorld, 1);
    this.stand.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
  }

  /** Zooms so that what is under the pointer stays there; `x`, `y` run from −1 to 1. */
  zoom(factor: number, x: number, y: number): void {
    this.stop();
    const half = Math.min(60, Math.max(0.005, this.stand.half * factor));
    const kept = 1 - half / this.stand.half;
    const right = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
    const up = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
    this.stand.target
      .addScaledVector(right, x * this.stand.half * this.aspect * kept)
      .addScaledVector(up, y * this.stand.half * kept);
    this.stand.half = half;
  }

  fit(ball: Sphere, margin = 1.12): void {
    const narrow = Math.min(1, this.aspect);
    const half = (Math.max(ball.radius, 0.02) * margin) / narrow;
    this.glide({ ...this.stand, target: ball.center.clone(), half });
  }

  private stop(): void {
    this.to = null;
  }

  private glide(to: Stand): void {
    if (stillness()) {
      this.stand = to;
      return;
    }
    this.from = { ...this.stand, target: this.stand.target.clone() };
    this.to = to;
    this.began = performance.now();
  }

  /** Places the camera; true while it still glides. */
  update(aspect: number): boolean {
    this.aspect = aspect;
    const gliding = this.advance();
    const { target, yaw, pitch, half } = this.stand;
    const out = new Vector3(
      Math.cos(pitch) * Math.cos(yaw),
      Math.cos(pitch) * Math.sin(yaw),
      Math.sin(pitch),
    );
    const camera = this.camera;
    camera.position.copy(target).addScaledVector(out, this.flat ? 20 : this.distance);
    camera.lookAt(target);
    if (camera instanceof PerspectiveCamera) {
      camera.aspect = aspect;
      camera.near = Math.max(0.005, this.distance * 0.02);
      camera.far = this.distance * 20 + 60;
    } else {
      camera.left = -half * aspect;
      camera.right = half * aspect;
      camera.top = half;
      camera.bottom = -half;
    }
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld(true);
    return gliding;
  }

  private advance(): boolean {
    if (!this.to || !this.from) return false;
    const done = Math.min(1, (performance.now() - this.began) / GLIDE_MS);
    const ease = 1 - (1 - done) ** 3;
    const { from, to } = this;
    const mix = (a: number, b: number): number => a + (b - a) * ease;
    this.stand = {
      target: from.target.clone().lerp(to.target, ease),
      yaw: mix(from.yaw, to.yaw),
      pitch: mix(from.pitch, to.pitch),
      half: mix(from.half, to.half),
    };
    if (done >= 1) this.to = null;
    return done < 1;
  }
}
