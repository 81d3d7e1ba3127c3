import { allCommands } from "../app/commands";
import { select } from "../app/selection";
import { command } from "../app/session";
import { store } from "../app/store";
import { h } from "../ui/dom";

interface Entry {
  title: string;
  hint: string;
  run: () => void;
}

function entries(): Entry[] {
  const things = store.scene
    ? [
        ...store.scene.joints.map((j) => ({
          title: j.name,
          hint: j.type,
          run: () => select({ kind: "joint", name: j.name }),
        })),
        ...store.scene.elements.map((e) => ({
          title: e.name,
          hint: "element",
          run: () => select({ kind: "element", name: e.name }),
        })),
      ]
    : [];
  const postures = (store.scene?.postures ?? []).map((name) => ({
    title: `Posture: ${name}`,
    hint: "apply",
    run: () => void command({ type: "posture", name }),
  }));
  const commands = allCommands().map((c) => ({ title: c.title, hint: c.key ?? "", run: c.run }));
  return [...commands, ...postures, ...things];
}

/** Every word typed must occur somewhere in the title. */
export function matches(title: string, typed: string): boolean {
  const low = title.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

/** All commands and things by name: type, arrows, Enter. */
export function openPalette(): void {
  if (document.querySelector("dialog[open]")) return;
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-label": "Command",
    placeholder: "Type a command or a name",
  });
  const list = h("div", {
    class: "palette-list",
    id: "palette-list",
    role: "listbox",
    "aria-label": "Commands",
  });
  const dialog = h("dialog", { class: "palette", "aria-label": "Commands" }, input, list);
  let shown: Entry[] = [];
  let at = 0;
  const draw = (): void => {
    shown = entries()
      .filter((entry) => matches(entry.title, input.value))
      .slice(0, 60);
    at = Math.min(at, Math.max(0, shown.length - 1));
    list.replaceChildren(
      ...shown.map((entry, i) =>
        h(
          "div",
          {
            class: "palette-row",
            role: "option",
            id: `palette-${i}`,
            "aria-selected": String(i === at),
            onclick: () => choose(i),
          },
          h("span", {}, entry.title),
          entry.hint && h("kbd", {}, entry.hint),
        ),
      ),
    );
    if (shown.length === 0) list.append(h("p", { class: "empty" }, "Nothing has this name."));
    input.setAttribute("aria-activedescendant", `palette-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (i: number): void => {
    dialog.close();
    shown[i]?.run();
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
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
}
