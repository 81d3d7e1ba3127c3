import {
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  PlaneGeometry,
  ShadowMaterial,
  type Sphere,
} from "three";

/** Soft sky, one sun with a shadow, and the floor that catches it. */
export class Lights {
  readonly root = new Group();
  readonly floor = new Mesh(
    new PlaneGeometry(1, 1),
    new ShadowMaterial({ opacity: 0.35, depthWrite: false }),
  );
  private readonly sky = new HemisphereLight(0xffffff, 0xa9b2bd, 1.25);
  private readonly sun = new DirectionalLight(0xffffff, 2.1);
  private readonly fill = new DirectionalLight(0xdfe9ff, 0.45);

  constructor() {
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.004;
    this.sun.shadow.radius = 3;
    this.floor.receiveShadow = true;
    this.floor.renderOrder = -20;
    this.root.add(this.sky, this.sun, this.sun.target, this.fill, this.floor);
  }

  /** Whether bodies throw shadows on each other. */
  get shadows(): boolean {
    return this.sun.castShadow;
  }

  set shadows(on: boolean) {
    this.sun.castShadow = on;
  }

  /** Aims the sun at what is in the scene. */
  aim(ball: Sphere): void {
    const r = Math.max(ball.radius, 0.2);
    const c = ball.center;
    this.sun.position.set(c.x - 1.4 * r, c.y - 2.2 * r, c.z + 3 * r);
    this.sun.target.position.copy(c);
    this.fill.position.set(c.x + 3 * r, c.y + 2 * r, c.z + r);
    const camera = this.sun.shadow.camera;
    const reach = 1.9 * r;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = 0.05 * r;
    camera.far = 9 * r;
    camera.updateProjectionMatrix();
    this.floor.position.set(c.x, c.y, 0.0005);
    this.floor.scale.setScalar(10 * r);
  }

  recolor(dark: boolean): void {
    this.floor.material.opacity = dark ? 0.36 : 0.2;
    this.sky.intensity = dark ? 1.3 : 1.7;
  }
}
