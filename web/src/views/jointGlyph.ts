import {
  BufferGeometry,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from "three";
import type { JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { formatSI } from "../app/numbers";
import { valueOf } from "../app/signals";
import { store } from "../app/store";
import { token } from "../app/theme";
import type { Bodies } from "./bodies";
import { bar, ribbon } from "./glyphShapes";
import { jointFrame, motionOf } from "./jointFrame";
import type { View } from "./view";

const NEAR_LIMIT = (12 * Math.PI) / 180;
type Layer = "axis" | "arc" | "ends" | "sector" | "actual" | "wanted";

/** Axis, range, value and wish of one joint, drawn over everything. */
export class JointGlyph {
  readonly root = new Group();
  private sized = { key: "", radius: 0.1 };
  private readonly layers = new Map<Layer, Mesh<BufferGeometry, MeshBasicMaterial>>();

  constructor() {
    const order: [Layer, number][] = [
      ["sector", 0.14],
      ["arc", 0.75],
      ["ends", 0.85],
      ["axis", 0.95],
      ["actual", 1],
      ["wanted", 1],
    ];
    order.forEach(([name, opacity], i) => {
      const material = new MeshBasicMaterial({
        transparent: true,
        opacity,
        depthTest: false,
        depthWrite: false,
        side: DoubleSide,
      });
      const mesh = new Mesh(new BufferGeometry(), material);
      mesh.renderOrder = 950 + i;
      mesh.frustumCulled = false;
      this.layers.set(name, mesh);
      this.root.add(mesh);
    });
    this.root.matrixAutoUpdate = false;
  }

  recolor(): void {
    const paint = (name: Layer, css: string): void => {
      this.layers.get(name)!.material.color = new Color(css);
    };
    for (const name of ["arc", "sector", "actual"] as const) paint(name, token("text"));
    paint("ends", token("warn"));
    paint("wanted", token("accent"));
    paint("axis", token("axis-y"));
  }

  update(joint: JointView | null, views: View[], bodies: Bodies): void {
    const poses = store.poses;
    const motion = joint && motionOf(joint);
    this.root.visible = Boolean(motion && poses);
    if (!joint || !poses || !motion) {
      views.forEach((view) => (view.label.hidden = true));
      return;
    }
    const dof = joint.dofs[0]!;
    const actual = valueOf(dof.signal) ?? 0;
    const wanted = drag.values[dof.signal] ?? valueOf(dof.target_signal);
    const frame = jointFrame(joint, poses);
    const size = this.size(joint, bodies);
    this.place(joint, frame.pivot, frame.axis, frame.base);
    const held = drag.joint === joint.name && drag.held;
    this.layers.get("ends")!.material.color = new Color(token(held ? "err" : "warn"));
    if (motion === "turn") this.turning(size, dof.lo, dof.hi, actual, wanted);
    else this.sliding(size, dof.lo, dof.hi, actual, wanted);
    this.label(views, frame.pivot, size, joint, actual, wanted, held);
  }

  /** Large enough to read beside the whole scene, not larger than what it turns [m]. */
  private size(joint: JointView, bodies: Bodies): number {
    if (this.sized.key !== `${joint.name} ${bodies.pieces.length}`) {
      const own = bodies.bounds(bodies.onBody(joint.body)).radius;
      const all = bodies.bounds().radius;
      const radius = Math.min(0.3 * all, Math.max(0.14 * all, 0.8 * own));
      this.sized = { key: `${joint.name} ${bodies.pieces.length}`, radius };
    }
    return this.sized.radius;
  }

  /** Stands the glyph on the joint: z along the axis, x towards the link at value zero. */
  private place(joint: JointView, pivot: Vector3, axis: Vector3, base: Matrix4): void {
    const link = new Vector3();
    const own = store.scene?.elements.filter((e) => e.body === joint.body) ?? [];
    const shapes = own.flatMap((element) => element.shapes);
    for (const shape of shapes) link.add(new Vector3().fromArray(shape.pose));
    if (shapes.length > 0) link.divideScalar(shapes.length);
    const x = link.applyMatrix4(base).sub(pivot).projectOnPlane(axis);
    if (x.length() < 1e-3) {
      x.set(0, 0, 1).projectOnPlane(axis);
      if (x.length() < 0.1) x.set(1, 0, 0).projectOnPlane(axis);
    }
    x.normalize();
    const y = axis.clone().cross(x);
    this.root.matrix.makeBasis(x, y, axis).setPosition(pivot);
    this.root.matrixWorldNeedsUpdate = true;
  }

  private turning(
    r: number,
    lo: number | null,
    hi: number | null,
    actual: number,
    wanted: number | null,
  ): void {
    const from = lo ?? -Math.PI;
    const to = hi ?? Math.PI;
    const end = Math.min(NEAR_LIMIT, (to - from) / 4);
    const thin = 0.018 * r;
    this.set("axis", bar(new Vector3(0, 0, -1.5 * r), new Vector3(0, 0, 1.5 * r), thin));
    this.set("arc", ribbon(r - thin, r + thin, from, to));
    this.set("sector", ribbon(0, r, 0, actual));
    const limited = lo !== null && hi !== null;
    const ends = limited
      ? [...ribbon(0.72 * r, r, from, from + end), ...ribbon(0.72 * r, r, to - end, to)]
      : [];
    this.set("ends", ends);
    const tip = (angle: number, k: number): Vector3 =>
      new Vector3(Math.cos(angle) * r * k, Math.sin(angle) * r * k, 0);
    this.set("actual", bar(tip(actual, 0.15), tip(actual, 1), 1.6 * thin));
    this.set(
      "wanted",
      wanted === null ? [] : bar(tip(wanted, 0.15), tip(wanted, 1.08), 1.6 * thin),
    );
  }

  private sliding(
    r: number,
    lo: number | null,
    hi: number | null,
    actual: number,
    wanted: number | null,
  ): void {
    const from = lo ?? -r;
    const to = hi ?? r;
    const thin = 0.02 * r;
    const side = 0.5 * r;
    const at = (z: number, x: number): Vector3 => new Vector3(x, 0, z);
    const end = 0.05 * (to - from);
    this.set("axis", bar(at(from - 0.1 * r, 0), at(to + 0.1 * r, 0), thin));
    this.set("arc", bar(at(from, side), at(to, side), thin));
    this.set("ends", [
      ...bar(at(from, side), at(from + end, side), 3 * thin),
      ...bar(at(to - end, side), at(to, side), 3 * thin),
    ]);
    this.set("sector", bar(at(0, side), at(actual, side), 4 * thin));
    this.set("actual", bar(at(actual, 0), at(actual, side * 1.2), 1.5 * thin));
    this.set(
      "wanted",
      wanted === null ? [] : bar(at(wanted, 0), at(wanted, side * 1.3), 1.5 * thin),
    );
  }

  private set(name: Layer, positions: number[]): void {
    const mesh = this.layers.get(name)!;
    mesh.geometry.dispose();
    mesh.geometry = new BufferGeometry();
    mesh.geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
    mesh.visible = positions.length > 0;
  }

  private label(
    views: View[],
    pivot: Vector3,
    size: number,
    joint: JointView,
    actual: number,
    wanted: number | null,
    held: boolean,
  ): void {
    const unit = joint.dofs[0]!.unit;
    for (const view of views) {
      const at = view.project(pivot.clone().add(new Vector3(0, 0, size * 1.15)));
      const wide = view.element.clientWidth;
      view.label.hidden = view.element.hidden || !at || at.x < 0 || at.x > wide;
      if (view.label.hidden || !at) continue;
      const full = !view.camera.flat || drag.joint !== null;
      const now = formatSI(actual, unit, store.degrees);
      const wish = wanted === null ? "" : formatSI(wanted, unit, store.degrees);
      const key = `${full}${now}${wish}${held}`;
      if (view.label.dataset["key"] !== key) {
        view.label.dataset["key"] = key;
        view.label.innerHTML = full
          ? `<b></b> ${now}${wish && wish !== now ? ` <i>→ ${wish}</i>` : ""}${held ? " <u>at its limit</u>" : ""}`
          : now;
        const name = view.label.querySelector("b");
        if (name) name.textContent = joint.name.split("/").at(-1) ?? joint.name;
      }
      const left = Math.min(wide - view.label.offsetWidth - 8, Math.max(8, at.x + 12));
      view.label.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(44, at.y - 28))}px)`;
    }
  }
}
