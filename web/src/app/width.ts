import { ALONE, layout } from "./layout";
import { announce } from "./topics";

const NARROW = "(max-width: 1023px)";
const SMALL = "(max-width: 1119px)";
const fits = (query: string): boolean => ALONE === null && matchMedia(query).matches;

/** Arranges the page anew whenever its width asks for that. */
export function listenWidth(): void {
  for (const query of [NARROW, SMALL])
    matchMedia(query).addEventListener("change", () => announce("layout"));
}

/** Too narrow to drive: one view, watching only. A window of its own is as small as one likes. */
export function watchesOnly(): boolean {
  return fits(NARROW);
}

/** Whether the left panel is a drawer over the views. */
export function hasDrawer(): boolean {
  return fits(SMALL) && !fits(NARROW);
}

/** Whether four views are shown now. */
export function fourViews(): boolean {
  if (ALONE !== null) return ALONE === "views" && layout.four;
  return layout.four && !fits(NARROW);
}
