import { chosenAnchors, closeLoop } from "../app/closeLoop";
import type { Attributes, AttributeRow } from "../protocol/messages";
import { convert } from "../app/files";
import { select } from "../app/selection";
import { command } from "../app/session";
import { ofPrimary, primary, same, store, type Thing } from "../app/store";
import { announce, on } from "../app/topics";
import { button } from "../ui/button";
import { driving } from "../ui/driving";
import { h } from "../ui/dom";
import { icon, type IconName } from "../ui/icon";
import type { Value } from "./attributeField";
import { bindForm } from "./bindForm";
import { attributeRow, type Refusal } from "./attributeRow";
import { countWords, shapeWords } from "./attributeWords";
import { stepResponse } from "./stepResponse";

const ICONS: Record<string, IconName> = {
  joint: "joint",
  element: "element",
  part: "part",
  anchor: "anchor",
  sensor: "sensor",
  agent: "agent",
  scene: "scene",
  loop: "loop",
  posture: "robot",
  light: "sun",
  viewpoint: "camera",
};

/** Collapsed rows: values that no file stores, and attributes that are not set. */
type Fold = "of-run" | "unset";

/** The last edit, which may be refused. */
interface Attempt {
  thing: Thing;
  key: string;
  value: Value;
}

/** The attributes of the selection, with unit, range and origin; editable. */
export function attributePanel(): HTMLElement {
  const fields = driving();
  const panel = h("div", { class: "attributes" }, fields);
  const opened = new Set<Fold>();
  let attempt: Attempt | null = null;
  const draw = (): void => {
    const thing = primary();
    if (!thing || !store.scene) {
      fields.replaceChildren(
        h("p", { class: "empty" }, "Nothing is selected. Click a part in a view or in the tree."),
      );
      return;
    }
    const answer = ofPrimary(store.attributes) ? store.attributes : null;
    const rows = answer?.rows ?? [];
    const refused = store.refused?.what === "edit" && same(attempt?.thing ?? null, thing);
    const refusedKey = refused ? store.refused?.key : undefined;
    const made = (row: AttributeRow): HTMLElement => {
      const here: Refusal | null =
        row.key === refusedKey && attempt && store.refused
          ? { text: store.refused.text, tried: attempt.value, avoid: avoided(thing, row.key) }
          : null;
      const field = attributeRow(withUnit(row), here, (value) => edit(row, value), restore);
      if (here) keepTyped(field, here.tried);
      return field;
    };
    const fold = (kind: Fold, words: string, inside: AttributeRow[]): HTMLElement => {
      const rest = h(
        "details",
        { class: kind, hidden: inside.length === 0, open: opened.has(kind) },
        h("summary", {}, `${inside.length} ${words}`),
        ...inside.map(made),
      );
      rest.addEventListener("toggle", () => opened[rest.open ? "add" : "delete"](kind));
      return rest;
    };
    const foldOf = (row: AttributeRow): Fold | null =>
      row.key === refusedKey
        ? null
        : row.key.startsWith("live.")
          ? "of-run"
          : row.value === ""
            ? "unset"
            : null;
    const set = rows.filter((row) => foldOf(row) === null);
    const folds = [
      fold(
        "of-run",
        "of the running scene",
        rows.filter((row) => foldOf(row) === "of-run"),
      ),
      fold(
        "unset",
        "not set",
        rows.filter((row) => foldOf(row) === "unset"),
      ),
    ];
    const bind = bindForm(
      thing,
      rows,
      (value) => edit({ key: "bus" }, value),
      refusedKey === "bus" ? (store.refused?.text ?? "") : "",
    );
    fields.replaceChildren(
      head(thing),
      ...actions(thing, answer),
      h("div", { class: "fields" }, ...withHeadings(set, made), ...(bind ? [bind] : []), ...folds),
      legend(rows, refusedKey !== undefined),
      origin(rows),
    );
    if (answer && rows.length === 0)
      fields.append(h("p", { class: "empty" }, "It has no attributes to show."));
  };
  const restore = (): void => {
    store.refused = null;
    announce("attributes");
  };
  const edit = (row: Pick<AttributeRow, "key">, value: Value): void => {
    const thing = primary();
    if (!thing) return;
    store.refused = null;
    attempt = { thing, key: row.key, value };
    if (row.key === "name") {
      const scope = thing.name.slice(0, thing.name.lastIndexOf("/") + 1);
      store.renaming = { thing, to: `${scope}${String(value)}` };
    }
    if (command({ type: "edit", name: thing.name, kind: thing.kind, key: row.key, value })) return;
    attempt = store.renaming = null;
    // It had no effect. Deferred, since the focus may be leaving the field.
    setTimeout(() => keepingFocus(panel, draw, false));
  };
  on(["selection", "attributes", "refused", "scene", "units"], () => keepingFocus(panel, draw));
  draw();
  return panel;
}

