import { allCommands } from "../app/commands";
import { iconButton } from "../ui/button";
import { h } from "../ui/dom";

const POINTER: [string, string][] = [
  ["Left-drag a link", "turns its nearest joint, within its limits"],
  ["Ctrl-drag a link", "pulls it with a spring while time runs"],
  ["Left-drag on the background", "orbits; pans in orthographic views"],
  ["Right- or middle-drag", "pans"],
  ["Wheel", "zooms to the pointer"],
  ["Click", "selects; Shift adds"],
];

/** Keys and pointer actions, on one page. */
export function openHelp(): void {
  if (document.querySelector("dialog[open]")) return;
  const row = (key: string, words: string): HTMLElement =>
    h("div", { class: "help-row" }, h("kbd", {}, key), h("span", {}, words));
  const keyed = allCommands().filter((c) => c.key !== undefined);
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Keys and help" },
    h(
      "header",
      {},
      h("h2", {}, "Keys and pointer"),
      iconButton("close", "Close", () => dialog.close()),
    ),
    h(
      "div",
      { class: "help-columns" },
      h("section", {}, h("h3", {}, "Pointer"), ...POINTER.map(([k, w]) => row(k, w))),
      h("section", {}, h("h3", {}, "Keys"), ...keyed.map((c) => row(c.key ?? "", c.title))),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
