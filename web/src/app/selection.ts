import { announce } from "./topics";
import { same, store, type Thing } from "./store";
import { send } from "./session";

/** Selects an object; with `add`, in addition to the selection. */
export function select(thing: Thing | null, add = false): void {
  if (thing === null) {
    if (store.selection.length === 0) return;
    store.selection = [];
  } else if (add) {
    const rest = store.selection.filter((other) => !same(other, thing));
    store.selection = rest.length < store.selection.length ? rest : [...rest, thing];
  } else {
    store.selection = [thing];
  }
  const last = store.selection.at(-1);
  store.refused = null;
  if (!last) store.attributes = null;
  else send({ type: "inspect", name: last.name, kind: last.kind });
  announce("selection");
}

export function hover(thing: Thing | null): void {
  if (same(thing, store.hover)) return;
  store.hover = thing;
  announce("hover");
}

export function isSelected(thing: Thing): boolean {
  return store.selection.some((other) => same(other, thing));
}
