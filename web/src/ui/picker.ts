import { h } from "./dom";

/** An item: its name, a text beside it, and its action. */
export interface Pick {
  title: string;
  hint: string;
  run: () => void;
  /** Further attributes of its row. */
  props?: Record<string, string>;
}

interface Words {
  /** Title of the dialog. */
  title: string;
  /** Label of the text field. */
  field: string;
  placeholder: string;
  /** Label of the list. */
  list: string;
  /** Text for an empty list. */
  none: string;
}

/**
 * A dialog to pick one of many items by typing: arrows, Enter, Escape. `find` returns the matches
 * of a text; `between` is placed between field and list. Returns a function that redraws the list,
 * or null if another dialog is open.
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
      // Otherwise the same key would press the button that regains the focus.
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
