import { Ray, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { HingeDrag, SliderDrag, within } from "../src/views/jointDrag";

/** Size of a pixel [m]. */
const PIXEL = 0.002;
const joint = (axis: [number, number, number]) => ({
  pivot: new Vector3(0, 0, 1),
  axis: new Vector3(...axis),
});
/** A flat view along −z: the ray through (x, y). */
const down = (x: number, y: number) => new Ray(new Vector3(x, y, 10), new Vector3(0, 0, -1));
/** A flat view along +y: the ray through (x, z). */
const ahead = (x: number, z: number) => new Ray(new Vector3(x, -10, z), new Vector3(0, 1, 0));

describe("HingeDrag", () => {
  it("turns by the angle the pointer goes round the axis", () => {
    const drag = new HingeDrag(
      joint([0, 0, 1]),
      new Vector3(0.5, 0, 1),
      new Vector3(0, 0, -1),
      PIXEL,
    );
    expect(drag.change(down(0, 0.3))).toBeCloseTo(Math.PI / 2);
    expect(drag.change(down(0.4, -0.4))).toBeCloseTo(-Math.PI / 4);
  });

  it("does not depend on the side the axis is seen from", () => {
    const drag = new HingeDrag(
      joint([0, 0, -1]),
      new Vector3(0.5, 0, 1),
      new Vector3(0, 0, -1),
      PIXEL,
    );
    expect(drag.change(down(0, 0.3))).toBeCloseTo(-Math.PI / 2);
  });

  it("keeps counting past half a turn", () => {
    const drag = new HingeDrag(
      joint([0, 0, 1]),
      new Vector3(1, 0, 1),
      new Vector3(0, 0, -1),
      PIXEL,
    );
    let last = 0;
    for (let degrees = 0; degrees <= 270; degrees += 10) {
      const a = (degrees * Math.PI) / 180;
      last = drag.change(down(Math.cos(a), Math.sin(a)));
    }
    expect(last).toBeCloseTo((270 * Math.PI) / 180);
  });

  it("seen obliquely, puts the grabbed point under the pointer", () => {
    const frame = joint([0, 0, 1]);
    const grab = new Vector3(0.5, 0, 1.2);
    const sight = new Vector3(0.3, 0.6, -0.7).normalize();
    const drag = new HingeDrag(frame, grab, sight, PIXEL);
    const goal = grab.clone().sub(frame.pivot).applyAxisAngle(frame.axis, 0.7).add(frame.pivot);
    const ray = new Ray(goal.clone().addScaledVector(sight, -5), sight);
    expect(drag.change(ray)).toBeCloseTo(0.7);
  });

  it("edge-on, follows the pointer across the axis on the screen", () => {
    // The axis is vertical on the screen; the point is nearest to the eye, so it moves sideways.
    const drag = new HingeDrag(
      joint([0, 0, 1]),
      new Vector3(0, -0.5, 1),
      new Vector3(0, 1, 0),
      PIXEL,
    );
    expect(drag.change(ahead(0.1, 1))).toBeCloseTo(0.2);
    expect(drag.change(ahead(0, 3))).toBeCloseTo(0);
  });

  it("edge-on, still moves a point that turns towards the eye", () => {
    const drag = new HingeDrag(
      joint([0, 0, 1]),
      new Vector3(0.5, 0, 1),
      new Vector3(0, 1, 0),
      PIXEL,
    );
    expect(Math.abs(drag.change(ahead(0.6, 1)))).toBeCloseTo(0.2);
  });
});

describe("HingeDrag near its axis", () => {
  it("turns by one degree for each pixel, seen edge-on", () => {
    const drag = new HingeDrag(
      joint([0, 0, 1]),
      new Vector3(0, -0.01, 1),
      new Vector3(0, 1, 0),
      PIXEL,
    );
    expect(drag.change(ahead(60 * PIXEL, 1))).toBeCloseTo((60 * Math.PI) / 180);
  });
});

describe("SliderDrag", () => {
  const up = new Vector3(0, 0, 1);
  it("slides by what the pointer moves along the axis", () => {
    const drag = new SliderDrag(joint([1, 0, 0]), new Vector3(0, 0, 1), new Vector3(0, 1, 0), up);
    expect(drag.change(ahead(0.25, 1.4))).toBeCloseTo(0.25);
  });

  it("with the axis along the sight, slides with the pointer's height", () => {
    const drag = new SliderDrag(joint([0, 1, 0]), new Vector3(0, 0, 1), new Vector3(0, 1, 0), up);
    expect(drag.change(ahead(0.5, 1.1))).toBeCloseTo(0.1);
  });
});

describe("within", () => {
  it("keeps a value in its range and says whether it had to", () => {
    expect(within(2, -1, 1)).toEqual([1, true]);
    expect(within(0.5, -1, 1)).toEqual([0.5, false]);
    expect(within(9, null, null)).toEqual([9, false]);
  });
});
