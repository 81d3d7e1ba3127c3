import type { BusView } from "../protocol/messages";
import { buses, busList, lookAt, stateOf } from "../app/buses";
import { layout } from "../app/layout";
import { arithmetic } from "../app/numbers";
import { command } from "../app/session";
import { on } from "../app/topics";
import { button, iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { driving } from "../ui/driving";
import { toast } from "../ui/toast";
import { section } from "./section";

const KINDS: { kind: string; label: string; help: string }[] = [
  { kind: "drop", label: "Lose", help: "Nobody hears the frame; its sender believes it went out." },
  { kind: "delay", label: "Delay", help: "The frame comes later." },
  { kind: "corrupt", label: "Flip a bit", help: "One bit of the data is turned, unnoticed." },
  { kind: "duplicate", label: "Repeat", help: "The frame comes twice." },
  { kind: "error", label: "Destroy", help: "An error frame instead; it is sent again." },
  { kind: "bus_off", label: "Bus off", help: "Its sender leaves the bus until the fault ends." },
];

/** Faults at work, and a form for new ones. */
export function faultPanel(): HTMLElement {
  const running = h("div", { class: "fault-list", role: "list", "aria-label": "Faults at work" });
  const empty = h("p", { class: "empty" });
  const where = h("select", { "aria-label": "Bus" });
  const form = faultForm(() => where.value);
  const whole = section(
    "New fault",
    null,
    h("div", { class: "fields" }, labelled("Bus", where), ...form.parts),
  );
  const tools = h(
    "div",
    { class: "fault-tools" },
    button("Stop all", () => each("clear"), "raised"),
    button("Restart nodes", () => each("restart"), "bare"),
  );
  const each = (name: string): void => {
    for (const bus of able()) command({ type: "order", bus: bus.name, name, args: {} });
  };
  const panel = h(
    "div",
    { class: "panel-body scroll", role: "tabpanel", "aria-label": "Faults" },
    running,
    empty,
    driving(tools, whole),
  );
  let drawn = "";
  const draw = (): void => {
    const list = able();
    const now = list.flatMap((bus) =>
      (stateOf(bus.name)?.faults ?? []).map((fault) => ({ bus: bus.name, ...fault })),
    );
    const words = JSON.stringify(now);
    if (words === drawn) return;
    drawn = words;
    running.replaceChildren(
      ...now.map((fault) =>
        h(
          "div",
          { class: "fault-card", role: "listitem", "aria-label": `Fault ${fault.number}` },
          h("span", { class: "fault-number" }, String(fault.number)),
          h(
            "div",
            {},
            h("b", {}, `${fault.text.charAt(0).toUpperCase()}${fault.text.slice(1)}`),
            h("p", {}, fault.bus),
            h(
              "p",
              { class: "warn" },
              fault.hits === 1 ? "1 frame struck" : `${fault.hits} frames struck`,
            ),
          ),
          iconButton("close", `End fault ${fault.number}`, () =>
            command({
              type: "order",
              bus: fault.bus,
              name: "clear",
              args: { number: fault.number },
            }),
          ),
        ),
      ),
    );
    empty.hidden = now.length > 0;
  };
  const build = (): void => {
    const list = able();
    const chosen = where.value;
    where.replaceChildren(
      ...list.map((bus) =>
        h("option", { value: bus.name, selected: bus.name === chosen }, bus.name),
      ),
    );
    whole.hidden = tools.hidden = list.length === 0;
    empty.textContent =
      list.length > 0
        ? "No fault is at work. Choose one below."
        : busList().length > 0
          ? "The buses of this scene know no faults. A CAN bus does."
          : "This scene has no buses. A CAN bus in its file offers faults on the wire.";
    drawn = "";
    draw();
  };
  const look = (): void =>
    lookAt("ports", "fault panel", layout.right === "Faults" && able().length > 0);
  on("scene", () => (build(), look()));
  on("layout", look);
  on("ports", () => {
    if (!panel.hidden && buses.ports) draw();
  });
  build();
  return panel;
}

function able(): BusView[] {
  return busList().filter((bus) => bus.orders.includes("fault"));
}

function labelled(words: string, control: HTMLElement, unit = ""): HTMLElement {
  return h(
    "label",
    { class: "field" },
    h("span", { class: "field-label" }, words),
    h("div", { class: "input-box" }, control, unit && h("span", { class: "unit" }, unit)),
  );
}

/** Kind, identifiers, chance, times and seed of a fault. */
function faultForm(bus: () => string): { parts: HTMLElement[] } {
  let kind = KINDS[0]!;
  const text = (label: string, value: string, hint = ""): HTMLInputElement =>
    h("input", { type: "text", class: "number", "aria-label": label, value, placeholder: hint });
  const ids = text("Frames", "", "all");
  const chance = text("Chance", "100");
  const delay = text("Delay", "10");
  const after = text("Starts in", "0");
  const lasts = text("Lasts", "", "until stopped");
  const seed = text("Seed", "0");
  const help = h("p", { class: "fault-help" });
  const late = labelled("By", delay, "ms");
  const kinds = KINDS.map((each) =>
    h(
      "button",
      {
        type: "button",
        class: "button raised choice",
        title: each.help,
        onclick: () => choose(each),
      },
      each.label,
    ),
  );
  const choose = (chosen: (typeof KINDS)[number]): void => {
    kind = chosen;
    kinds.forEach((made, i) => made.setAttribute("aria-pressed", String(KINDS[i] === kind)));
    late.hidden = kind.kind !== "delay";
    help.textContent = kind.help;
  };
  choose(kind);
  const inject = (): void => {
    try {
      const args: Record<string, unknown> = {
        kind: kind.kind,
        chance: number(chance) / 100,
        after: number(after),
        seed: number(seed),
        ids: ids.value
          .split(/[\s,;]+/)
          .filter(Boolean)
          .map(identifier),
      };
      if (kind.kind === "delay") args["delay"] = number(delay) / 1000;
      if (lasts.value.trim()) args["lasts"] = number(lasts);
      command({ type: "order", bus: bus(), name: "fault", args });
    } catch (error) {
      toast({ level: "warning", text: (error as Error).message });
    }
  };
  return {
    parts: [
      h("div", { class: "fault-kinds", role: "group", "aria-label": "Kind of fault" }, ...kinds),
      help,
      labelled("Frames", ids),
      labelled("Chance", chance, "%"),
      late,
      labelled("Starts in", after, "s"),
      labelled("Lasts", lasts, "s"),
      labelled("Seed", seed),
      h("div", { class: "fault-inject" }, button("Inject", inject, "accent")),
    ],
  };
}

function number(input: HTMLInputElement): number {
  const value = arithmetic(input.value.trim().replaceAll("−", "-").replaceAll(",", "."));
  if (value === null)
    throw new Error(`${input.getAttribute("aria-label")} takes a number, not “${input.value}”.`);
  return value;
}

/** An identifier as people write it: `0x201`, `201h` or 513. */
function identifier(word: string): number {
  const value = /^[0-9a-f]+h$/i.test(word) ? parseInt(word, 16) : Number(word);
  if (!Number.isInteger(value) || value < 0)
    throw new Error(`“${word}” is no identifier. Write 0x201, or several with commas.`);
  return value;
}
