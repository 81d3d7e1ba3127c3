import type { Object3D, Vector3 } from "three";
import type { Bodies, ShapeMesh } from "./bodies";
import type { LinkDrag, Place } from "./linkDrag";
import type { View } from "./view";

/** A tool with handles in the views, which may take over drags of links. */
export interface Tool {
  readonly root: Object3D;
  /** Updates everything for a frame of all views. */
  update(views: View[], bodies: Bodies): void;
  /** Prepares the drawing in one of them. */
  face(view: View): void;
  recolor(): void;
  /** Sets the pointer's position; true while a handle is under it. */
  hover(view: View, place: Place | null): boolean;
  /** Begins a drag from the pointer; null if there is no handle. */
  grab(view: View, place: Place): (() => LinkDrag | null) | null;
  /** Takes over a drag of a link; undefined leaves it to the link's joint. */
  link(view: View, piece: ShapeMesh, at: Vector3, from: Place): LinkDrag | null | undefined;
}

/** The active tool, if any. */
export const tool = { current: null as Tool | null };
