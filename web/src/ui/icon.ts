/** Line icons, 16 × 16, stroke 1.4. */
const PATHS = {
  logo: "M3 12.5 7.4 4.6M8.6 4.6l3.6 6.6M8 1.8a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2M2.6 11.4a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2M12.8 10.8a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2",
  undo: "M5.5 3 2.5 6l3 3M2.8 6H10a3.5 3.5 0 0 1 0 7H7",
  redo: "m10.5 3 3 3-3 3M13.2 6H6a3.5 3.5 0 0 0 0 7h3",
  save: "M2.5 2.5h9l2 2v9h-11zM5 2.5V6h5.5V2.5M5 13.5v-4h6v4",
  share: "M8 9.5V2m0 0L5 5m3-3 3 3M3 8v5.5h10V8",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9m3.4 7.9 3.4 3.4",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M3 13l1.2-1.2M11.8 4.2 13 3",
  moon: "M13.5 9.8A5.8 5.8 0 0 1 6.2 2.5a5.8 5.8 0 1 0 7.3 7.3z",
  down: "m4 6 4 4 4-4",
  right: "m6 4 4 4-4 4",
  plus: "M8 3v10M3 8h10",
  close: "m4 4 8 8m0-8-8 8",
  frame:
    "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3M8 6.4a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2",
  one: "M2.5 2.5h11v11h-11z",
  four: "M2.5 2.5h11v11h-11zM8 2.5v11M2.5 8h11",
  layers: "m8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
  camera: "M2 4.5h3l1-1.5h4l1 1.5h3v8.5H2zM8 6.2a2.4 2.4 0 1 1 0 4.8 2.4 2.4 0 0 1 0-4.8",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  reset: "M3 3v3.5h3.5M3.2 6.3A5.2 5.2 0 1 1 3 9.5",
  back: "M12.5 3.5v9L6 8zM4 3.5v9",
  forward: "M3.5 3.5v9L10 8zM12 3.5v9",
  play: "M4.5 3v10l8-5z",
  pause: "M5.5 3v10M10.5 3v10",
  record: "M8 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8",
  chart: "M2.5 2.5v11h11M4.5 10.5l3-4 2.5 2.5 3-5",
  scene: "m8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
  robot:
    "M8 2.2a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8M8 5v3M8 8l-4 3M8 8l4 3M3 11v2.5h2M11 11h2v2.5",
  part: "m8 1.8 5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9zM2.5 4.9 8 8l5.5-3.1M8 8v6.2",
  element: "m8 1.8 5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9z",
  joint:
    "M2.5 8.5a5.5 5.5 0 0 1 10-3M12.8 2.5v3.2H9.6M8 6.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4",
  slider: "M1.5 8h13M4 5.5 1.5 8 4 10.5M12 5.5 14.5 8 12 10.5M6.5 5v6M9.5 5v6",
  anchor:
    "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6",
  sensor:
    "M4.3 4.3a5.2 5.2 0 0 0 0 7.4M11.7 4.3a5.2 5.2 0 0 1 0 7.4M2 2.5a8 8 0 0 0 0 11M14 2.5a8 8 0 0 1 0 11M8 6.8a1.2 1.2 0 1 1 0 2.4 1.2 1.2 0 0 1 0-2.4",
  agent: "m5 4-3.5 4L5 12M11 4l3.5 4L11 12M9 3 7 13",
  loop: "M6.5 9.5a3 3 0 0 1 0-4l2-2a2.8 2.8 0 0 1 4 4l-1 1M9.5 6.5a3 3 0 0 1 0 4l-2 2a2.8 2.8 0 0 1-4-4l1-1",
  hand: "M4.5 8.5V4.2a1 1 0 0 1 2 0V7m0-3.8a1 1 0 0 1 2 0V7m0-3a1 1 0 0 1 2 0v4m0-2.6a1 1 0 0 1 2 0V10a4.3 4.3 0 0 1-4.3 4.3c-2 0-3-1-3.9-2.6L2.6 9a1 1 0 0 1 1.9-.5",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3",
  folder: "M2 3.5h4l1.5 2H14v7.5H2z",
  upload: "M8 10V2.5m0 0-3 3m3-3 3 3M2.5 10v3.5h11V10",
  warning: "M8 2 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.1",
  info: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M8 7.2V11M8 5v.1",
  window: "M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v4.5h-9v-9H7",
  bus: "M2 8h12M4.5 8V4.5M11.5 8V4.5M8 8v3.5M3 2h3v2.5H3zM10 2h3v2.5h-3zM6.5 11.5h3V14h-3z",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  clear: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  home: "M2.5 7.5 8 3l5.5 4.5M4 6.8v6.7h8V6.8",
  glasses: "M1.5 6h13v3a2.8 2.8 0 0 1-5.5.8h-2A2.8 2.8 0 0 1 1.5 9z",
} as const;

export type IconName = keyof typeof PATHS;
const FILLED: ReadonlySet<IconName> = new Set<IconName>(["play", "back", "forward", "record"]);

/** An icon; decorative, so the control around it carries the name. */
export function icon(name: IconName, size = 16): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 16 16",
    width: size,
    height: size,
    fill: "none",
    stroke: "currentColor",
    "stroke-width": name === "pause" ? 2.4 : name === "more" ? 2.2 : 1.4,
    "stroke-linecap": name === "pause" ? "butt" : "round",
    "stroke-linejoin": "round",
    "aria-hidden": "true",
    class: `icon icon-${name}`,
  })) {
    svg.setAttribute(key, String(value));
  }
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  if (FILLED.has(name) && name !== "back" && name !== "forward")
    path.setAttribute("fill", "currentColor");
  svg.append(path);
  return svg;
}
