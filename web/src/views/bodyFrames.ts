import {
  AxesHelper,
  BoxGeometry,
  Color,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  type Material,
} from "three";
import type { SceneMessage } from "../protocol/messages";
import { show } from "../app/show";
import { token } from "../app/theme";
import type { Bodies } from "./bodies";

const DENSE = 6;

/** Frames, centers of mass and equivalent inertia boxes, per moving body. */
export class BodyFrames {
  readonly root = new Group();
  private carriers: { group: Group; axes: AxesHelper; center: Mesh; box: LineSegments }[] = [];

  build(scene: SceneMessage): void {
    this.root.clear();
    this.carriers = scene.bodies.map((body) => {
      const group = new Group();
      group.matrixAutoUpdate = false;
      const axes = new AxesHelper(0.08);
      paintAxes(axes);
      (axes.material as Material).depthTest = false;
      axes.renderOrder = 600;
      const center = new Mesh(
        new SphereGeometry(0.008, 16, 12),
        new MeshBasicMaterial({ color: 0xe8a33d, depthTest: false, transparent: true }),
      );
      center.renderOrder = 610;
      const [x = 0, y = 0, z = 0] = body.com;
      center.position.set(x, y, z);
      const box = new LineSegments(
        new EdgesGeometry(new BoxGeometry(1, 1, 1)),
        new LineBasicMaterial({ color: 0xa78bfa, depthTest: false, transparent: true }),
      );
      box.renderOrder = 605;
      box.position.copy(center.position);
      box.scale.set(...equalBox(body.mass, body.inertia));
      group.add(axes, center, box);
      group.userData["moving"] = !body.static && body.mass > 0;
      this.root.add(group);
      return { group, axes, center, box };
    });
  }

  recolor(): void {
    for (const { axes } of this.carriers) paintAxes(axes);
  }

  update(bodies: Bodies): void {
    this.root.visible = show.frames || show.centers || show.inertia;
    if (!this.root.visible) return;
    this.carriers.forEach(({ group, axes, center, box }, i) => {
      const from = bodies.groups[i];
      if (from) group.matrix.copy(from.matrix);
      group.matrixWorldNeedsUpdate = true;
      const moving = group.userData["moving"] as boolean;
      axes.visible = show.frames;
      center.visible = show.centers && moving;
      box.visible = show.inertia && moving;
    });
  }
}

function paintAxes(axes: AxesHelper): void {
  axes.setColors(
    new Color(token("axis-x")),
    new Color(token("axis-y")),
    new Color(token("axis-z")),
  );
}

/** Sides [m] of the uniform box with this mass [kg] and these moments xx yy zz [kg m²]. */
export function equalBox(mass: number, inertia: number[]): [number, number, number] {
  const [xx = 0, yy = 0, zz = 0] = inertia;
  if (mass <= 0) return [1e-6, 1e-6, 1e-6];
  const side = (sum: number): number => Math.sqrt(Math.max(1e-12, (DENSE * sum) / mass));
  return [side(yy + zz - xx), side(xx + zz - yy), side(xx + yy - zz)];
}
