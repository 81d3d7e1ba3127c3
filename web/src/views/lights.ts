import {
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  type Light,
  Mesh,
  PlaneGeometry,
  PointLight,
  ShadowMaterial,
  type Sphere,
} from "three";
import type { LightView } from "../protocol/messages";

/** Intensity of the default sun; a scene's light of strength 1 is as bright. */
const BRIGHT = 2.1;

/** Soft sky, one sun with a shadow or the scene's own lights, and the floor with the shadow. */
export class Lights {
  readonly root = new Group();
  readonly floor = new Mesh(
    new PlaneGeometry(1, 1),
    new ShadowMaterial({ opacity: 0.35, depthWrite: false }),
  );
  private readonly sky = new HemisphereLight(0xffffff, 0xa9b2bd, 1.25);
  private readonly sun = new DirectionalLight(0xffffff, BRIGHT);
  private readonly fill = new DirectionalLight(0xdfe9ff, 0.45);

  /** The scene's lights; without any, the default sun is used. */
  private own: { light: DirectionalLight | PointLight; view: LightView }[] = [];
  private on = true;

  constructor() {
    this.sun.castShadow = true;
    soften(this.sun);
    this.floor.receiveShadow = true;
    this.floor.renderOrder = -20;
    this.root.add(this.sky, this.sun, this.sun.target, this.fill, this.floor);
  }

  /** Whether bodies cast shadows on each other. */
  get shadows(): boolean {
    return this.on;
  }

  set shadows(on: boolean) {
    this.on = this.sun.castShadow = on;
    for (const { light, view } of this.own) light.castShadow = on && view.shadows;
  }

  /** Uses the scene's lights instead of the sun. */
  build(views: LightView[]): void {
    for (const { light } of this.own) this.root.remove(light, ...targets(light));
    this.own = views.map((view) => ({ light: made(view), view }));
    for (const { light } of this.own) this.root.add(light, ...targets(light));
    this.sun.visible = this.fill.visible = views.length === 0;
    this.shadows = this.on;
  }

  /** Aims the sun at the scene. */
  aim(ball: Sphere): void {
    const r = Math.max(ball.radius, 0.2);
    const c = ball.center;
    this.sun.position.set(c.x - 1.4 * r, c.y - 2.2 * r, c.z + 3 * r);
    this.sun.target.position.copy(c);
    this.fill.position.set(c.x + 3 * r, c.y + 2 * r, c.z + r);
    cover(this.sun, 1.9 * r, 9 * r);
    for (const { light, view } of this.own) {
      if (!(light instanceof DirectionalLight)) continue;
      const [from, to] = [view.xyz, view.look_at];
      const d = [0, 1, 2].map((i) => (from[i] ?? 0) - (to[i] ?? 0));
      const length = Math.hypot(...d) || 1;
      const [x, y, z] = d.map((v) => (v / length) * 4 * r) as [number, number, number];
      light.position.set(c.x + x, c.y + y, c.z + z);
      light.target.position.copy(c);
      cover(light, 1.9 * r, 9 * r);
    }
    this.floor.position.set(c.x, c.y, 0.0005);
    this.floor.scale.setScalar(10 * r);
  }

  recolor(dark: boolean): void {
    this.floor.material.opacity = dark ? 0.36 : 0.2;
    this.sky.intensity = dark ? 1.3 : 1.7;
  }
}

/** A light of the scene: parallel, or a point light. */
function made(view: LightView): DirectionalLight | PointLight {
  const color = new Color(view.color.slice(0, 7));
  if (view.kind === "sun") {
    const sun = new DirectionalLight(color, BRIGHT * view.strength);
    soften(sun);
    return sun;
  }
  const [x = 0, y = 0, z = 0] = view.xyz;
  const [a = 0, b = 0, c = 0] = view.look_at;
  // As bright as a sun at its target; three.js uses candela, which fall with distance squared.
  const away = Math.max(0.2, Math.hypot(x - a, y - b, z - c));
  const lamp = new PointLight(color, BRIGHT * view.strength * away * away);
  lamp.position.set(x, y, z);
  soften(lamp);
  return lamp;
}

function targets(light: Light): Group["children"] {
  return light instanceof DirectionalLight ? [light.target] : [];
}

function soften({ shadow }: DirectionalLight | PointLight): void {
  shadow.mapSize.set(2048, 2048);
  shadow.bias = -0.0004;
  shadow.normalBias = 0.004;
  shadow.radius = 3;
}

/** Extends the shadows of a sun over a sphere around its target. */
function cover({ shadow }: DirectionalLight, reach: number, far: number): void {
  const { camera } = shadow;
  camera.left = camera.bottom = -reach;
  camera.right = camera.top = reach;
  camera.near = far / 180;
  camera.far = far;
  camera.updateProjectionMatrix();
}
