import { askToShow } from "../app/buses";
import { reach, type ReachShow } from "../app/reach";
import { announce, on } from "../app/topics";
import { check } from "./fields";

const WORDS: Record<ReachShow, string> = {
  ellipsoid: "Show the ellipsoid",
  distances: "Show distances",
  trace: "Show the trace",
  collisions: "Show colliding faces",
  cloud: "Show the cloud",
};

/** Switches a display on or off. */
export function showReach(what: ReachShow, on: boolean): void {
  reach.shows[what] = on;
  askToShow();
  announce("reach");
}

/** A check box at the right of a section's title that switches its display. */
export function shown(what: ReachShow, words = ""): HTMLElement {
  const box = check(words, (on) => showReach(what, on));
  box.input.setAttribute("aria-label", WORDS[what]);
  box.element.title = WORDS[what];
  const draw = (): void => void (box.input.checked = reach.shows[what]);
  on("reach", draw);
  draw();
  return box.element;
}
