import type { AttributeRow } from "../protocol/messages";
import { h } from "../ui/dom";
import {
  keyWords,
  numberList,
  plain,
  readNumber,
  stepped,
  stepSize,
  unitSign,
} from "./attributeWords";

export type Value = string | number | boolean;
/** Attributes of every field of a row. */
export type Common = Record<string, unknown>;

/** Pause after which arrow key presses become one edit [ms]. */
const REST = 600;

/** The control for a row's value. */
export function field(
  row: AttributeRow,
  common: Common,
  edit: (value: Value) => void,
): HTMLElement {
  if (typeof row.value === "boolean") return checkField(row.value, common, edit);
  if (row.words && row.words.length > 0) return wordField(row, row.words, common, edit);
  const list = typeof row.value === "string" ? numberList(row.value) : null;
  if (list && (list.length === 2 || list.length === 3)) return listField(row, common, list, edit);
  return textField(row, common, edit);
}

function checkField(value: boolean, common: Common, edit: (value: Value) => void): HTMLElement {
  const box = h("input", {
    ...common,
    type: "checkbox",
    checked: value,
    onchange: () => edit(box.checked),
  });
  return h(
    "div",
    { class: "input-box boolean" },
    h("label", { class: "check" }, box, h("span", { class: "tick" })),
  );
}

function wordField(
  row: AttributeRow,
  words: string[],
  common: Common,
  edit: (value: Value) => void,
): HTMLElement {
  const all = row.value === "" ? ["", ...words] : words;
  const pick = h(
    "select",
    { ...common, onchange: () => edit(pick.value) },
    ...all.map((word) =>
      h("option", { value: word, selected: word === String(row.value) }, word || "not set"),
    ),
  );
  return h("div", { class: "input-box" }, pick);
}

function textField(row: AttributeRow, common: Common, edit: (value: Value) => void): HTMLElement {
  const numeric = typeof row.value === "number";
  const shown = numeric ? plain(row.value as number) : String(row.value);
  const input = h("input", {
    ...common,
    type: "text",
    value: shown,
    placeholder: row.value === "" && row.editable ? "not set" : undefined,
    class: numeric ? "number" : "",
    spellcheck: "false",
    inputmode: numeric ? "decimal" : undefined,
  });
  commits(input, shown, row, numeric || row.unit !== "", (text) => {
    const number = readNumber(text, row.unit);
    edit((numeric || row.unit !== "") && number !== null ? number : text.replaceAll("−", "-"));
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

/** Two or three numbers side by side: a range, a position, an axis. */
function listField(
  row: AttributeRow,
  common: Common,
  list: number[],
  edit: (value: Value) => void,
): HTMLElement {
  const letters =
    list.length === 3 && /xyz|axis|size|at$|com|look_at|gravity|velocity/.test(row.key)
      ? ["x", "y", "z"]
      : [];
  const all = (): void => {
    const now = inputs.map((input) => readNumber(input.value, row.unit));
    const typed = inputs.map((input) => input.value.replaceAll("−", "-"));
    // Untouched numbers keep all their digits.
    const values = now.map((n, i) =>
      inputs[i]!.value === plain(list[i]!) ? list[i] : (n ?? typed[i]),
    );
    edit(`[${values.join(", ")}]`);
  };
  const inputs = list.map((value, i) => {
    const input = h("input", {
      ...common,
      id: i === 0 ? common["id"] : undefined,
      "data-key": i === 0 ? row.key : `${row.key}.${i}`,
      "aria-label":
        i === 0 ? undefined : `${keyWords(row.key)}, ${letters[i] ?? `number ${i + 1}`}`,
      type: "text",
      class: "number",
      value: plain(value),
      spellcheck: "false",
    });
    commits(input, plain(value), row, true, all);
    return input;
  });
  const unit = row.unit ? unitSign(row.unit) : "";
  const each = unit.length <= 2 && !letters.length; // a longer one would hide the numbers
  return h(
    "div",
    { class: "input-list", title: row.unit },
    ...inputs.map((input, i) =>
      h(
        "div",
        { class: "input-box" },
        letters[i] && h("span", { class: `letter axis-${letters[i]} filled` }, letters[i]),
        input,
        each && unit && h("span", { class: "unit" }, unit),
      ),
    ),
    !each && unit && h("span", { class: "unit" }, unit),
  );
}

/** Enter or leaving the field is one edit, Escape none; arrow keys step the value. */
function commits(
  input: HTMLInputElement,
  shown: string,
  row: AttributeRow,
  numeric: boolean,
  commit: (text: string) => void,
): void {
  let done = shown;
  let resting: number | undefined;
  const settle = (): void => {
    clearTimeout(resting);
    if (input.value === done || !input.isConnected) return;
    done = input.dataset["sent"] = input.value;
    commit(input.value);
  };
  // A refused value stays in its field; leaving it unchanged does not send it again.
  input.addEventListener("focus", () => (done = input.value));
  input.addEventListener("blur", settle);
  input.addEventListener("change", settle);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      clearTimeout(resting);
      input.value = done = input.dataset["sent"] = shown;
      input.blur();
      event.stopPropagation();
      return;
    }
    if (event.key === "Enter") {
      settle();
      input.select();
      return;
    }
    const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    const now = readNumber(input.value, row.unit);
    if (!numeric || step === 0 || now === null) return;
    event.preventDefault();
    const size = stepSize(row, readNumber(shown, row.unit) ?? 0, now);
    input.value = plain(stepped(now, step * (event.shiftKey ? 10 : 1) * size, size));
    clearTimeout(resting);
    resting = window.setTimeout(settle, REST);
  });
}
