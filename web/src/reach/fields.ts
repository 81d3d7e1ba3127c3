import { h } from "../ui/dom";

/** A labeled control, in the width of a panel. */
export function field(words: string, control: HTMLElement, unit = ""): HTMLElement {
  return h(
    "label",
    { class: "field" },
    h("span", { class: "field-label" }, words),
    h("div", { class: "input-box" }, control, unit && h("span", { class: "unit" }, unit)),
  );
}

/** A field for content other than an input. */
export function line(words: string, ...content: HTMLElement[]): HTMLElement {
  return h(
    "div",
    { class: "field" },
    h("span", { class: "field-label" }, words),
    h("div", { class: "reach-line" }, ...content),
  );
}

/** A check box. */
export function check(
  words: string,
  pick: (on: boolean) => void,
): { element: HTMLElement; input: HTMLInputElement } {
  const input = h("input", { type: "checkbox", "aria-label": words });
  input.addEventListener("change", () => pick(input.checked));
  return {
    element: h("label", { class: "check" }, input, h("span", { class: "tick" }), words),
    input,
  };
}

/** A row of mutually exclusive choices. */
export function segments<T extends string>(
  label: string,
  choices: readonly (readonly [T, string])[],
  pick: (choice: T) => void,
): { element: HTMLElement; choose: (choice: T) => void } {
  const made = choices.map(([choice, words]) =>
    h("button", { type: "button", class: "segment", onclick: () => pick(choice) }, words),
  );
  return {
    element: h("div", { class: "segments small", role: "group", "aria-label": label }, ...made),
    choose: (chosen) =>
      made.forEach((each, i) =>
        each.setAttribute("aria-pressed", String(choices[i]![0] === chosen)),
      ),
  };
}

/** Refills a select if its choices have changed. */
export function fill(
  select: HTMLSelectElement,
  choices: readonly (readonly [string, string])[],
  chosen: string,
): void {
  const key = JSON.stringify(choices);
  if (select.dataset["key"] !== key) {
    select.dataset["key"] = key;
    select.replaceChildren(...choices.map(([value, words]) => h("option", { value }, words)));
  }
  select.value = chosen;
}
