import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { h } from "./dom";

/** Why a control is disabled; empty for the driver. */
export function whyOff(): string {
  if (isDriver()) return "";
  const who = store.people.driver;
  return who ? `${who} drives. Ask to drive first.` : "Nobody drives. Ask to drive first.";
}

/** Controls of the driver: disabled for observers. */
export function driving(...children: (Node | string)[]): HTMLFieldSetElement {
  const set = h("fieldset", { class: "driving" }, ...children);
  const draw = (): void => {
    const why = whyOff();
    set.disabled = why !== "";
    set.title = why;
    for (const slider of set.querySelectorAll("[role=slider]"))
      slider.setAttribute("aria-disabled", String(why !== ""));
  };
  on(["people", "scene", "link"], draw);
  draw();
  return set;
}
