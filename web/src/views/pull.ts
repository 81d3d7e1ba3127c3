import { Matrix4, Vector3 } from "three";
import { drag } from "../app/drag";
import { format } from "../app/numbers";
import { command } from "../app/session";
import { valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { GRAB_FREQUENCY } from "../protocol/messages";
import type { ShapeMesh } from "./bodies";
import { intersectPlane } from "./jointDrag";
import type { LinkDrag, Place } from "./linkDrag";
import { poseMatrix } from "./pose";
import type { View } from "./view";

/** Pulls a point of a link with a spring, in the plane parallel to the screen. */
export class Pull implements LinkDrag {
  private readonly local: [number, number, number];
  private readonly sight: Vector3;
  private waiting: { [key: string]: unknown; type: string } | null = null;
  private over = false;

  constructor(
    private readonly view: View,
    private readonly piece: ShapeMesh,
    private readonly grab: Vector3,
    from: Place,
    poses: Float32Array,
  ) {
    const { element } = piece;
    const frame = poseMatrix(poses, element.body * 7, new Matrix4()).multiply(
      poseMatrix(element.pose),
    );
    const at = grab.clone().applyMatrix4(frame.invert());
    this.local = [at.x, at.y, at.z];
    this.sight = view.ray(from).direction.clone();
    const body = store.scene?.bodies[element.body];
    if (body && body.mass > 0) watch("pull", [`${body.name}.mass`]);
    this.move(from);
  }

  move(event: Place): void {
    const to = intersectPlane(this.view.ray(event), this.grab, this.sight);
    if (!to) return;
    const { element } = this.piece;
    const body = store.scene?.bodies[element.body];
    const mass = (body && (valueOf(`${body.name}.mass`) ?? body.mass)) || 1;
    const target: [number, number, number] = [to.x, to.y, to.z];
    const stiffness = mass * GRAB_FREQUENCY ** 2;
    const force = drag.pull?.force ?? 0;
    drag.pull = { element: element.name, point: this.local, target, stiffness, force };
    if (!this.waiting) requestAnimationFrame(() => this.send());
    this.waiting = { type: "grab", element: element.name, point: this.local, target };
  }

  private send(): void {
    if (this.waiting && !this.over) command(this.waiting);
    this.waiting = null;
  }

  end(): void {
    this.over = true;
    command({ type: "drop" });
    watch("pull", []);
    drag.pull = null;
    drag.words = "";
  }
}

/** The force of a pull as text. */
export function forceWords(newton: number): string {
  return `${format(newton, newton < 10 ? 2 : 1)} N`;
}