/** Redraws; input in progress is kept, unless it is to be dropped. */
function keepingFocus(panel: HTMLElement, draw: () => void, keep = true): void {
  const active = document.activeElement;
  const input = active instanceof HTMLInputElement && panel.contains(active) ? active : null;
  const key = panel.contains(active) ? (active as HTMLElement).dataset["key"] : undefined;
  // The server answers sent values; text typed since then is still to be sent.
  const sent = input?.dataset["sent"] ?? input?.defaultValue;
  const typed = keep && input && input.value !== sent ? input.value : null;
  draw();
  if (key === undefined) return;
  const again = panel.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  again?.focus();
  if (typed !== null && again instanceof HTMLInputElement) again.value = typed;
}

/** A refused value stays in its field, so that it can be corrected. */
function keepTyped(field: HTMLElement, typed: Value): void {
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

/** Values within the range that the scene refuses: a moving body needs mass. */
function avoided({ kind, name }: Thing, key: string): number[] {
  const elements = store.scene?.elements ?? [];
  const body = elements.find((each) => kind === "element" && each.name === name)?.body;
  if (body === undefined || !/^(mass|density)(_|$)/.test(key)) return [];
  const alone = elements.filter((each) => each.body === body).length === 1;
  return alone && store.scene?.bodies[body]?.static === false ? [0] : [];
}

/** Units that depend on the joint type ("N m or N") are resolved for the joint. */
function withUnit(row: AttributeRow): AttributeRow {
  const [turning = "", sliding = ""] = row.unit.split(" or ");
  if (!sliding) return row;
  const joint = store.scene?.joints.find((j) => j.name === primary()?.name);
  return { ...row, unit: joint?.dofs[0]?.unit === "m" ? sliding : turning };
}

function head(thing: Thing): HTMLElement {
  return h(
    "div",
    { class: "thing-head" },
    icon(ICONS[thing.kind] ?? "part"),
    h("div", {}, h("h2", {}, thing.name), h("p", {}, about(thing.kind, thing.name))),
  );
}

/** Actions for the object, and side effects of an edit. */
function actions(thing: Thing, answer: Attributes | null): HTMLElement[] {
  const made: HTMLElement[] = [];
  if (answer?.note) made.push(h("p", { class: "attribute-note" }, answer.note));
  if (answer?.placement) {
    const { placement: name } = answer;
    const show = button(`Drives of ${name}`, () => select({ kind: "part", name }), "raised");
    made.push(h("div", { class: "attribute-act" }, show));
  }
  if (answer?.convert)
    made.push(h("div", { class: "attribute-act" }, button("Edit as TOML", convert, "raised")));
  if (thing.kind === "anchor") {
    const both = chosenAnchors().length === 2;
    const words = both ? "Close loop here" : "Close a loop from here";
    made.push(h("div", { class: "attribute-act" }, button(words, closeLoop, "raised", "loop")));
  }
  const joint = store.scene?.joints.find((j) => thing.kind === "joint" && j.name === thing.name);
  if (joint?.dofs[0]?.target_signal) {
    const words = "Step response";
    const act = button(words, () => stepResponse(joint), "raised", "chart");
    act.title = "Applies a target step of 20° (20 mm) and charts target and response";
    made.push(h("div", { class: "attribute-act" }, act));
  }
  if (thing.kind === "posture") {
    const apply = (): void => void command({ type: "posture", name: thing.name });
    made.push(h("div", { class: "attribute-act" }, button("Apply posture", apply, "raised")));
  }
  return made;
}

/** Rows with a heading before those of each shape. */
function withHeadings(
  rows: AttributeRow[],
  made: (row: AttributeRow) => HTMLElement,
): HTMLElement[] {
  const name = primary()?.name;
  const element = store.scene?.elements.find((e) => e.name === name);
  const kinds = element?.shapes.map((s) => s.kind) ?? [];
  let last = "";
  return rows.flatMap((row) => {
    const heading = shapeWords(row.key, kinds);
    const isNew = heading !== "" && heading !== last;
    last = heading;
    return isNew ? [h("h4", { class: "field-group" }, heading), made(row)] : [made(row)];
  });
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
    return countWords(element?.shapes.map((s) => s.kind) ?? []) || "element";
  }
  return kind;
}

function legend(rows: AttributeRow[], refused: boolean): HTMLElement {
  const dot = (kind: string, words: string): HTMLElement =>
    h("span", {}, h("span", { class: `origin ${kind}` }), words);
  return h(
    "p",
    { class: "legend" },
    dot("kit", "kit or default"),
    dot("scene", "your file"),
    rows.some((row) => row.changed) && dot("changed", "changed, not saved"),
    refused && dot("refused", "refused"),
  );
}

function origin(rows: AttributeRow[]): HTMLElement {
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
