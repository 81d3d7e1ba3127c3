import { busList } from "../app/buses";
import { arithmetic } from "../app/numbers";
import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { toast } from "../ui/toast";
import { readSpot, spotText, entryPath } from "./walk";

type Field =
  | "bus"
  | "ids"
  | "chance"
  | "node"
  | "times"
  | "rate"
  | "delay"
  | "reading"
  | "joint"
  | "value"
  | "by"
  | "deviation"
  | "enters"
  | "to"
  | "speed";

interface Kind {
  kind: string;
  label: string;
  help: string;
  fields: Field[];
}

const WIRE: Field[] = ["bus", "ids", "node", "chance", "times"];
const KINDS: Kind[] = [
  {
    kind: "drop",
    label: "Drop",
    help: "The frame is not received; its sender counts it as sent.",
    fields: WIRE,
  },
  { kind: "delay", label: "Delay", help: "The frame is delayed.", fields: [...WIRE, "delay"] },
  {
    kind: "corrupt",
    label: "Flip a bit",
    help: "One bit of the data is flipped, without a checksum error.",
    fields: WIRE,
  },
  { kind: "duplicate", label: "Repeat", help: "The frame is received twice.", fields: WIRE },
  {
    kind: "error",
    label: "Destroy",
    help: "An error frame instead; counters increase, it is sent again.",
    fields: WIRE,
  },
  {
    kind: "bus_off",
    label: "Bus off",
    help: "Senders leave the bus, until the fault ends.",
    fields: WIRE,
  },
  {
    kind: "stuck",
    label: "Stuck sensor",
    help: "The reading stays at its last value, or at a given one.",
    fields: ["reading", "value", "rate"],
  },
  {
    kind: "offset",
    label: "Offset",
    help: "The reading has a constant offset.",
    fields: ["reading", "by", "rate"],
  },
  {
    kind: "noise",
    label: "Noise",
    help: "Random noise is added to the reading in each step.",
    fields: ["reading", "deviation", "rate"],
  },
  {
    kind: "dead",
    label: "Dead drive",
    help: "The drive has no effort.",
    fields: ["joint", "rate"],
  },
  {
    kind: "person",
    label: "Person",
    help: "A person walks into the cell, and out again when the fault ends.",
    fields: ["enters", "to", "speed"],
  },
];

