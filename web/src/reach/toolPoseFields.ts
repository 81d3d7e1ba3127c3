import { Euler, Quaternion } from "three";
import { format, parse } from "../app/numbers";
import { reach } from "../app/reach";
import { command } from "../app/session";
import { newGesture } from "../app/targetSender";
import { h } from "../ui/dom";
import { toast } from "../ui/toast";
import { line } from "./fields";

const DEGREE = Math.PI / 180;
const AXES = ["x", "y", "z"];

/** The tool's pose, to read and to type: position [mm] and fixed-axis rotations [°]. */
export function toolPoseFields(): { elements: HTMLElement[]; draw: (n: Float64Array) => void } {
  const made = (what: string) =>
    AXES.map((axis) =>
      h("input", { type: "text", class: "number", "aria-label": `${what} of the tool, ${axis}` }),
    );
  const place = made("Position");
  const turn = made("Rotation");
  const go = (): void => {
    const at = place.map((each) => parse(each.value, "m"));
    const angles = turn.map((each) => parse(each.value, "rad"));
    if ([...at, ...angles].includes(null)) {
      toast({
        level: "warning",
        text: "A position is three numbers in millimeters, a rotation in degrees.",
      });
      if (reach.numbers) draw(reach.numbers, true);
      return;
    }
    const [roll, pitch, yaw] = angles as [number, number, number];
    const q = new Quaternion().setFromEuler(new Euler(roll, pitch, yaw, "ZYX"));
    const pose = [...at, q.w, q.x, q.y, q.z];
    if (command({ type: "reach", pose, gesture: newGesture() })) command({ type: "end_tool_drag" });
  };
  for (const each of [...place, ...turn]) {
    each.addEventListener("change", go);
    each.addEventListener("keydown", (event) => event.key === "Enter" && each.blur());
    // An unreachable value does not stay.
    each.addEventListener("blur", () => setTimeout(() => reach.numbers && draw(reach.numbers)));
  }
  const write = (
    inputs: HTMLInputElement[],
    values: number[],
    digits: number,
    all: boolean,
  ): void => {
    if (!all && inputs.some((each) => each === document.activeElement)) return;
    inputs.forEach((each, n) => {
      const text = format(values[n]!, digits);
      if (each.value !== text) each.value = text;
    });
  };
  const draw = (n: Float64Array, all = false): void => {
    // A number that is being typed is not overwritten, nor are those beside it.
    write(place, [n[0]! * 1e3, n[1]! * 1e3, n[2]! * 1e3], 1, all);
    const q = new Quaternion(n[4], n[5], n[6], n[3]);
    const { x, y, z } = new Euler().setFromQuaternion(q, "ZYX");
    write(turn, [x / DEGREE, y / DEGREE, z / DEGREE], 1, all);
  };
  const boxes = (inputs: HTMLInputElement[]): HTMLElement[] =>
    inputs.map((each) => h("div", { class: "input-box small" }, each));
  if (reach.numbers) draw(reach.numbers);
  return { elements: [line("Place, mm", ...boxes(place)), line("Turn, °", ...boxes(turn))], draw };
}
