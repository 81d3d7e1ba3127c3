import type { Dof, JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { format, parse, screenUnit } from "../app/numbers";
import { isSelected, select } from "../app/selection";
import { command } from "../app/session";
import { valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { announce, on } from "../app/topics";
import { want } from "../app/wanted";
import { button } from "../ui/button";
import { h, setText } from "../ui/dom";
import { JointSlider } from "./jointSlider";
import { section } from "./section";

interface Line {
  joint: JointView;
  dof: Dof;
  row: HTMLElement;
  slider: JointSlider;
  wanted: HTMLInputElement;
  actual: HTMLElement;
}

/** All joints: slider, wanted value, actual value. The table equivalent of every drag. */
export function jointTable(): HTMLElement {
  const grid = h("div", { class: "joints", role: "grid", "aria-label": "Joints" });
  const postures = h("div", { class: "joint-actions" });
  const whole = section("Joints", unitSwitch(), grid, postures);
  let lines: Line[] = [];
  const rebuild = (): void => {
    const joints = store.scene?.joints ?? [];
    const names = shortNames(joints);
    lines = joints.flatMap((joint) =>
      joint.type === "free" ? [] : joint.dofs.map((dof) => line(joint, dof, names)),
    );
    const longest = Math.max(
      0,
      ...lines.map((l) => l.row.querySelector(".joint-name")?.textContent?.length ?? 0),
    );
    grid.style.setProperty("--name", `${Math.min(104, Math.max(40, longest * 6.5 + 12))}px`);
    grid.replaceChildren(head(), ...lines.map((l) => l.row));
    whole.hidden = lines.length === 0;
    watch(
      "joints",
      lines.flatMap((l) => [l.dof.signal, ...(l.dof.target_signal ? [l.dof.target_signal] : [])]),
    );
    const driven = lines.filter((l) => l.dof.target_signal !== null);
    postures.replaceChildren(
      driven.length > 0 ? button("Match wanted to actual", () => match(driven)) : "",
      ...(store.scene?.postures ?? []).map((name) =>
        button(name, () => command({ type: "posture", name }), "bare"),
      ),
    );
    draw();
  };
  const draw = (): void => {
    for (const l of lines) {
      const { factor, digits, unit } = screenUnit(l.dof.unit, store.degrees);
      const actual = valueOf(l.dof.signal);
      const dragged = drag.joint === l.joint.name && l.joint.dofs[0] === l.dof;
      const wanted = dragged ? drag.value : (valueOf(l.dof.target_signal) ?? actual);
      setText(l.actual, actual === null ? "–" : format(actual / factor, digits));
      if (document.activeElement !== l.wanted && wanted !== null) {
        const text = format(wanted / factor, digits);
        if (l.wanted.value !== text) l.wanted.value = text;
      }
      l.slider.show(
        wanted,
        actual,
        `${format((wanted ?? 0) / factor, digits)} ${unit === "°" ? "degrees" : unit}`,
      );
    }
  };
  const mark = (): void => {
    for (const l of lines) {
      const chosen =
        isSelected({ kind: "joint", name: l.joint.name }) || drag.joint === l.joint.name;
      l.row.setAttribute("aria-selected", String(chosen));
    }
  };
  on(["scene", "units"], rebuild);
  on(["signals", "drag"], draw);
  on(["selection", "drag", "scene"], mark);
  on("owners", () => lines.forEach(owner));
  rebuild();
  return whole;
}

function head(): HTMLElement {
  return h(
    "div",
    { class: "joint-row joint-head", role: "row" },
    h("span", { role: "columnheader", "aria-label": "joint" }),
    h("span", { role: "columnheader" }, "range"),
    h("span", { role: "columnheader" }, "wanted"),
    h("span", { role: "columnheader" }, "actual"),
  );
}

function line(joint: JointView, dof: Dof, names: Map<string, string>): Line {
  const label = names.get(joint.name)! + (joint.dofs.length > 1 ? `.${dof.name}` : "");
  const slider = new JointSlider(label, dof, (value) => want(joint, dof, value));
  const actual = h("span", { role: "gridcell", class: "joint-actual" });
  const unit = screenUnit(dof.unit, store.degrees).unit;
  const wanted = h("input", {
    type: "text",
    class: "number",
    "aria-label": `${label} wanted`,
    spellcheck: "false",
  });
  wanted.addEventListener("change", () => {
    const value = parse(wanted.value, dof.unit, store.degrees);
    if (value !== null) want(joint, dof, value);
    wanted.blur();
  });
  wanted.addEventListener("keydown", (event) => {
    if (event.key === "Enter") wanted.dispatchEvent(new Event("change"));
    if (event.key === "Escape") wanted.blur();
  });
  const row = h(
    "div",
    {
      class: "joint-row",
      role: "row",
      "data-joint": joint.name,
      onclick: (e: MouseEvent) =>
        e.target !== wanted && select({ kind: "joint", name: joint.name }, e.shiftKey),
    },
    h("span", { role: "rowheader", class: "joint-name", title: joint.name }, label),
    h("span", { role: "gridcell" }, slider.element),
    h(
      "span",
      { role: "gridcell", class: "input-box small" },
      wanted,
      h("span", { class: "unit" }, unit),
    ),
    h("span", { class: "joint-now" }, actual, h("span", { class: "unit" }, unit)),
  );
  const made = { joint, dof, row, slider, wanted, actual };
  owner(made);
  return made;
}

/** Whoever drives a joint is named in its tooltip; a double-click on the name takes it over. */
function owner(l: Line): void {
  const target = l.dof.target_signal;
  const who = target ? store.owners[target] : undefined;
  const name = l.row.querySelector<HTMLElement>(".joint-name")!;
  name.title = who
    ? `${l.joint.name}, driven by ${who}. Double-click takes it over.`
    : l.joint.name;
  name.ondblclick = target ? () => command({ type: "take", signal: target }) : null;
  l.row.classList.toggle("owned", who !== undefined && who !== "");
}

function match(lines: Line[]): void {
  for (const { dof } of lines) {
    const value = valueOf(dof.signal);
    if (value !== null && dof.target_signal)
      command({ type: "set", signal: dof.target_signal, value });
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

/** Last names where they are unique, longer ones where not. */
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
