import { announce } from "./topics";

/** The optional displays of the views. */
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
  centers: false,
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
  centers: "Centers of mass",
  inertia: "Inertia boxes",
  rays: "Sensor rays",
  collision: "Collision shapes",
  anchors: "Anchors",
};

export function setShow(key: ShowKey, on: boolean): void {
  show[key] = on;
  announce("show");
}
