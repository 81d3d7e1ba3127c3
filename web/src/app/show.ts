import { announce } from "./topics";

/** What the views draw besides the bodies. */
export const show = {
  contacts: true,
  forces: true,
  held: false,
  ghost: true,
  glyphs: true,
  traces: false,
  shadows: true,
  grid: true,
  frames: false,
  centres: false,
  inertia: false,
  rays: false,
  collision: false,
  anchors: false,
};

export type ShowKey = keyof typeof show;

export const SHOW_LABELS: Record<ShowKey, string> = {
  contacts: "Contacts",
  forces: "Forces",
  held: "Joint forces",
  ghost: "Wanted posture",
  glyphs: "Joint glyphs",
  traces: "Traces",
  shadows: "Shadows",
  grid: "Grid",
  frames: "Frames",
  centres: "Centres of mass",
  inertia: "Inertia boxes",
  rays: "Sensor rays",
  collision: "Collision shapes",
  anchors: "Anchors",
};

export function setShow(key: ShowKey, on: boolean): void {
  show[key] = on;
  announce("show");
}
