import { h } from "./dom";
import { iconButton } from "./button";
import { icon } from "./icon";

export interface Toast {
  level: "info" | "warning" | "error";
  text: string;
  action?: { label: string; run: () => void };
}

const STAY_MS = 6000;
/** Toasts with an action stay longer. */
const OFFER_MS = 12000;
const MAX_TOASTS = 3;
let container: HTMLElement | null = null;

/** One sentence, one action; closes after six seconds unless it is an error. */
export function toast(message: Toast): void {
  container ??= document.body.appendChild(h("div", { class: "toasts" }));
  for (const old of container.querySelectorAll<HTMLElement>(".toast")) {
    if (old.dataset["text"] === message.text) old.remove();
  }
  const { action } = message;
  const close = (): void => card.remove();
  const card = h(
    "div",
    { class: `toast ${message.level}`, role: message.level === "error" ? "alert" : "status" },
    icon(message.level === "info" ? "info" : "warning"),
    h("span", { class: "toast-text" }, message.text),
    action &&
      h(
        "button",
        {
          class: "button raised",
          type: "button",
          onclick: () => {
            action.run();
            close();
          },
        },
        action.label,
      ),
    iconButton("close", "Dismiss", close),
  );
  card.dataset["text"] = message.text;
  container.append(card);
  while (container.childElementCount > MAX_TOASTS) container.firstElementChild?.remove();
  if (message.level !== "error") setTimeout(close, action ? OFFER_MS : STAY_MS);
}

/** Removes errors whose cause is gone; the message list keeps them. */
export function forgetErrors(): void {
  container?.querySelectorAll(".toast.error").forEach((card) => card.remove());
}
