import type { ViewpointView } from "../protocol/messages";

/** View direction: one of the six sides, or free. */
export type Preset = "front" | "back" | "right" | "left" | "top" | "bottom" | "perspective";

export const STEEP = Math.PI / 2 - 0.001;

/** Angles of view: yaw about z, pitch above the floor [rad]. */
export const ANGLES: Record<Preset, [number, number]> = {
  front: [-Math.PI / 2, 0],
  back: [Math.PI / 2, 0],
  right: [0, 0],
  left: [Math.PI, 0],
  top: [-Math.PI / 2, STEEP],
  bottom: [-Math.PI / 2, -STEEP],
  perspective: [-0.9, 0.42],
};

export const PRESETS: { name: Preset; title: string; key: string }[] = [
  { name: "front", title: "Front", key: "1" },
  { name: "back", title: "Back", key: "2" },
  { name: "right", title: "Right", key: "3" },
  { name: "left", title: "Left", key: "4" },
  { name: "perspective", title: "Perspective", key: "5" },
  { name: "top", title: "Top", key: "7" },
  { name: "bottom", title: "Bottom", key: "8" },
];

export function titleOf(preset: Preset): string {
  return PRESETS.find(({ name }) => name === preset)?.title ?? preset;
}

/** The plane of the world that a view faces. */
export function planeOf(preset: Preset): "xy" | "xz" | "yz" {
  if (preset === "front" || preset === "back") return "xz";
  if (preset === "right" || preset === "left") return "yz";
  return "xy";
}

/** The scene's next viewpoint after the one of this name. */
export function nextViewpoint(all: ViewpointView[], after: string): ViewpointView | null {
  const at = all.findIndex(({ name }) => name === after);
  return all[(at + 1) % all.length] ?? null;
}
