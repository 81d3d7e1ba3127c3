import { h } from "./dom";

export interface MenuItem {
  label: string;
  run: () => void;
  key?: string;
  /** Whether it is checked; checkable items of a menu are mutually exclusive… */
  checked?: boolean;
  /** …unless each is switched separately. */
  toggle?: boolean;
  /** Why it is disabled; empty if it is enabled. */
  why?: string;
  /** Whether there is a separator above it. */
  apart?: boolean;
}

/** Position of a menu: below a control, or at a point of the screen for the focused element. */
export type MenuPlace = HTMLElement | { x: number; y: number; focus: HTMLElement };

/** Opens a menu; arrows, Home and End move, Escape and Tab close, a letter goes to its item. */
export function openMenu(place: MenuPlace, items: MenuItem[], label: string): void {
  document.querySelector(".menu")?.remove();
  const menu = h("div", { class: "menu", role: "menu", "aria-label": label });
  const home = place instanceof HTMLElement ? place : place.focus;
  const close = (): void => {
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    home.focus({ preventScroll: true });
  };
  const outside = (event: PointerEvent): void => {
    if (!menu.isConnected) document.removeEventListener("pointerdown", outside, true);
    else if (!menu.contains(event.target as Node)) close();
  };
  menu.append(
    ...items.map((item) =>
      line(item, () => {
        close();
        item.run();
      }),
    ),
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (!move(menu, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  // A modal dialog hides and disables everything outside it.
  const dialog = place instanceof HTMLElement ? place.closest("dialog") : null;
  (dialog ?? document.body).append(menu);
  const box = place instanceof HTMLElement ? place.getBoundingClientRect() : null;
  const x = box ? box.left : (place as { x: number }).x;
  const y = box ? box.bottom + 4 : (place as { y: number }).y;
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(y, innerHeight - menu.offsetHeight - 8))}px`;
  menu.querySelector<HTMLElement>(".checked, button")?.focus();
  document.addEventListener("pointerdown", outside, true);
}

function line(item: MenuItem, choose: () => void): HTMLElement {
  const checkable = item.checked !== undefined;
  return h(
    "button",
    {
      type: "button",
      class: `menu-item ${item.checked ? "checked" : ""} ${item.apart ? "apart" : ""}`,
      role: checkable ? (item.toggle ? "menuitemcheckbox" : "menuitemradio") : "menuitem",
      "aria-checked": checkable ? String(item.checked) : undefined,
      "aria-disabled": item.why ? "true" : undefined,
      title: item.why || undefined,
      onclick: item.why ? undefined : choose,
    },
    h("span", {}, item.label),
    item.key !== undefined && h("kbd", {}, item.key),
  );
}

/** Moves the focus in a menu; false for other keys. */
function move(menu: HTMLElement, key: string): boolean {
  const all = [...menu.querySelectorAll<HTMLElement>("button")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  if (key === "ArrowDown") all[(at + 1) % all.length]?.focus();
  else if (key === "ArrowUp") all[(at - 1 + all.length) % all.length]?.focus();
  else if (key === "Home") all[0]?.focus();
  else if (key === "End") all.at(-1)?.focus();
  else if (/^\p{L}$/u.test(key)) {
    const order = [...all.slice(at + 1), ...all.slice(0, at + 1)];
    const low = key.toLowerCase();
    order.find((item) => item.textContent?.toLowerCase().startsWith(low))?.focus();
  } else return false;
  return true;
}
