import { command } from "../app/session";
import { button } from "../ui/button";
import { h } from "../ui/dom";

/** Asks for a mark's name and adds it to the recording. */
export function nameMark(): void {
  if (document.querySelector("dialog[open]")) return;
  const input = h("input", { type: "text", maxlength: "200", "aria-label": "Name of the mark" });
  const form = h(
    "form",
    { method: "dialog", class: "ask-form" },
    h("label", {}, "Name of the mark", h("div", { class: "input-box" }, input)),
    button("Add the mark", () => undefined, "accent"),
  );
  form.querySelector("button")!.type = "submit";
  const dialog = h("dialog", { class: "ask", "aria-label": "Mark" }, form);
  form.addEventListener("submit", () => command({ type: "mark", text: input.value }));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
