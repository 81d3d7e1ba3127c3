import type { Row } from "../protocol/messages";
import { command } from "../app/session";
import { primary, store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { icon, type IconName } from "../ui/icon";
import { attributeRow } from "./attributeRow";

const ICONS: Record<string, IconName> = {
  joint: "joint",
  element: "element",
  part: "part",
  anchor: "anchor",
  sensor: "sensor",
  agent: "agent",
  scene: "scene",
  loop: "loop",
};

/** The attributes of what is selected, with unit, range and origin; editable. */
export function attributePanel(): HTMLElement {
  const panel = h("div", { class: "attributes" });
  let opened = false;
  let attempt: string | number | boolean | null = null;
  const draw = (): void => {
    const thing = primary();
    if (!thing || !store.scene) {
      panel.replaceChildren(
        h("p", { class: "empty" }, "Nothing is selected. Click a part in a view or in the tree."),
      );
      return;
    }
    const answer =
      store.attributes?.name === thing.name && store.attributes.kind === thing.kind
        ? store.attributes
        : null;
    const rows = answer?.rows ?? [];
    const head = h(
      "div",
      { class: "thing-head" },
      icon(ICONS[thing.kind] ?? "part"),
      h("div", {}, h("h2", {}, thing.name), h("p", {}, about(thing.kind, thing.name))),
    );
    const refusal = store.refused?.what === "edit" ? store.refused : null;
    const made = (row: Row): HTMLElement => {
      const refusedHere = refusal?.key === row.key;
      const field = attributeRow(withUnit(row), refusedHere ? refusal.text : "", (value) =>
        edit(row, value),
      );
      if (refusedHere && attempt) keepTyped(field, attempt);
      return field;
    };
    const unset = rows.filter((row) => row.value === "" && refusal?.key !== row.key);
    const set = rows.filter((row) => !unset.includes(row));
    const rest = h(
      "details",
      { class: "unset", hidden: unset.length === 0, open: opened },
      h("summary", {}, `${unset.length} not set`),
      ...unset.map(made),
    );
    rest.addEventListener("toggle", () => (opened = rest.open));
    panel.replaceChildren(
      head,
      h("div", { class: "fields" }, ...set.map(made), rest),
      legend(rows, refusal !== null),
      origin(rows),
    );
    if (answer && rows.length === 0)
      panel.append(h("p", { class: "empty" }, "It has no attributes to show."));
  };
  const edit = (row: Row, value: string | number | boolean): void => {
    const thing = primary();
    if (!thing) return;
    store.refused = null;
    attempt = value;
    command({ type: "edit", name: thing.name, kind: thing.kind, key: row.key, value });
  };
  on(["selection", "attributes", "refused", "scene", "units"], () => {
    const editing = panel.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset["key"]
      : undefined;
    draw();
    if (editing) panel.querySelector<HTMLElement>(`[data-key="${CSS.escape(editing)}"]`)?.focus();
  });
  draw();
  return panel;
}

/** A refused value stays in its field, so that it can be put right. */
function keepTyped(field: HTMLElement, typed: string | number | boolean): void {
  const parts = String(typed)
    .replace(/^\[|\]$/g, "")
    .split(",");
  const inputs = field.querySelectorAll<HTMLInputElement>("input[type=text]");
  inputs.forEach(
    (input, i) =>
      (input.value = (inputs.length > 1 ? (parts[i] ?? "") : String(typed))
        .trim()
        .replace("-", "−")),
  );
}

/** Units that depend on the joint ("N m or N") are said for the joint at hand. */
function withUnit(row: Row): Row {
  const [turning = "", sliding = ""] = row.unit.split(" or ");
  if (!sliding) return row;
  const joint = store.scene?.joints.find((j) => j.name === primary()?.name);
  return { ...row, unit: joint?.dofs[0]?.unit === "m" ? sliding : turning };
}

function about(kind: string, name: string): string {
  const scene = store.scene;
  if (kind === "joint") {
    const joint = scene?.joints.find((j) => j.name === name);
    const end = (body: number | undefined): string =>
      body === undefined ? "" : (scene?.bodies[body]?.name ?? "world");
    return joint ? `${joint.type}, ${end(joint.parent)} to ${end(joint.body)}` : "joint";
  }
  if (kind === "element") {
    const element = scene?.elements.find((e) => e.name === name);
    const shapes = element?.shapes.map((s) => s.kind).join(", ");
    return `element${shapes ? `, ${shapes}` : ""}`;
  }
  return kind;
}

function legend(rows: Row[], refused: boolean): HTMLElement {
  const dot = (kind: string, words: string): HTMLElement =>
    h("span", {}, h("span", { class: `origin ${kind}` }), words);
  return h(
    "p",
    { class: "legend" },
    dot("kit", "kit"),
    dot("scene", "scene"),
    rows.some((row) => row.changed) && dot("changed", "changed, not saved"),
    refused && dot("refused", "refused"),
  );
}

function origin(rows: Row[]): HTMLElement {
  const first = rows.find((row) => /:\d+$/.test(row.origin));
  if (!first) return h("p", { class: "from", hidden: true });
  const cut = first.origin.lastIndexOf(":");
  return h(
    "p",
    { class: "from", title: first.origin },
    "From ",
    h("code", {}, first.origin.slice(0, cut).split("/").slice(-3).join("/")),
    `, line ${first.origin.slice(cut + 1)}`,
  );
}
