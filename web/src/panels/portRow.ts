import type { BusView, PortSignalView, PortView } from "../protocol/messages";
import { buses, hex, portStateOf, stateOf } from "../app/buses";
import { formatSI, parse, screenUnit, format } from "../app/numbers";
import { PERSON } from "../app/owners";
import { isSelected, select } from "../app/selection";
import { command } from "../app/session";
import { store } from "../app/store";
import { addCurve } from "../charts/charts";
import { button, iconButton } from "../ui/button";
import { h, setText } from "../ui/dom";
import { whyOff } from "../ui/driving";
import { icon } from "../ui/icon";
import { toast } from "../ui/toast";

/** Updates the displayed values. */
export type Live = () => void;

/** Smaller differences to the bus's age are not shown [s]. */
const SAME_AGE = 0.1;

/** A port and its signals; a click on its name selects the joint behind it. */
export function portRows(
  bus: BusView,
  port: PortView,
  columns: Map<string, number>,
  live: Live[],
): HTMLElement[] {
  const age = h("span", { class: "port-age" });
  const thing = { kind: "joint", name: port.joint } as const;
  const head = h(
    "button",
    {
      type: "button",
      class: "port-head",
      "data-port": port.name,
      disabled: port.joint === "",
      title: port.joint ? `Select ${port.joint}` : port.name,
      onclick: (event: MouseEvent) => select(thing, event.shiftKey),
    },
    icon(port.joint ? "joint" : "sensor"),
    h("b", {}, port.name),
    age,
  );
  const place = bus.ports.indexOf(port);
  live.push(() => {
    head.setAttribute("aria-pressed", String(port.joint !== "" && isSelected(thing)));
    setText(age, ageWords(bus, place));
    age.classList.toggle("warn", portStateOf(bus.name, place)?.lost ?? false);
  });
  return [
    head,
    ...port.signals.map((signal) => signalRow(signal, columns.get(signal.name)!, live)),
  ];
}

/** Age of a port's last input, where it differs from the bus's. */
function ageWords(bus: BusView, place: number): string {
  const now = portStateOf(bus.name, place);
  if (!now || now.age === null) return "";
  const whole = stateOf(bus.name)?.age ?? now.age;
  if (!now.lost && Math.abs(now.age - whole) < SAME_AGE) return "";
  return `${now.lost ? "lost, " : ""}${formatSI(now.age, "s")} ago`;
}

function signalRow(signal: PortSignalView, place: number, live: Live[]): HTMLElement {
  const value = h("span", { class: "port-value" });
  const raw = h("code", { class: "port-raw", title: "Code on the wire" });
  const about = h("p", { class: "port-about" });
  const hold = holdField(signal, () => hand.setAttribute("aria-expanded", String(!hold.hidden)));
  const hand = iconButton(
    "hand",
    `Override ${signal.name}`,
    () => {
      hold.hidden = !hold.hidden;
      hand.setAttribute("aria-expanded", String(!hold.hidden));
      if (!hold.hidden) hold.querySelector("input")?.focus();
    },
    "quiet small",
  );
  hand.setAttribute("aria-expanded", "false");
  const row = h(
    "div",
    { class: "port-signal", "data-signal": signal.name, role: "group", "aria-label": signal.name },
    h("span", { class: "port-name", title: rangeWords(signal) }, signal.label),
    value,
    raw,
    iconButton("chart", `Chart ${signal.name}`, () => addCurve(signal.name), "quiet small"),
    hand,
    about,
    hold,
  );
  live.push(() => {
    const now = buses.ports;
    if (!now) return;
    const found = now.values[place] ?? null;
    const code = now.raw[place] ?? null;
    const held = now.held[place] ?? false;
    const owner = now.owners[place] ?? "";
    setText(value, found === null ? "–" : formatSI(found, signal.unit, store.degrees));
    setText(raw, code === null ? "" : hex(code, signal.bits));
    setText(about, aboutWords(signal, owner, held));
    row.classList.toggle("held", held);
    hold.classList.toggle("on", held);
    const why = whyOff();
    for (const each of hold.querySelectorAll<HTMLInputElement>("input, button"))
      each.disabled = why !== "";
    hold.title = why;
  });
  return row;
}

function aboutWords(signal: PortSignalView, owner: string, held: boolean): string {
  const who = owner === PERSON ? "you" : owner;
  const set = held ? "held by a person" : who ? `set by ${who}` : "";
  const bits = signal.bits > 0 ? `${signal.bits} bit` : "";
  return [signal.role, signal.address, bits, set].filter(Boolean).join(" · ");
}

function rangeWords(signal: PortSignalView): string {
  const { lo, hi, unit } = signal;
  if (lo === null || hi === null) return signal.name;
  return `${signal.name}: ${formatSI(lo, unit)} to ${formatSI(hi, unit)}`;
}

/** A field that overrides the signal with a value until it is released. */
function holdField(signal: PortSignalView, done: () => void): HTMLElement {
  const { unit, factor, digits } = screenUnit(signal.unit, store.degrees);
  const input = h("input", {
    type: "text",
    class: "number",
    inputmode: "decimal",
    "aria-label": `Hold ${signal.name} at`,
  });
  const hold = (): void => {
    const typed = parse(input.value, signal.unit, store.degrees);
    if (typed === null) {
      toast({ level: "warning", text: `${signal.label} takes a number in ${unit || "SI"}.` });
      return;
    }
    command({ type: "override", signal: signal.name, value: typed });
  };
  const release = (): void => {
    command({ type: "override", signal: signal.name, value: null });
    box.hidden = true;
    done();
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") hold();
    if (event.key === "Escape") {
      box.hidden = true;
      done();
    }
  });
  input.placeholder = format(0 / factor, digits);
  const box = h(
    "div",
    { class: "port-hold", hidden: true },
    h("div", { class: "input-box" }, input, unit && h("span", { class: "unit" }, unit)),
    button("Hold", hold, "raised"),
    button("Release", release, "bare"),
  );
  return box;
}
