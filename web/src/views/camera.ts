import { OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import { stillness } from "../app/theme";
import type { ViewpointView } from "../protocol/messages";
import { fitPoints, type Room } from "./fit";
import { ANGLES, STEEP, type Preset } from "./presets";

/** Vertical angle of the perspective view [°]. */
const OPENING = 32;
const GLIDE_MS = 180;
const TURN = 2 * Math.PI;

interface Stand {
  target: Vector3;
  yaw: number;
  pitch: number;
  /** Half of the visible height at the target [m]. */
  half: number;
  /** Vertical field of view of the perspective camera [rad]. */
  opening: number;
}

/** A camera that looks at a target from an angle; orthographic for the six sides. */
export class ViewCamera {
  readonly perspective = new PerspectiveCamera(OPENING, 1, 0.01, 200);
  readonly orthographic = new OrthographicCamera(-1, 1, 1, -1, -100, 200);
  preset: Preset;
  stand: Stand;
  /** The last viewpoint of the scene, until the camera is moved. */
  viewpoint = "";
  /** Whether everything stays visible when the view is resized: until the camera is moved. */
  fitted = false;
  /** Identifies the last placement of the camera. */
  stood: { preset: Preset | null; state: number[] } = { preset: null, state: [] };
  private aspect = 1;
  private height = 1;
  private from: Stand | null = null;
  private to: Stand | null = null;
  private began = 0;

  constructor(preset: Preset) {
    this.preset = preset;
    const [yaw, pitch] = ANGLES[preset];
    const opening = (OPENING * Math.PI) / 180;
    this.stand = { target: new Vector3(0, 0, 0.3), yaw, pitch, half: 0.8, opening };
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
    return this.stand.half / Math.tan(this.stand.opening / 2);
  }

  /** Looks from one side, at the present target. */
  choose(preset: Preset): void {
    this.preset = preset;
    this.viewpoint = "";
    const [yaw, pitch] = ANGLES[preset];
    const opening = (OPENING * Math.PI) / 180;
    this.glide({ ...this.end(), yaw: nearest(yaw, this.stand.yaw), pitch, opening });
  }

  /** Looks from a viewpoint of the scene. */
  lookFrom({ name, xyz, look_at, opening }: ViewpointView): void {
    this.preset = "perspective";
    this.fitted = false;
    this.viewpoint = name;
    const target = new Vector3().fromArray(look_at);
    const out = new Vector3().fromArray(xyz).sub(target);
    const distance = Math.max(out.length(), 1e-3);
    const pitch = Math.asin(Math.min(1, Math.max(-1, out.z / distance)));
    this.glide({
      target,
      yaw: nearest(Math.atan2(out.y, out.x), this.stand.yaw),
      pitch: Math.min(STEEP, Math.max(-STEEP, pitch)),
      half: distance * Math.tan(opening / 2),
      opening,
    });
  }

  /** Orbits about the target by pixels; an orthographic side view becomes free. */
  orbit(dx: number, dy: number): void {
    this.turn(-dx * 0.008, dy * 0.008);
  }

  /** Orbits about the target [rad]. */
  turn(yaw: number, pitch: number): void {
    this.stop();
    this.preset = "perspective";
    this.stand.yaw += yaw;
    this.stand.pitch = Math.min(STEEP, Math.max(-STEEP, this.stand.pitch + pitch));
  }

  /** Moves the target by pixels of the view. */
  pan(dx: number, dy: number): void {
    this.stop();
    const scale = (2 * this.stand.half) / this.height;
    const [right, up] = this.axes(this.stand);
    this.stand.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
  }

  /** Zooms about the pointer; `x`, `y` are from −1 to 1. */
  zoom(factor: number, x: number, y: number): void {
    this.stop();
    const half = Math.min(60, Math.max(0.005, this.stand.half * factor));
    const kept = 1 - half / this.stand.half;
    const [right, up] = this.axes(this.stand);
    this.stand.target
      .addScaledVector(right, x * this.stand.half * this.aspect * kept)
      .addScaledVector(up, y * this.stand.half * kept);
    this.stand.half = half;
  }

  /** Fits all of these points [m], clear of the controls at the edges of the view. */
  fit(points: Vector3[], at: "glide" | "once" = "glide", spare = 1): void {
    if (points.length === 0) return;
    const bars = (px: number): number => Math.min(0.4, (2 * px) / this.height);
    const room: Room = { top: bars(48), bottom: bars(36), side: 0.1 };
    const slope = this.flat ? 0 : Math.tan(this.stand.opening / 2);
    const end = this.end();
    const found = fitPoints(points, this.axes(end), this.aspect, slope, room);
    this.glide({ ...end, target: found.target, half: found.half * spare }, at);
  }

  /** Moves along with an object. */
  shift(by: Vector3): void {
    this.stand.target.add(by);
    this.to?.target.add(by);
    this.from?.target.add(by);
  }

  /** Centers a point. */
  center(target: Vector3): void {
    this.fitted = false;
    this.glide({ ...this.end(), target: target.clone() });
  }

  /** Height and aspect ratio of the view. */
  resize(aspect: number, height: number): void {
    this.aspect = aspect;
    this.height = height;
  }

  /** The final placement of an animated camera. */
  private end(): Stand {
    const stand = this.to ?? this.stand;
    return { ...stand, target: stand.target.clone() };
  }

  /** Unit vectors to the right, up, and towards the eye. */
  private axes({ yaw, pitch }: Stand): [Vector3, Vector3, Vector3] {
    const [c, s] = [Math.cos(pitch), Math.sin(pitch)];
    const out = new Vector3(c * Math.cos(yaw), c * Math.sin(yaw), s);
    const right = new Vector3(-Math.sin(yaw), Math.cos(yaw), 0);
    return [right, out.clone().cross(right), out];
  }

  private stop(): void {
    this.to = null;
    this.fitted = false;
    this.viewpoint = "";
  }

  private glide(to: Stand, at: "glide" | "once" = "glide"): void {
    if (at === "once" || stillness()) {
      this.stand = to;
      this.to = null;
      return;
    }
    this.from = { ...this.stand, target: this.stand.target.clone() };
    this.to = to;
    this.began = performance.now();
  }

  /** Places the camera; true while it is animated. */
  update(): boolean {
    const gliding = this.advance();
    const { target, yaw, pitch, half, opening } = this.stand;
    const state = [target.x, target.y, target.z, yaw, pitch, half, opening, this.aspect];
    const { preset, stood } = this;
    if (preset === stood.preset && state.every((v, i) => v === stood.state[i])) return gliding;
    this.stood = { preset, state };
    const out = this.axes(this.stand)[2];
    const camera = this.camera;
    camera.position.copy(target).addScaledVector(out, this.flat ? 20 : this.distance);
    camera.lookAt(target);
    if (camera instanceof PerspectiveCamera) {
      camera.fov = (opening * 180) / Math.PI;
      camera.aspect = this.aspect;
      camera.near = Math.max(0.005, this.distance * 0.02);
      camera.far = this.distance * 20 + 60;
    } else {
      camera.left = -half * this.aspect;
      camera.right = half * this.aspect;
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
      opening: mix(from.opening, to.opening),
    };
    if (done >= 1) this.to = null;
    return done < 1;
  }
}

/** The equivalent of `angle` that is nearest to `now` [rad]. */
function nearest(angle: number, now: number): number {
  return angle + TURN * Math.round((now - angle) / TURN);
}
