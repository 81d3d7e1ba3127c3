import { h, setText } from "./dom";
import { icon, type IconName } from "./icon";

/** An icon button; `label` is its accessible name. */
export function iconButton(
  name: IconName,
  label: string,
  run: (event: MouseEvent) => void,
  extra = "",
): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: `icon-button ${extra}`,
      "aria-label": label,
      title: label,
      onclick: run,
    },
    icon(name),
  );
}

/** Changes the text of a button. */
export function rename(made: HTMLButtonElement, label: string): void {
  made.setAttribute("aria-label", label);
  setText(made.lastElementChild as HTMLElement, label);
}

export function button(
  label: string,
  run: (event: MouseEvent) => void,
  style: "raised" | "bare" | "accent" = "raised",
  name?: IconName,
): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: `button ${style}`, "aria-label": label, onclick: run },
    name && icon(name),
    h("span", {}, label),
  );
}
