import { SEPARATE_WINDOW, layout } from "./layout";
import { announce } from "./topics";

const NARROW = "(max-width: 1023px)";
const SMALL = "(max-width: 1119px)";
const lists = new Map<string, MediaQueryList>();
const answers = new Map<string, boolean>();

/** Evaluated in each frame: the media query is created once and reports changes itself. */
function fits(query: string): boolean {
  if (SEPARATE_WINDOW !== null) return false;
  let answer = answers.get(query);
  if (answer === undefined) {
    const list = matchMedia(query);
    list.addEventListener("change", () => answers.set(query, list.matches));
    lists.set(query, list); // otherwise it would be collected, and its listener with it
    answers.set(query, (answer = list.matches));
  }
  return answer;
}

/** Updates the layout when the page width requires it. */
export function listenWidth(): void {
  for (const query of [NARROW, SMALL]) {
    fits(query); // its listener is registered first
    matchMedia(query).addEventListener("change", () => announce("layout"));
  }
}

/** Too narrow to drive: one view, observing only. Separate windows may be any size. */
export function watchesOnly(): boolean {
  return fits(NARROW);
}

/** Whether the left panel is a drawer over the views. */
export function hasDrawer(): boolean {
  return fits(SMALL) && !fits(NARROW);
}

/** Whether four views are shown now. */
export function fourViews(): boolean {
  if (SEPARATE_WINDOW !== null) return SEPARATE_WINDOW === "views" && layout.four;
  return layout.four && !fits(NARROW);
}
