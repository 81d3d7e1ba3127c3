import type { Row } from "../protocol/messages";
import { arithmetic, format } from "../app/numbers";
import { h } from "../ui/dom";

type Value = string | number | boolean;

/** How a key of the file is said on the screen: `max_speed_deg` → "Max speed". */
export function keyWords(key: string): string {
  const plain = key
    .replace(/_(deg|mm)$/, "")
    .replace(/_(deg|mm)\b/g, "")
    .replaceAll("_", " ")
    .replaceAll(".", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** One attribute: name, field with unit, dot for where it comes from, refusal below. */
export function attributeRow(row: Row, refusal: string, edit: (value: Value) => void): HTMLElement {
  const id = `attribute-${row.key.replace(/[^a-z0-9]/gi, "-")}`;
  const label = h(
    "label",
    { for: id, class: "field-label", title: rangeWords(row) },
    keyWords(row.key),
  );
  const control = field(row, id, refusal, edit);
  const state = refusal
    ? "refused"
    : row.changed
      ? "changed"
      : /kits?\//.test(row.origin) || row.origin === "default" || row.origin === ""
        ? "kit"
        : "scene";
  const dot = h("span", {
    class: `origin ${state}`,
    title: row.origin || "default",
    role: "img",
    "aria-label": `from ${row.origin || "the default"}`,
  });
  const made = h("div", { class: `field ${refusal ? "bad" : ""}` }, label, control, dot);
  if (refusal) {
    made.append(
      h(
        "div",
        { class: "field-error", role: "alert", id: `${id}-error` },
        h("p", {}, refusal),
        h(
          "button",
          { type: "button", class: "button bare", onclick: () => edit(row.value) },
          "Restore",
        ),
      ),
    );
  }
  if (control.dataset["scrub"] === "yes") scrub(label, control.querySelector("input")!, edit);
  return made;
}

function rangeWords(row: Row): string {
  if (row.lo === null && row.hi === null) return row.key;
  return `${row.key}: ${row.lo ?? "−∞"} to ${row.hi ?? "∞"} ${row.unit}`;
}

function field(row: Row, id: string, refusal: string, edit: (value: Value) => void): HTMLElement {
  const common = {
    id,
    "data-key": row.key,
    disabled: !row.editable,
    "aria-invalid": refusal ? "true" : undefined,
    "aria-describedby": refusal ? `${id}-error` : undefined,
  };
  if (typeof row.value === "boolean") {
    const box = h("input", {
      ...common,
      type: "checkbox",
      checked: row.value,
      onchange: () => edit(box.checked),
    });
    return h(
      "div",
      { class: "input-box boolean" },
      h("label", { class: "check" }, box, h("span", { class: "tick" })),
    );
  }
  if (row.words && row.words.length > 0) {
    const pick = h(
      "select",
      { ...common, onchange: () => edit(pick.value) },
      ...row.words.map((word) =>
        h("option", { value: word, selected: word === String(row.value) }, word),
      ),
    );
    return h("div", { class: "input-box" }, pick);
  }
  const list = typeof row.value === "string" ? numberList(row.value) : null;
  if (list && (list.length === 2 || list.length === 3)) return listField(row, common, list, edit);
  const numeric = typeof row.value === "number";
  const shown = numeric ? plain(row.value as number) : String(row.value);
  const input = h("input", {
    ...common,
    type: "text",
    value: shown,
    class: numeric ? "number" : "",
    spellcheck: "false",
    inputmode: numeric ? "decimal" : undefined,
  });
  input.addEventListener("change", () => {
    const number = readNumber(input.value, row.unit);
    edit(numeric && number !== null ? number : input.value.replaceAll("−", "-"));
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = shown;
      input.blur();
    }
    if (event.key === "Enter") input.blur();
    const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    const now = readNumber(input.value, row.unit);
    if (!numeric || step === 0 || now === null) return;
    event.preventDefault();
    input.value = plain(now + step * (event.shiftKey ? 10 : 1) * stepSize(row));
  });
  const box = h(
    "div",
    { class: "input-box" },
    input,
    row.unit && h("span", { class: "unit" }, unitSign(row.unit)),
  );
  if (numeric && row.editable) box.dataset["scrub"] = "yes";
  return box;
}

/** The numbers of a text such as `[0, 0, 0.2]`, or null. */
export function numberList(text: string): number[] | null {
  if (!/^\[.*\]$/.test(text.trim())) return null;
  const items = text
    .trim()
    .slice(1, -1)
    .split(",")
    .map((item) => arithmetic(item.trim()));
  return items.length > 0 && items.every((item) => item !== null) ? items : null;
}

/** Two or three numbers side by side: a range, a place, an axis. */
function listField(
  row: Row,
  common: Record<string, unknown>,
  list: number[],
  edit: (value: Value) => void,
): HTMLElement {
  const letters =
    list.length === 3 && /xyz|axis|size|at$|centre|look_at|gravity/.test(row.key)
      ? ["x", "y", "z"]
      : [];
  const inputs = list.map((value, i) =>
    h("input", {
      ...common,
      id: i === 0 ? common["id"] : undefined,
      "data-key": i === 0 ? row.key : `${row.key}.${i}`,
      "aria-label": i === 0 ? undefined : `${keyWords(row.key)}, number ${i + 1}`,
      type: "text",
      class: "number",
      value: plain(value),
      spellcheck: "false",
      onchange: () => {
        const now = inputs.map((input) => readNumber(input.value, row.unit));
        edit(
          now.some((n) => n === null)
            ? `[${inputs.map((input) => input.value).join(", ")}]`
            : `[${now.join(", ")}]`,
        );
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === "Enter" || event.key === "Escape") (event.target as HTMLElement).blur();
      },
    }),
  );
  const unit = row.unit && !letters.length ? unitSign(row.unit) : "";
  return h(
    "div",
    { class: "input-list", title: row.unit },
    ...inputs.map((input, i) =>
      h(
        "div",
        { class: "input-box" },
        letters[i] && h("span", { class: `letter axis-${letters[i]} filled` }, letters[i]),
        input,
        unit && h("span", { class: "unit" }, unit),
      ),
    ),
  );
}

