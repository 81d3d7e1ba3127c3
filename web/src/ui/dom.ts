type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** Creates an element: `h("button", { class: "bare", "aria-label": "Undo", onclick }, icon)`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on") && typeof value === "function") {
      element.addEventListener(key.slice(2), value as EventListener);
    } else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((c): c is Node | string => Boolean(c)));
  return element;
}

/** Writes text only if it differs, so that constant values cost nothing. */
export function setText(element: HTMLElement, text: string): void {
  const only = element.firstChild;
  // Replacing the text node would make the browser restyle and rebuild the element.
  if (only instanceof Text && only === element.lastChild) {
    if (only.data !== text) only.data = text;
  } else if (element.textContent !== text) element.textContent = text;
}

/** Hides or shows only on a change, as the browser would restyle the page. */
export function setHidden(element: HTMLElement, hidden: boolean): void {
  if (element.hidden !== hidden) element.hidden = hidden;
}

export function inTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !/^(checkbox|radio|range|button)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}
