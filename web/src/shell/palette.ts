import { allCommands } from "../app/commands";
import { select } from "../app/selection";
import { command } from "../app/session";
import { store } from "../app/store";
import { openPicker, type Pick } from "../ui/picker";

const MOST = 60;

function entries(): Pick[] {
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

/** All commands and objects by name: type, arrows, Enter. */
export function openPalette(): void {
  openPicker(
    {
      title: "Commands",
      field: "Command",
      placeholder: "Type a command or a name",
      list: "Commands",
      none: "Nothing has this name.",
    },
    (typed) =>
      entries()
        .filter((entry) => matches(entry.title, typed))
        .slice(0, MOST),
  );
}
