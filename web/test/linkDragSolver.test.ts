import { Quaternion, Ray, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { Dof, JointView } from "../src/protocol/messages";
import { linkDragSolver, rotationVector } from "../src/views/linkDragSolver";

const dof = (name: string, unit: string): Dof => ({
  name,
  unit,
  lo: -1,
  hi: 1,
  signal: `j.${name}`,
  target_signal: null,
  speed_signal: null,
  effort_signal: null,
});
const joint = (type: string, dofs: Dof[]): JointView => ({
  name: "j",
  label: "j",
  part: "",
  type,
  body: 1,
  parent: 0,
  x0: [0, 0, 0, 1, 0, 0, 0],
  pivot: [0, 0, 0],
  axis: [0, 0, 1],
  axis2: [1, 0, 0],
  pitch: 0,
  path: [],
  origin: "",
  drive: "none",
  dofs,
});
const poses = new Float32Array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
/** Looks along −z at a point taken at (0.5, 0, 0); the ray through (x, y). */
const from = (type: string, dofs: Dof[], x: number, y: number) => {
  const grip = linkDragSolver({
    joint: joint(type, dofs),
    poses,
    grab: new Vector3(0.5, 0, 0),
    sight: new Vector3(0, 0, -1),
    pixel: 0.001,
    up: new Vector3(0, 1, 0),
    valueOf: () => 0,
  })!;
  return grip(new Ray(new Vector3(x, y, 9), new Vector3(0, 0, -1)));
};

describe("gripOf", () => {
  it("slides a planar joint in its plane, within its range", () => {
    const targets = from("planar", [dof("x", "m"), dof("y", "m"), dof("angle", "rad")], 0.7, 1.4);
    expect(targets.map((w) => Number(w.value.toFixed(6)))).toEqual([0.2, 1]);
    expect(targets.map((w) => w.held)).toEqual([false, true]);
  });

  it("turns a ball about its center", () => {
    const targets = from("ball", [dof("rx", "rad"), dof("ry", "rad"), dof("rz", "rad")], 0.5, 0.5);
    expect(targets[2]!.value).toBeCloseTo(Math.PI / 4);
  });

  it("moves a free body with the pointer", () => {
    const targets = from("free", [dof("x", "m"), dof("y", "m"), dof("z", "m")], 0.6, -0.3);
    expect(targets.map((w) => Number(w.value.toFixed(6)))).toEqual([0.1, -0.3, 0]);
  });

  it("turns a cylindrical joint that is looked at along its axis", () => {
    const targets = from("cylindrical", [dof("position", "m"), dof("angle", "rad")], 0.5, 0.5);
    expect(targets.map((w) => w.dof.name)).toEqual(["angle"]);
    expect(targets[0]!.value).toBeCloseTo(Math.PI / 4);
  });
});

describe("rotationVector", () => {
  it("is the axis times the angle, by the shorter way", () => {
    const q = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), 0.3);
    expect(rotationVector(q)[1]).toBeCloseTo(0.3);
    q.set(-q.x, -q.y, -q.z, -q.w);
    expect(rotationVector(q)[1]).toBeCloseTo(0.3);
  });
});
