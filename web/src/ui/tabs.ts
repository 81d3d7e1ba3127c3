import { h } from "./dom";

export interface Tabs {
  element: HTMLElement;
  choose(name: string): void;
  count(name: string, value: number, alarm?: boolean): void;
}

/** A tab list; arrows move between tabs. */
export function tabs(
  label: string,
  names: string[],
  chosen: string,
  pick: (name: string) => void,
): Tabs {
  const element = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const made = new Map<string, HTMLButtonElement>();
  const choose = (name: string): void => {
    for (const [other, tab] of made) {
      tab.setAttribute("aria-selected", String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
    }
  };
  for (const name of names) {
    const tab = h(
      "button",
      { type: "button", role: "tab", class: "tab", onclick: () => pick(name) },
      name,
      h("span", { class: "tab-count" }),
    );
    made.set(name, tab);
    element.append(tab);
  }
  element.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const all = [...made.keys()];
    const at = all.findIndex((name) => made.get(name) === document.activeElement);
    const next = all[(at + step + all.length) % all.length]!;
    pick(next);
    made.get(next)?.focus();
    event.stopPropagation();
  });
  choose(chosen);
  return {
    element,
    choose,
    count: (name, value, alarm = false) => {
      const badge = made.get(name)?.querySelector<HTMLElement>(".tab-count");
      if (!badge) return;
      badge.textContent = value > 0 ? String(value) : "";
      badge.classList.toggle("alarm", alarm);
    },
  };
}
