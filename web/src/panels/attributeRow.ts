import type { AttributeRow } from "../protocol/messages";
import { h } from "../ui/dom";
import { field, type Value } from "./attributeField";
import { keyWords, originWords, plain, rangeWords, stepped, staysWords } from "./attributeWords";
import { refusalWords, repairs } from "./repairs";

/** The reason of a refusal, and the refused value. */
export interface Refusal {
  text: string;
  tried: Value;
  /** Values that would also be refused, although in range. */
  avoid: number[];
}

/** One attribute: name, field with unit, dot for its origin, refusal below. */
export function attributeRow(
  row: AttributeRow,
  refusal: Refusal | null,
  edit: (value: Value) => void,
  restore: () => void,
): HTMLElement {
  const id = `attribute-${row.key.replace(/[^a-z0-9]/gi, "-")}`;
  const hint = [row.help, rangeWords(row)].filter(Boolean).join(" ");
  const label = h("label", { for: id, class: "field-label", title: row.key }, keyWords(row.key));
  const described = [refusal && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  const control = field(
    row,
    {
      id,
      "data-key": row.key,
      disabled: !row.editable,
      "aria-invalid": refusal ? "true" : undefined,
      "aria-describedby": described || undefined,
    },
    edit,
  );
  const made = h(
    "div",
    { class: `field ${refusal ? "bad" : ""}`, "data-row": row.key },
    label,
    control,
    originDot(row, refusal !== null),
  );
  if (hint) made.append(h("p", { class: "field-hint", id: `${id}-hint` }, hint));
  if (refusal) made.append(refusalBox(row, refusal, `${id}-error`, edit, restore));
  if (control.dataset["scrub"] === "yes") scrub(label, control.querySelector("input")!, edit);
  return made;
}

function originDot(row: AttributeRow, refused: boolean): HTMLElement {
  const plainly = row.source === "file" ? "scene" : "kit";
  const state = refused ? "refused" : row.changed ? "changed" : plainly;
  const words = refused ? "Refused; see below." : originWords(row);
  return h("span", { class: `origin ${state}`, title: words, role: "img", "aria-label": words });
}

function refusalBox(
  row: AttributeRow,
  refusal: Refusal,
  id: string,
  edit: (value: Value) => void,
  restore: () => void,
): HTMLElement {
  const button = (words: string, run: () => void, style: string): HTMLElement =>
    h("button", { type: "button", class: `button ${style}`, onclick: run }, words);
  const choices = repairs(row, refusal);
  return h(
    "div",
    { class: "field-error", role: "alert", id },
    h("p", {}, refusalWords(row, refusal, choices), " ", staysWords(row)),
    h(
      "div",
      { class: "field-repairs" },
      ...choices.map((repair) => button(repair.label, () => edit(repair.value), "raised")),
      button("Restore", restore, "bare"),
    ),
  );
}

/** Dragging the label sideways changes the number; one edit at the end. */
function scrub(label: HTMLElement, input: HTMLInputElement, edit: (value: number) => void): void {
  label.classList.add("scrub");
  label.addEventListener("pointerdown", (event) => {
    const from = Number(input.value.replaceAll("−", "-"));
    if (!Number.isFinite(from) || event.button !== 0 || input.matches(":disabled")) return;
    label.setPointerCapture(event.pointerId);
    const x = event.clientX;
    const step = 10 ** Math.floor(Math.log10(Math.abs(from) || 0.1) - 1) / 4;
    const at = (e: PointerEvent): number =>
      stepped(from, Math.round((e.clientX - x) / 2) * step * (e.shiftKey ? 10 : 1), step);
    const moved = (e: PointerEvent): boolean => Math.abs(e.clientX - x) > 2;
    const move = (e: PointerEvent): void => {
      if (moved(e)) input.value = plain(at(e));
    };
    const end = (e: PointerEvent): void => {
      label.removeEventListener("pointermove", move);
      label.removeEventListener("pointerup", end);
      label.removeEventListener("pointercancel", end);
      if (e.type === "pointerup" && moved(e)) edit(at(e));
    };
    label.addEventListener("pointermove", move);
    label.addEventListener("pointerup", end);
    label.addEventListener("pointercancel", end);
  });
}
