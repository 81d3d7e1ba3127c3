import { inTextField } from "../ui/dom";
import { allCommands } from "./commands";

const NAMES: Record<string, string> = {
  " ": "Space",
  ArrowRight: "→",
  ArrowLeft: "←",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

/** The name of a key press as commands write it, for instance `Ctrl+Shift+Z`. */
export function pressed(event: KeyboardEvent): string {
  const key = NAMES[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const shifted = event.shiftKey && /^[A-Z→←↑↓]/.test(key);
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${shifted ? "Shift+" : ""}${key}`;
}

const CONTROLS = "[role=slider], input[type=range], [role=tree], [role=tab], [role=menu], dialog";
const CONTROL = new Set(["Space", "Enter", "→", "←", "↑", "↓", "Home", "Backspace"]);

/** Shortcuts that also work in text fields; otherwise the browser would save its page. */
const EVERYWHERE = new Set(["Ctrl+K", "Ctrl+S", "Ctrl+Shift+S", "F6"]);

/** Undo in a field whose value is already an edit undoes that edit. */
function takesBack(event: KeyboardEvent, name: string): boolean {
  const field = event.target;
  if (!(field instanceof HTMLInputElement) || !/^Ctrl\+(Shift\+)?Z$/.test(name)) return false;
  return field.value === (field.dataset["sent"] ?? field.defaultValue);
}

/**
 * Controls clicked with the mouse do not keep the focus: Space is for time. Keyboard users keep it.
 */
function giveUpFocus(event: MouseEvent): void {
  if (event.detail === 0) return;
  setTimeout(() => {
    const at = document.activeElement;
    const pressed = at?.matches("button, summary, input[type=checkbox]") ?? false;
    if (pressed && !at!.closest("dialog, [role=menu]")) (at as HTMLElement).blur();
  });
}

/** Shortcuts are disabled in text fields; a focused control keeps the keys that it needs. */
export function listenKeys(): void {
  document.addEventListener("click", giveUpFocus);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    const name = pressed(event);
    if (inTextField(event.target) && !EVERYWHERE.has(name) && !takesBack(event, name)) return;
    const at = event.target as HTMLElement;
    const control = at.closest?.(CONTROLS);
    // The tree uses Space itself during keyboard navigation.
    const time = name === "Space" && control?.getAttribute("role") === "tree";
    if (control && CONTROL.has(name) && !time) return;
    if (/^(BUTTON|INPUT|SUMMARY|A)$/.test(at.tagName) && (name === "Space" || name === "Enter"))
      return;
    if (name === "Esc" && document.querySelector("dialog[open]")) return; // closes the dialog
    const command = allCommands().find((c) => c.key === name);
    if (!command) return;
    event.preventDefault();
    command.run();
  });
}

const REGIONS = [
  ".top-bar",
  ".left",
  ".view:not([hidden])",
  ".right",
  ".dock:not([hidden])",
  ".transport",
];

/** F6 moves the focus from region to region. */
export function nextRegion(): void {
  const regions = REGIONS.map((query) => document.querySelector<HTMLElement>(query)).filter(
    (r) => r !== null,
  );
  const at = regions.findIndex((region) => region.contains(document.activeElement));
  const next = regions[(at + 1) % regions.length];
  const first = next?.matches("[tabindex]")
    ? next
    : next?.querySelector<HTMLElement>("button, input, [tabindex='0']");
  first?.focus();
}
