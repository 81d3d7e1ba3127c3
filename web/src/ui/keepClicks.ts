const PRESSABLE = "button, [role=treeitem]";
/** Who moves farther with the button down wants no click [px]. */
const STILL = 4;

/** What a button or row is known by when it has been drawn anew. */
function nameOf(element: HTMLElement): string {
  const { signal, kind } = element.dataset;
  return signal === undefined ? `${element.ariaLabel} ${element.textContent}` : `${signal} ${kind}`;
}

/** The one that stands for a button or row that is gone. */
function heir(gone: HTMLElement): HTMLElement | null {
  const name = nameOf(gone);
  const found = [...document.querySelectorAll<HTMLElement>(PRESSABLE)].filter(
    (each) => each.offsetParent !== null && nameOf(each) === name,
  );
  return found.length === 1 ? found[0]! : null;
}

/**
 * Panels draw their buttons anew as the server's answers come. One that is drawn anew between
 * press and release would lose the click, so the click goes to the one in its place.
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
      heir(was.element)?.click();
  };
  document.addEventListener("pointerdown", press, true);
  document.addEventListener("pointerup", release, true);
}
