import { announce } from "./topics";
import { store } from "./store";

/** Elements that this window does not draw. */
const hidden = new Set<string>();

/** Elements that the scene itself hides now: a person who is not in the room. */
let visibility = new Set<string>();

export function isHidden(element: string): boolean {
  return hidden.has(element) || visibility.has(element);
}

/** Sets the hidden elements, by index in the scene's list. */
export function takeUnseen(numbers: number[]): void {
  const names = numbers.map((number) => store.scene?.elements[number]?.name ?? "");
  if (names.length === visibility.size && names.every((name) => visibility.has(name))) return;
  visibility = new Set(names);
  announce("show");
}

export function anyHidden(): boolean {
  return hidden.size > 0;
}

export function setHidden(elements: string[], on: boolean): void {
  for (const name of elements) {
    if (on) hidden.add(name);
    else hidden.delete(name);
  }
  announce("show");
}

/** Draws only these elements. */
export function showOnly(elements: string[]): void {
  hidden.clear();
  const kept = new Set(elements);
  for (const { name } of store.scene?.elements ?? []) if (!kept.has(name)) hidden.add(name);
  announce("show");
}

export function showAll(): void {
  hidden.clear();
  announce("show");
}
