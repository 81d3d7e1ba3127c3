import { h } from "./dom";

export interface MenuItem {
  label: string;
  run: () => void;
  key?: string;
  checked?: boolean;
}

/** Opens a menu below `anchor`; arrows move, Escape closes. */
export function openMenu(anchor: HTMLElement, items: MenuItem[], label: string): void {
  document.querySelector(".menu")?.remove();
  const menu = h("div", { class: "menu", role: "menu", "aria-label": label });
  const close = (): void => {
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    anchor.focus();
  };
  const outside = (event: PointerEvent): void => {
    if (!menu.contains(event.target as Node)) close();
  };
  for (const item of items) {
    const choose = (): void => {
      close();
      item.run();
    };
    menu.append(
      h(
        "button",
        {
          type: "button",
          class: `menu-item ${item.checked ? "checked" : ""}`,
          role: item.checked === undefined ? "menuitem" : "menuitemradio",
          "aria-checked": item.checked === undefined ? undefined : String(item.checked),
          onclick: choose,
        },
        h("span", {}, item.label),
        item.key !== undefined && h("kbd", {}, item.key),
      ),
    );
  }
  menu.addEventListener("keydown", (event) => {
    const all = [...menu.querySelectorAll<HTMLElement>("button")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (event.key === "ArrowUp") all[(at - 1 + all.length) % all.length]?.focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(menu);
  const box = anchor.getBoundingClientRect();
  menu.style.left = `${Math.min(box.left, innerWidth - menu.offsetWidth - 8)}px`;
  menu.style.top = `${Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - 8)}px`;
  menu.querySelector<HTMLElement>(".checked, button")?.focus();
  document.addEventListener("pointerdown", outside, true);
}
