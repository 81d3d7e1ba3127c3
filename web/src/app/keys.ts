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

const CONTROL = new Set(["Space", "Enter", "→", "←", "↑", "↓", "Home", "Backspace"]);

/** Shortcuts are off in text fields; a focused control keeps the keys it needs itself. */
export function listenKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    const name = pressed(event);
    if (inTextField(event.target) && name !== "Ctrl+K" && name !== "F6") return;
    const at = event.target as HTMLElement;
    const control = at.closest?.("[role=slider], [role=tree], [role=tab], [role=menu], dialog");
    if (control && CONTROL.has(name)) return;
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

/** F6 goes from region to region. */
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