function unitSign(unit: string): string {
  return unit.replace("deg", "°").replaceAll(" ", "·");
}

function plain(value: number): string {
  const digits = Math.min(6, Math.max(0, 4 - Math.ceil(Math.log10(Math.abs(value) + 1e-9))));
  const text = format(value, digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A typed number in the unit of the row: `30deg` where degrees are meant, `2*45`. */
export function readNumber(text: string, unit: string): number | null {
  const clean = text.replaceAll("−", "-").trim();
  const match = /^(.*?)\s*(rad|deg|°|mm|m)?$/.exec(clean);
  const value = match?.[1] ? arithmetic(match[1]) : null;
  if (value === null) return null;
  const typed = match?.[2]?.replace("°", "deg");
  const base = unit.replace("°", "deg");
  if (!typed || base.startsWith(typed)) return value;
  if (typed === "rad" && base.startsWith("deg")) return (value * 180) / Math.PI;
  if (typed === "deg" && base.startsWith("rad")) return (value * Math.PI) / 180;
  if (typed === "mm" && base.startsWith("m")) return value / 1000;
  if (typed === "m" && base.startsWith("mm")) return value * 1000;
  return null;
}

function stepSize(row: Row): number {
  if (row.lo !== null && row.hi !== null)
    return 10 ** Math.floor(Math.log10(Math.max(1e-6, row.hi - row.lo)) - 2);
  return row.unit.startsWith("deg")
    ? 1
    : 10 ** Math.floor(Math.log10(Math.max(Math.abs(Number(row.value)), 1e-3)) - 1);
}

/** Dragging the label sideways changes the number; one edit at the end. */
function scrub(label: HTMLElement, input: HTMLInputElement, edit: (value: number) => void): void {
  label.classList.add("scrub");
  label.addEventListener("pointerdown", (event) => {
    const from = Number(input.value.replaceAll("−", "-"));
    if (!Number.isFinite(from)) return;
    label.setPointerCapture(event.pointerId);
    const x = event.clientX;
    const step = 10 ** Math.floor(Math.log10(Math.max(Math.abs(from), 0.1)) - 1) / 4;
    const at = (e: PointerEvent): number => from + Math.round((e.clientX - x) / 2) * step;
    const move = (e: PointerEvent): void => {
      if (Math.abs(e.clientX - x) > 2) input.value = plain(at(e));
    };
    label.addEventListener("pointermove", move);
    label.addEventListener(
      "pointerup",
      (e) => {
        label.removeEventListener("pointermove", move);
        if (Math.abs(e.clientX - x) > 2) edit(at(e));
      },
      { once: true },
    );
  });
}
