import { iconButton } from "./button";
import { h } from "./dom";
import { icon } from "./icon";

/** A search field: `/` focuses it, Escape clears. */
export function searchField(words: string, search: (typed: string) => void): HTMLElement {
  const input = h("input", {
    type: "text",
    placeholder: words,
    "aria-label": words,
    spellcheck: "false",
  });
  const clear = iconButton("close", "Clear the search", () => {
    input.value = "";
    changed();
    input.focus();
  });
  const hint = h("kbd", {}, "/");
  const changed = (): void => {
    clear.hidden = input.value === "";
    hint.hidden = !clear.hidden;
    search(input.value);
  };
  input.addEventListener("input", changed);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (input.value === "") input.blur();
    input.value = "";
    changed();
    event.stopPropagation();
  });
  clear.hidden = true;
  return h("div", { class: "search", role: "search" }, icon("search"), input, hint, clear);
}
