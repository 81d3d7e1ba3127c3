const PRESSABLE = "button, [role=treeitem]";
/** A press that moves farther is not a click [px]. */
const STILL = 4;

/** Identifies a button or row after a redraw. */
function nameOf(element: HTMLElement): string {
  const { signal, kind } = element.dataset;
  return signal === undefined ? `${element.ariaLabel} ${element.textContent}` : `${signal} ${kind}`;
}

/** The replacement of a removed button or row. */
function replacementOf(gone: HTMLElement): HTMLElement | null {
  const name = nameOf(gone);
  const found = [...document.querySelectorAll<HTMLElement>(PRESSABLE)].filter(
    (each) => each.offsetParent !== null && nameOf(each) === name,
  );
  return found.length === 1 ? found[0]! : null;
}

/**
 * Panels redraw their buttons when the server answers. A button that is redrawn between press and
 * release would lose the click, so its replacement is clicked.
 */
export function keepClicks(): void {
  let held: { element: HTMLElement; x: number; y: number } | null = null;
  const press = (event: PointerEvent): void => {
    const element = (event.target as Element).closest<HTMLElement>(PRESSABLE);
    held = element && event.button === 0 ? { element, x: event.clientX, y: event.clientY } : null;
  };
  const release = (event: PointerEvent): void => {
    const was = held;
    held = null;
    if (!was || was.element.isConnected) return;
    if (Math.hypot(event.clientX - was.x, event.clientY - was.y) < STILL)
      replacementOf(was.element)?.click();
  };
  document.addEventListener("pointerdown", press, true);
  document.addEventListener("pointerup", release, true);
}
