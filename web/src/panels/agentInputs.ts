import type { Dof, SignalView } from "../protocol/messages";
import { format, parse, screenUnit } from "../app/numbers";
import { paced } from "../app/throttle";
import { command } from "../app/session";
import { valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { driving } from "../ui/driving";
import { toast } from "../ui/toast";
import { JointSlider } from "./jointSlider";
import { section } from "./section";

interface Row {
  signal: SignalView;
  slider: JointSlider;
  wanted: HTMLInputElement;
  element: HTMLElement;
}

/** Manual inputs of agents, such as foot poses: a slider and a number each. */
export function agentInputs(): HTMLElement {
  const grid = h("div", { class: "joints", role: "grid", "aria-label": "Inputs of agents" });
  const form = h("form", { onsubmit: (event: Event) => event.preventDefault() }, grid);
  const whole = section("Inputs", null, driving(form));
  let rows: Row[] = [];
  const rebuild = (): void => {
    rows = inputs().map(row);
    const longest = Math.max(0, ...rows.map(({ signal }) => short(signal).length));
    grid.style.setProperty("--name", `${Math.min(128, Math.max(32, longest * 6.5 + 8))}px`);
    grid.replaceChildren(...rows.map(({ element }) => element));
    whole.hidden = rows.length === 0;
    watch(
      "inputs",
      rows.map(({ signal }) => signal.name),
    );
    draw();
  };
  const draw = (): void => {
    if (!whole.isConnected || whole.hidden) return;
    for (const { signal, slider, wanted } of rows) {
      const { factor, digits, unit } = screenUnit(signal.unit, store.degrees);
      const value = valueOf(signal.name);
      const text = value === null ? "" : format(value / factor, digits);
      if (document.activeElement !== wanted && wanted.defaultValue !== text)
        wanted.defaultValue = text;
      slider.show(value, null, `${text} ${unit === "°" ? "degrees" : unit}`);
    }
  };
  on(["scene", "units"], rebuild);
  on("signals", paced(draw));
  rebuild();
  return whole;
}

/** Inputs of agents, not of joints or ports. */
function inputs(): SignalView[] {
  const agents = new Set((store.scene?.agents ?? []).map((agent) => agent.name));
  return (store.scene?.signals ?? []).filter(
    ({ name, direction }) =>
      direction === "input" && agents.has(name.slice(0, name.lastIndexOf("."))),
  );
}

function short({ name }: SignalView): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function row(signal: SignalView): Row {
  const label = short(signal);
  const { lo, hi, unit } = signal;
  // The joint slider works for any value with a range.
  const dof = { name: label, unit, lo, hi, signal: signal.name } as Dof;
  const want = (value: number): void => {
    const owner = store.owners[signal.name];
    if (owner !== undefined && owner !== "user") command({ type: "take", signal: signal.name });
    command({ type: "set", signal: signal.name, value });
  };
  const slider = new JointSlider(label, dof, want, () => valueOf(signal.name) ?? 0);
  const wanted = h("input", {
    type: "text",
    class: "number",
    "aria-label": `${label} wanted`,
    spellcheck: "false",
    autocomplete: "off",
  });
  wanted.addEventListener("change", () => {
    const value = parse(wanted.value, unit, store.degrees);
    if (value === null) toast({ level: "warning", text: `${label}: not a number.` });
    else want(Math.min(hi ?? value, Math.max(lo ?? value, value)));
    wanted.blur();
  });
  wanted.addEventListener("blur", () => wanted.form?.reset());
  const element = h(
    "div",
    { class: "joint-row", role: "row", "data-signal": signal.name },
    h("span", { role: "rowheader", class: "joint-name", title: signal.name }, label),
    h("span", { role: "gridcell" }),
    h("span", { role: "gridcell" }, slider.element),
    h(
      "span",
      { role: "gridcell", class: "input-box small" },
      wanted,
      h("span", { class: "unit" }, screenUnit(unit, store.degrees).unit),
    ),
  );
  return { signal, slider, wanted, element };
}