/** A new fault: its kind, target, schedule and seed. */
export function faultForm(): { element: HTMLElement; fill: () => void } {
  const bus = h("select", { "aria-label": "Bus" });
  const reading = h("select", { "aria-label": "Reading" });
  const joint = h("select", { "aria-label": "Joint" });
  const ids = text("Frames", "", "all");
  const node = text("Sender", "", "all");
  const chance = text("Chance", "100");
  const times = text("At most", "", "no limit");
  const rate = text("Rate", "", "at once");
  const delay = text("By", "10");
  const value = text("At", "", "where it is");
  const by = text("Offset by", "0.1");
  const deviation = text("Deviation", "0.01");
  const enters = text("Enters at", "");
  const to = text("Walks to", "");
  const speed = text("Walking speed", "1.4");
  let ownWay = false;
  for (const input of [enters, to]) input.addEventListener("input", () => (ownWay = true));
  const after = text("Starts in", "0");
  const lasts = text("Lasts", "", "until stopped");
  const seed = text("Seed", "1");
  const rows: Record<Field, HTMLElement> = {
    bus: labelled("Bus", bus),
    ids: labelled("Frames", ids),
    node: labelled("Sender", node),
    chance: labelled("Chance", chance, "%"),
    times: labelled("At most", times, "times"),
    rate: labelled("Rate", rate, "per s"),
    delay: labelled("By", delay, "ms"),
    reading: labelled("Reading", reading),
    joint: labelled("Joint", joint),
    value: labelled("At", value, "SI"),
    by: labelled("Offset by", by, "SI"),
    deviation: labelled("Deviation", deviation, "SI"),
    enters: labelled("Enters at", enters, "x, y in m"),
    to: labelled("Walks to", to, "x, y in m"),
    speed: labelled("Walking speed", speed, "m/s"),
  };
  const seedRow = labelled("Seed", seed);
  /** Only random faults have a seed. */
  const hasChance = (): boolean =>
    kind.fields.includes("chance") ||
    kind.fields.includes("deviation") ||
    (kind.fields.includes("rate") && rate.value.trim() !== "");
  const showSeed = (): boolean => (seedRow.hidden = !hasChance());
  rate.addEventListener("input", showSeed);
  /** Start and target that fit the scene, until the user types others. */
  const suggestWay = (): void => {
    if (ownWay || !store.scene || !store.poses) return;
    const path = entryPath(store.scene, store.poses);
    enters.value = spotText(path.enters);
    to.value = spotText(path.to);
  };
  const help = h("p", { class: "fault-help" });
  const kinds = h("div", { class: "fault-kinds", role: "group", "aria-label": "Kind of fault" });
  let kind = KINDS[0]!;
  /** The user's choice; by default the first kind that applies to the scene. */
  let chosen: Kind | null = null;
  const choose = (next: Kind): void => {
    kind = next;
    for (const made of kinds.querySelectorAll("button"))
      made.setAttribute("aria-pressed", String(made.dataset["kind"] === kind.kind));
    for (const [name, row] of Object.entries(rows))
      row.hidden = !kind.fields.includes(name as Field);
    showSeed();
    help.textContent = kind.help;
    if (kind.kind === "person") suggestWay();
  };
  const args = (): Record<string, unknown> => {
    const made: Record<string, unknown> = {};
    const start = number(after);
    if (start > 0) made["at"] = (store.status?.time ?? 0) + start;
    if (lasts.value.trim()) made["lasts"] = number(lasts);
    const wants = (name: Field): boolean => kind.fields.includes(name);
    if (wants("bus")) made["bus"] = bus.value;
    if (wants("ids") && ids.value.trim())
      made["ids"] = ids.value
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map(identifier);
    if (wants("node") && node.value.trim()) made["node"] = node.value.trim();
    if (wants("times") && times.value.trim()) made["times"] = number(times);
    if (wants("chance") && number(chance) < 100) made["chance"] = number(chance) / 100;
    if (wants("rate") && rate.value.trim()) made["chance"] = number(rate);
    if (hasChance()) made["seed"] = number(seed);
    if (wants("delay")) made["delay"] = number(delay) / 1000;
    if (wants("reading")) made["signal"] = reading.value;
    if (wants("joint")) made["joint"] = joint.value;
    if (wants("value") && value.value.trim()) made["value"] = number(value);
    if (wants("by")) made["by"] = number(by);
    if (wants("deviation")) made["deviation"] = number(deviation);
    if (wants("enters")) made["enters"] = readSpot(enters.value, "Enters at");
    if (wants("to")) made["to"] = readSpot(to.value, "Walks to");
    if (wants("speed")) made["speed"] = number(speed);
    return made;
  };
  const inject = (): void => {
    try {
      command({ type: "fault", kind: kind.kind, args: args() });
    } catch (error) {
      toast({ level: "warning", text: (error as Error).message });
    }
  };
  const element = h(
    "div",
    { class: "fields" },
    kinds,
    help,
    ...Object.values(rows),
    labelled("Starts in", after, "s"),
    labelled("Lasts", lasts, "s"),
    seedRow,
    h(
      "div",
      { class: "fault-inject" },
      button("Inject", inject, "accent"),
      h("span", {}, "It is recorded"),
    ),
  );
  /** Offers the faults that apply to this scene. */
  const fill = (): void => {
    const wired = busList().filter((each) => each.faults.length > 0);
    const names = wired.map((each) => each.name);
    options(bus, names);
    options(reading, readings());
    options(joint, drives());
    const able = KINDS.filter(
      ({ kind, fields }) =>
        kind === "person" ||
        wired.some((each) => each.faults.includes(kind)) ||
        (fields.includes("reading") && reading.options.length > 0) ||
        (fields.includes("joint") && joint.options.length > 0),
    );
    kinds.replaceChildren(
      ...able.map((each) =>
        h(
          "button",
          {
            type: "button",
            class: "button raised choice",
            "data-kind": each.kind,
            title: each.help,
            onclick: () => choose((chosen = each)),
          },
          each.label,
        ),
      ),
    );
    choose(able.find((each) => each === chosen) ?? able[0]!);
  };
  on("poses", () => kind.kind === "person" && enters.value === "" && suggestWay());
  return { element, fill };
}

/** Measured signals: those of sensors, and sensors of ports. */
function readings(): string[] {
  const ports = busList().flatMap((bus) => bus.ports.flatMap((port) => port.signals));
  return [
    ...(store.scene?.sensors ?? []).flatMap((sensor) => sensor.signals),
    ...ports.filter((signal) => signal.role === "sensor").map((signal) => signal.name),
  ];
}

function drives(): string[] {
  const joints = store.scene?.joints ?? [];
  return joints.filter((each) => each.drive !== "none").map((each) => each.name);
}

function options(select: HTMLSelectElement, names: string[]): void {
  const chosen = select.value;
  select.replaceChildren(
    ...names.map((name) => h("option", { value: name, selected: name === chosen }, name)),
  );
}

function text(label: string, value: string, hint = ""): HTMLInputElement {
  return h("input", {
    type: "text",
    class: "number",
    "aria-label": label,
    value,
    placeholder: hint,
  });
}

function labelled(words: string, control: HTMLElement, unit = ""): HTMLElement {
  return h(
    "label",
    { class: "field" },
    h("span", { class: "field-label" }, words),
    h("div", { class: "input-box" }, control, unit && h("span", { class: "unit" }, unit)),
  );
}

function number(input: HTMLInputElement): number {
  const value = arithmetic(input.value.trim().replaceAll("−", "-").replaceAll(",", "."));
  if (value === null)
    throw new Error(`${input.getAttribute("aria-label")} takes a number, not “${input.value}”.`);
  return value;
}

/** An identifier as text: `0x201`, `201h` or 513. */
function identifier(word: string): number {
  const value = /^[0-9a-f]+h$/i.test(word) ? parseInt(word, 16) : Number(word);
  if (!Number.isInteger(value) || value < 0)
    throw new Error(`“${word}” is no identifier. Write 0x201, or several with commas.`);
  return value;
}
