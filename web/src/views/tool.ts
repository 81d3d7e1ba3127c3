import type { Object3D, Vector3 } from "three";
import type { Bodies, Piece } from "./bodies";
import type { LinkDrag, Place } from "./linkDrag";
import type { View } from "./view";

/** Something that has handles in the views and may take drags of links over. */
export interface Tool {
  readonly root: Object3D;
  /** Puts everything where it belongs, for a picture of all views. */
  update(views: View[], bodies: Bodies): void;
  /** Gets ready to be drawn in one of them. */
  face(view: View): void;
  recolor(): void;
  /** Takes the pointer's place over; true while a handle is under it. */
  hover(view: View, place: Place | null): boolean;
  /** What begins if the pointer is dragged from here; null where there is no handle. */
  grab(view: View, place: Place): (() => LinkDrag | null) | null;
  /** Takes over a drag of a link; undefined leaves it to the link's joint. */
  link(view: View, piece: Piece, at: Vector3, from: Place): LinkDrag | null | undefined;
}

/** The tool in use, if any. */
export const tool = { current: null as Tool | null };
