import { store } from "./store";
import { announce } from "./topics";

export type Workspace = "Build" | "Drive" | "Test" | "Review";
export type ViewName = "top" | "perspective" | "front" | "right";
export type Stereo = "none" | "anaglyph" | "side by side" | "interlaced";

const search = typeof location === "undefined" ? "" : location.search;
/** The content of this window from `?alone=` in its address: `views`, a view, or `charts`. */
export const SEPARATE_WINDOW = new URLSearchParams(search).get("alone");

/** The panel layout, stored between visits. */
export const layout = {
  workspace: "Drive" as Workspace,
  four: true,
  active: "perspective" as ViewName,
  left: "Scene",
  right: "Attributes",
  dock: false,
  /** The content of the bottom dock. */
  bottom: "Charts",
  /** Whether the left panel is open on a narrow page. */
  drawer: false,
  stereo: "none" as Stereo,
  leftWidth: 264,
  rightWidth: 320,
  dockHeight: 208,
};

const KEY = "linkwork-layout";

export function loadLayout(): void {
  try {
    Object.assign(layout, JSON.parse(localStorage.getItem(KEY) ?? "{}"));
  } catch {
    localStorage.removeItem(KEY);
  }
  layout.stereo = "none";
}

export function arrange(change: Partial<typeof layout>): void {
  Object.assign(layout, change);
  // A separate window does not store its layout.
  if (SEPARATE_WINDOW === null) localStorage.setItem(KEY, JSON.stringify(layout));
  announce("layout");
}

/** Shows a tab of the bottom dock, at the height it needs. */
export function showSheet(bottom: string): void {
  const least = bottom === "Movement" ? 320 : 0;
  arrange({ dock: true, bottom, dockHeight: Math.max(layout.dockHeight, least) });
}

/** A workspace only arranges panels; commands work everywhere. */
export function chooseWorkspace(workspace: Workspace): void {
  // Panels of the test workspace are closed again.
  const left = layout.left === "Ports" ? "Scene" : layout.left;
  const right = layout.right === "Faults" ? "Attributes" : layout.right;
  const hasBuses = (store.scene?.buses.length ?? 0) > 0;
  if (workspace === "Build") arrange({ workspace, four: false, dock: false, left, right });
  else if (workspace === "Drive") arrange({ workspace, four: true, dock: false, left, right });
  else if (workspace === "Test" && hasBuses)
    arrange({
      workspace,
      four: false,
      dock: true,
      dockHeight: Math.max(layout.dockHeight, 300),
      bottom: "Frames",
      left: "Ports",
      right: "Faults",
    });
  else if (workspace === "Test") arrange({ workspace, four: false, dock: true, right: "Messages" });
  else arrange({ workspace, four: false, dock: true, left, right: "Attributes" });
}
