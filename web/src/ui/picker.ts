import { h } from "./dom";

/** Something to pick: its name, a word beside it, and what picking it does. */
export interface Pick {
  title: string;
  hint: string;
  run: () => void;
  /** Attributes that its row carries besides. */
  props?: Record<string, string>;
}

interface Words {
  /** What the dialog is called. */
  title: string;
  /** What the text field is called. */
  field: string;
  placeholder: string;
  /** What the list is called. */
  list: string;
  /** What stands in the place of an empty list. */
  none: string;
}

/**
 * A dialog to pick one of many by typing: arrows, Enter, Escape. `find` gives what fits the text;
 * `between` stands between field and list. Returns how to draw the list anew, or null where
 * another dialog is open.
 */
export function openPicker(
  words: Words,
  find: (typed: string) => Pick[],
  between: HTMLElement[] = [],
): (() => void) | null {
  if (document.querySelector("dialog[open]")) return null;
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    "aria-controls": "picker-list",
    "aria-label": words.field,
    placeholder: words.placeholder,
  });
  const list = h("div", {
    class: "palette-list",
    id: "picker-list",
    role: "listbox",
    "aria-label": words.list,
  });
  const dialog = h(
    "dialog",
    { class: "palette", "aria-label": words.title },
    input,
    ...between,
    list,
  );
  let shown: Pick[] = [];
  let at = 0;
  const choose = (i: number): void => {
    dialog.close();
    shown[i]?.run();
  };
  const draw = (): void => {
    shown = find(input.value);
    at = Math.min(at, Math.max(0, shown.length - 1));
    list.replaceChildren(...shown.map((pick, i) => line(pick, i, i === at, choose)));
    if (shown.length === 0) {
      list.append(h("p", { class: "empty" }, words.none));
      input.removeAttribute("aria-activedescendant");
    } else input.setAttribute("aria-activedescendant", `pick-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const fromTop = (): void => {
    at = 0;
    draw();
  };
  input.addEventListener("input", fromTop);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") at = Math.min(at + 1, shown.length - 1);
    else if (event.key === "ArrowUp") at = Math.max(at - 1, 0);
    else if (event.key === "Enter") {
      // Else the button that gets the focus back would be pressed by the same key.
      event.preventDefault();
      return choose(at);
    } else return;
    event.preventDefault();
    draw();
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  draw();
  return fromTop;
}

function line(pick: Pick, i: number, chosen: boolean, choose: (i: number) => void): HTMLElement {
  return h(
    "div",
    {
      ...pick.props,
      class: "palette-row",
      role: "option",
      id: `pick-${i}`,
      "aria-selected": String(chosen),
      onclick: () => choose(i),
    },
    h("span", {}, pick.title),
    pick.hint && h("kbd", {}, pick.hint),
  );
}
