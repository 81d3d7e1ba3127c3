import { ALONE, layout } from "./layout";
import { announce } from "./topics";

const NARROW = "(max-width: 1023px)";
const SMALL = "(max-width: 1119px)";
const lists = new Map<string, MediaQueryList>();
const answers = new Map<string, boolean>();

/** Asked at each picture: the browser is asked once and then tells of changes itself. */
function fits(query: string): boolean {
  if (ALONE !== null) return false;
  let answer = answers.get(query);
  if (answer === undefined) {
    const list = matchMedia(query);
    list.addEventListener("change", () => answers.set(query, list.matches));
    lists.set(query, list); // else it would be thrown away, and its listener with it
    answers.set(query, (answer = list.matches));
  }
  return answer;
}

/** Arranges the page anew whenever its width asks for that. */
export function listenWidth(): void {
  for (const query of [NARROW, SMALL]) {
    fits(query); // is told first
    matchMedia(query).addEventListener("change", () => announce("layout"));
  }
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
