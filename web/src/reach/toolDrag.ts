import { Matrix4, Vector3 } from "three";
import { drag } from "../app/drag";
import { format, formatSI } from "../app/numbers";
import { offerTakeOver, programOf } from "../app/owners";
import { reach } from "../app/reach";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { newGesture } from "../app/targetSender";
import type { ShapeMesh } from "../views/bodies";
import { intersectPlane } from "../views/jointDrag";
import type { LinkDrag, Place } from "../views/linkDrag";
import { poseMatrix } from "../views/pose";
import type { View } from "../views/view";
import { toast } from "../ui/toast";
import { follow, type Follow, type Handle, type Stand } from "./handles";

/** Reports why nothing can be dragged now; true if it can. */
export function mayReach(): boolean {
  if (!isDriver()) {
    command({ type: "drop" }); // names the driver
    return false;
  }
  if (reach.joints.length === 0) {
    toast({ level: "info", text: "The tool is being prepared. Please wait." });
    return false;
  }
  if (!store.status?.running) return true;
  const joints = (store.scene?.joints ?? []).filter((joint) => reach.joints.includes(joint.name));
  const driven = joints.flatMap((joint) => joint.dofs).filter((dof) => programOf(dof) !== null);
  const first = driven[0];
  if (!first) return true;
  const name = driven.length === 1 ? first.signal : `${driven.length} joints of the tool`;
  offerTakeOver(name, driven, programOf(first) ?? "a program");
  return false;
}

/** Sends at most one target per snapshot: the newest. */
class TargetSender {
  private waiting: { [key: string]: unknown; type: string } | null = null;
  private over = false;
  private readonly gesture = newGesture();

  want(pose: number[], more: Record<string, unknown> = {}): void {
    if (!this.waiting) requestAnimationFrame(() => this.send());
    this.waiting = { type: "reach", pose, gesture: this.gesture, ...more };
  }

  private send(): void {
    if (this.waiting && !this.over) command(this.waiting);
    this.waiting = null;
  }

  end(cancelled: boolean): void {
    if (!cancelled) this.send();
    this.over = true;
    command({ type: "end_tool_drag", cancelled: cancelled });
    drag.words = "";
  }
}

export function poseOf({ place, turn }: Stand): number[] {
  return [place.x, place.y, place.z, turn.w, turn.x, turn.y, turn.z];
}

/** Drags a handle of the gizmo; `wanted` returns the target pose of the tool. */
export class HandleDrag implements LinkDrag {
  private readonly sender = new TargetSender();
  private readonly follow: Follow;

  constructor(
    private readonly view: View,
    handle: Handle,
    tool: Stand,
    gizmo: Stand,
    from: Place,
    private readonly wanted: (stand: Stand | null) => void,
  ) {
    this.follow = follow(handle, tool, gizmo, view, view.ray(from));
  }

  move(event: Place): void {
    const { stand, moved, turned } = this.follow(this.view.ray(event));
    this.wanted(stand);
    this.sender.want(poseOf(stand));
    drag.words =
      turned !== 0
        ? formatSI(turned, "rad", store.degrees)
        : `${[moved.x, moved.y, moved.z].map((c) => format(c * 1e3, 0)).join("  ")} mm`;
  }

  end(cancelled: boolean): void {
    this.sender.end(cancelled);
    this.wanted(null);
  }
}

/** Drags any link by the point under the pointer, in the plane that faces the eye. */
export class ChainDrag implements LinkDrag {
  private readonly sender = new TargetSender();
  private readonly sight: Vector3;
  private readonly point: number[];

  constructor(
    private readonly view: View,
    private readonly piece: ShapeMesh,
    private readonly at: Vector3,
    from: Place,
    poses: Float32Array,
  ) {
    const { element } = piece;
    const frame = poseMatrix(poses, element.body * 7, new Matrix4()).multiply(
      poseMatrix(element.pose),
    );
    this.point = at.clone().applyMatrix4(frame.invert()).toArray();
    this.sight = view.ray(from).direction.clone();
  }

  move(event: Place): void {
    const to = intersectPlane(this.view.ray(event), this.at, this.sight);
    if (!to) return;
    const { name } = this.piece.element;
    this.sender.want([to.x, to.y, to.z, 1, 0, 0, 0], { frame: name, point: this.point });
    drag.words = `${name.split("/").at(-1)} ${format(to.distanceTo(this.at) * 1e3, 0)} mm`;
  }

  end(cancelled: boolean): void {
    this.sender.end(cancelled);
  }
}
