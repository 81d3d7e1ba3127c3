import { drag } from "../app/drag";
import { format, screenUnit } from "../app/numbers";
import { isMine, programOf, takeOver } from "../app/owners";
import { run } from "../app/commands";
import { paced } from "../app/throttle";
import { isSelected } from "../app/selection";
import { command } from "../app/session";
import { valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { announce, on } from "../app/topics";
import { button } from "../ui/button";
import { h, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { toast } from "../ui/toast";
import { RowVisibility } from "../ui/rowVisibility";
import { jointRow, showOwner, type JointRow } from "./jointRow";
import { stepChoice } from "./jointStep";
import { copyPosture } from "./posture";
import { section } from "./section";

/** All joints: slider, target, actual value. The table equivalent of every drag. */
export function jointTable(): HTMLElement {
  const grid = h("div", { class: "joints", role: "grid", "aria-label": "Joints" });
  const postures = h("div", { class: "joint-actions" });
  const form = h("form", { onsubmit: (event: Event) => event.preventDefault() }, grid);
  const copy = button("Copy posture", () => copyPosture(rows), "bare");
  const whole = section(
    "Joints",
    h("span", { class: "joint-tools" }, stepChoice(), unitSwitch()),
    driving(form, postures),
    h("div", { class: "joint-actions last" }, copy),
  );
  let rows: JointRow[] = [];
  const rebuild = (): void => {
    const joints = store.scene?.joints ?? [];
    const names = shortNames(joints);
    rows = joints.flatMap((joint) =>
      joint.type === "free"
        ? []
        : joint.dofs.map((dof) => jointRow(joint, dof, names.get(joint.name)!)),
    );
    const longest = Math.max(0, ...rows.map((row) => row.label.length));
    grid.style.setProperty("--name", `${Math.min(96, Math.max(32, longest * 6.5 + 8))}px`);
    grid.replaceChildren(head(), ...rows.map((row) => row.element));
    whole.hidden = rows.length === 0;
    watch(
      "joints",
      rows.flatMap(({ dof }) => [dof.signal, ...(dof.target_signal ? [dof.target_signal] : [])]),
    );
    actions();
    draw();
  };
  const actions = (): void => {
    const driven = rows.filter(({ dof }) => dof.target_signal !== null);
    const programmed = driven.filter(({ dof }) => programOf(dof) !== null);
    postures.replaceChildren(
      driven.length > 0 ? button("Match wanted to actual", () => match(driven)) : "",
      programmed.length > 0
        ? button("Take all over", () => takeOver(programmed.map((row) => row.dof)), "bare")
        : "",
      driven.some(({ dof }) => isMine(dof))
        ? button("Give all back", () => run("release"), "bare")
        : "",
      ...(store.scene?.postures ?? []).map((name) =>
        button(name, () => command({ type: "posture", name }), "bare"),
      ),
    );
  };
  const draw = (): void => {
    if (!whole.isConnected) return;
    for (const row of visibility.among(rows)) {
      const { factor, digits: fine, unit } = screenUnit(row.dof.unit, store.degrees);
      const actual = valueOf(row.dof.signal);
      // There is no room for more digits after many turns.
      const digits = Math.abs(actual ?? 0) / factor >= 1000 ? 0 : fine;
      const wanted = drag.values[row.dof.signal] ?? valueOf(row.dof.target_signal) ?? actual;
      setText(row.actual, actual === null ? "–" : format(actual / factor, digits));
      if (document.activeElement !== row.wanted && wanted !== null) {
        const text = format(wanted / factor, digits);
        // Setting `value` would trigger a layout for each row.
        if (row.wanted.defaultValue !== text) row.wanted.defaultValue = text;
      }
      row.slider.show(
        wanted,
        actual,
        `${format((wanted ?? 0) / factor, digits)} ${unit === "°" ? "degrees" : unit}`,
      );
    }
  };
  const soon = paced(draw);
  const visibility = new RowVisibility(grid, soon);
  const mark = (): void => {
    for (const { element, joint } of rows) {
      const chosen = isSelected({ kind: "joint", name: joint.name }) || drag.joint === joint.name;
      element.setAttribute("aria-selected", String(chosen));
    }
  };
  on(["scene", "units"], rebuild);
  on("signals", soon);
  on("drag", draw);
  on(["selection", "drag", "scene"], mark);
  on("owners", () => {
    rows.forEach(showOwner);
    actions();
  });
  rebuild();
  return whole;
}

function head(): HTMLElement {
  return h(
    "div",
    { class: "joint-row joint-head", role: "row" },
    h("span", { role: "columnheader", "aria-label": "joint" }),
    h("span", { role: "columnheader", "aria-label": "driven by" }),
    h("span", { role: "columnheader" }, "range"),
    h("span", { role: "columnheader" }, "wanted"),
    h("span", { role: "columnheader" }, "actual"),
  );
}

/** Sets every target to the actual value, except for joints driven by a program. */
function match(rows: JointRow[]): void {
  const mine = rows.filter(({ dof }) => programOf(dof) === null);
  for (const { dof } of mine) {
    const value = valueOf(dof.signal);
    if (value !== null && dof.target_signal !== null) {
      const inside = Math.min(dof.hi ?? Infinity, Math.max(dof.lo ?? -Infinity, value));
      if (!command({ type: "set", signal: dof.target_signal, value: inside })) return;
    }
  }
  if (mine.length < rows.length) {
    const left = rows.filter((row) => !mine.includes(row));
    const words = left.length === 1 ? `${left[0]!.label} is` : `${left.length} joints are`;
    toast({
      level: "info",
      text: `${words} driven by a program and left to it.`,
      action: { label: "Take over", run: () => takeOver(left.map((row) => row.dof)) },
    });
  }
}

function unitSwitch(): HTMLElement {
  const choose = (degrees: boolean) => (): void => {
    store.degrees = degrees;
    announce("units");
  };
  const made = [
    h("button", { type: "button", class: "segment", onclick: choose(true) }, "deg"),
    h("button", { type: "button", class: "segment", onclick: choose(false) }, "rad"),
  ];
  const draw = (): void =>
    made.forEach((b, i) => b.setAttribute("aria-pressed", String((i === 0) === store.degrees)));
  on("units", draw);
  draw();
  return h(
    "div",
    { class: "segments small", role: "group", "aria-label": "Unit of angles" },
    ...made,
  );
}

/** Last name components where they are unique, longer names otherwise. */
export function shortNames(joints: { name: string }[]): Map<string, string> {
  const out = new Map<string, string>();
  const tail = (name: string, parts: number): string => name.split("/").slice(-parts).join("/");
  for (const { name } of joints) {
    let parts = 1;
    while (
      parts < 6 &&
      joints.some((other) => other.name !== name && tail(other.name, parts) === tail(name, parts))
    )
      parts++;
    out.set(name, tail(name, parts));
  }
  return out;
}
