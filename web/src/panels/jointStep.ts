import type { Dof } from "../protocol/messages";
import { define } from "../app/commands";
import { formatSI, screenUnit } from "../app/numbers";
import { primary, store } from "../app/store";
import { valueOf } from "../app/signals";
import { announce, on } from "../app/topics";
import { beginGesture, want } from "../app/targetSender";
import { drag } from "../app/drag";
import { h } from "../ui/dom";
import { toast } from "../ui/toast";
import { within } from "../views/jointDrag";

const ANGLES = [0.1, 0.5, 1, 5, 10, 45].map((degrees) => (degrees * Math.PI) / 180);
const LENGTHS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05];
const KEY = "linkwork-joint-step";

/** Index of the default step: the third, unless another was chosen. */
let chosen = -1;
function choice(): number {
  if (chosen < 0) {
    const kept = Number(localStorage.getItem(KEY) ?? 2);
    chosen = kept in ANGLES ? kept : 2;
  }
  return chosen;
}

/** The default step of a degree of freedom [rad or m]. */
export function stepOf(dof: Dof): number {
  return (dof.unit === "m" ? LENGTHS : ANGLES)[choice()]!;
}

/** Selects the step size of + and − and the arrow keys. */
export function stepChoice(): HTMLElement {
  const pick = h("select", {
    "aria-label": "Step of the keys + and −",
    title: "How far + and −, and the arrows on a slider, move a joint",
  });
  pick.addEventListener("change", () => {
    chosen = Number(pick.value);
    localStorage.setItem(KEY, String(chosen));
  });
  const draw = (): void =>
    pick.replaceChildren(
      ...ANGLES.map((angle, i) => {
        const { factor, unit } = screenUnit("rad", store.degrees);
        const words = `± ${Number((angle / factor).toFixed(4))}${unit === "°" ? "°" : ` ${unit}`}`;
        const length = formatSI(LENGTHS[i]!, "m");
        return h("option", { value: String(i), selected: i === choice(), title: length }, words);
      }),
    );
  on("units", draw);
  draw();
  return h("span", { class: "input-box plain step-choice" }, pick);
}

/** Moves the selected joint by a number of default steps. */
function nudge(steps: number): void {
  const thing = primary();
  const joint = store.scene?.joints.find((j) => thing?.kind === "joint" && j.name === thing.name);
  const dof = joint?.dofs[0];
  if (!joint || !dof) {
    toast({ level: "info", text: "Select a joint first; + and − move it." });
    return;
  }
  const running = store.status?.running;
  const now = drag.values[dof.signal] ?? valueOf(running ? dof.target_signal : dof.signal) ?? 0;
  const [value] = within(now + steps * stepOf(dof), dof.lo, dof.hi);
  beginGesture();
  want(joint, dof, value);
  announce("drag");
}

define([
  { id: "joint-more", title: "Selected joint one step up", key: "+", run: () => nudge(1) },
  { id: "joint-less", title: "Selected joint one step down", key: "-", run: () => nudge(-1) },
]);
