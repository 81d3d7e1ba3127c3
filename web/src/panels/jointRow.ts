import type { Dof, JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { formatSI, parse, screenUnit } from "../app/numbers";
import { isMine, offerTakeOver, programOf, takeOver } from "../app/owners";
import { run } from "../app/commands";
import { select } from "../app/selection";
import { valueOf } from "../app/signals";
import { store } from "../app/store";
import { beginGesture, want } from "../app/targetSender";
import { iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { toast } from "../ui/toast";
import { JointSlider } from "./jointSlider";
import { stepOf } from "./jointStep";

/** One degree of freedom in the table. */
export interface JointRow {
  joint: JointView;
  dof: Dof;
  label: string;
  element: HTMLElement;
  slider: JointSlider;
  wanted: HTMLInputElement;
  actual: HTMLElement;
  owner: HTMLButtonElement;
}

export function jointRow(joint: JointView, dof: Dof, short: string): JointRow {
  const label = short + (joint.dofs.length > 1 ? `.${dof.name}` : "");
  const slider = new JointSlider(
    label,
    dof,
    (value) => want(joint, dof, value),
    () => wantedOf(dof),
  );
  const actual = h("span", { role: "gridcell", class: "joint-actual" });
  const unit = screenUnit(dof.unit, store.degrees).unit;
  const wanted = h("input", {
    type: "text",
    class: "number",
    "aria-label": `${label} wanted`,
    spellcheck: "false",
    autocomplete: "off",
  });
  const owner: HTMLButtonElement = iconButton("agent", "", () => pressOwner(made), "owner");
  const element = h(
    "div",
    {
      class: "joint-row",
      role: "row",
      "data-joint": joint.name,
      "data-dof": dof.name,
      onclick: (e: MouseEvent) =>
        e.target !== wanted && select({ kind: "joint", name: joint.name }, e.shiftKey),
    },
    h("span", { role: "rowheader", class: "joint-name", title: joint.name }, label),
    h("span", { role: "gridcell", class: "joint-owner" }, owner),
    h("span", { role: "gridcell" }, slider.element),
    h(
      "span",
      { role: "gridcell", class: "input-box small" },
      wanted,
      h("span", { class: "unit" }, unit),
    ),
    h("span", { class: "joint-now" }, actual, h("span", { class: "unit" }, unit)),
  );
  const made = { joint, dof, label, element, slider, wanted, actual, owner };
  listen(made);
  showOwner(made);
  return made;
}

/** Present target of a degree of freedom [rad or m]. */
function wantedOf(dof: Dof): number {
  return drag.values[dof.signal] ?? valueOf(dof.target_signal) ?? valueOf(dof.signal) ?? 0;
}

function listen({ joint, dof, label, wanted, slider }: JointRow): void {
  const type = (): void => {
    const value = parse(wanted.value, dof.unit, store.degrees);
    const bad =
      value === null ? `${label}: not a number. Try 30deg or 0.5 rad.` : range(dof, label, value);
    if (bad) toast({ level: "warning", text: bad });
    if (value !== null) {
      beginGesture();
      want(joint, dof, Math.min(dof.hi ?? value, Math.max(dof.lo ?? value, value)));
    }
    wanted.blur();
  };
  wanted.addEventListener("change", type);
  // The joint's target replaces the typed text.
  wanted.addEventListener("blur", () => wanted.form?.reset());
  wanted.addEventListener("keydown", (event) => {
    if (event.key === "Enter") wanted.blur(); // fires a change event
    if (event.key === "Escape") {
      wanted.value = wanted.defaultValue;
      wanted.blur();
    }
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    slider.step(by * stepOf(dof) * (event.shiftKey ? 10 : 1));
  });
}

/** Why a dof cannot take a value; empty if it can. */
function range(dof: Dof, label: string, value: number): string {
  const words = (limit: number): string => formatSI(limit, dof.unit, store.degrees);
  if (dof.lo !== null && value < dof.lo - 1e-9) return `${label} stops at ${words(dof.lo)}.`;
  if (dof.hi !== null && value > dof.hi + 1e-9) return `${label} stops at ${words(dof.hi)}.`;
  return "";
}

/** Shows the owner of a joint; pressing takes it over, or gives it back. */
export function showOwner(row: JointRow): void {
  const { owner, label, dof } = row;
  const who = programOf(dof);
  const mine = isMine(dof);
  owner.hidden = who === null && !mine;
  owner.classList.toggle("mine", mine);
  owner.replaceChildren(icon(mine ? "hand" : "agent", 14));
  const words = mine
    ? `Give back ${label}, and all that is driven by hand`
    : `Take ${label} over${who === null ? "" : ` from ${who}`}`;
  owner.title = mine || who === null ? words : `${label} is driven by ${who}. ${words}`;
  owner.setAttribute("aria-label", words);
}

function pressOwner({ joint, dof }: JointRow): void {
  const who = programOf(dof);
  if (who === null) run("release");
  else if (store.status?.running) takeOver([dof]);
  else offerTakeOver(joint.name, [dof], who);
}
