import { button } from "./button";
import { h } from "./dom";

export interface Choice {
  label: string;
  /** Returns an error text to show instead of closing. */
  run: () => string | undefined;
  style?: "accent" | "raised" | "bare";
}

/**
 * A dialog with a title, content and choices; Escape closes it. `left` is called when it closes
 * without a choice, or cannot open because another one is open.
 */
export function openDialog(
  title: string,
  body: HTMLElement[],
  choices: Choice[],
  left: () => void = () => undefined,
): void {
  if (document.querySelector("dialog[open]")) return left();
  let chosen = false;
  const wrong = h("p", { class: "dialog-wrong", role: "alert", hidden: true });
  const choose = (choice: Choice): void => {
    const reason = choice.run();
    if (reason) {
      wrong.textContent = reason;
      wrong.hidden = false;
      return;
    }
    chosen = true;
    dialog.close();
  };
  const main = choices.find((choice) => choice.style === "accent") ?? choices[0];
  const dialog = h(
    "dialog",
    { class: "question", "aria-label": title },
    h(
      "form",
      {
        method: "dialog",
        onsubmit: (event: Event) => {
          event.preventDefault();
          if (main) choose(main);
        },
      },
      h("h2", {}, title),
      ...body,
      wrong,
      h(
        "div",
        { class: "dialog-choices" },
        button("Cancel", () => dialog.close(), "bare"),
        ...choices.map((choice) => button(choice.label, () => choose(choice), choice.style)),
      ),
    ),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (!chosen) left();
  });
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector<HTMLInputElement>("input, select");
  first?.focus();
  first?.select?.();
}

/** A labeled text field for a dialog. */
export function dialogField(label: string, value: string): [HTMLElement, HTMLInputElement] {
  const input = h("input", { type: "text", value, spellcheck: "false", autocomplete: "off" });
  return [h("label", { class: "dialog-field" }, h("span", {}, label), input), input];
}
