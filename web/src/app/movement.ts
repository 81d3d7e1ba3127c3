import type { MovementState, MovementTime } from "../protocol/messages";
import { announce } from "./topics";

/** What the page knows of the movement that is edited; the code about it comes when one is. */
export const movement = {
  state: null as MovementState | null,
  /** Where in it the robot is [s]. */
  time: 0,
  playing: false,
};

export function receiveMovement(state: MovementState): void {
  movement.state = state;
  announce("movement");
}

export function receiveMovementTime({ time, playing }: MovementTime): void {
  movement.time = time;
  movement.playing = playing;
  announce("movementTime");
}

/** Another scene, or none, is open: what was edited is not of it. */
export function forgetMovement(): void {
  movement.state = null;
  movement.time = 0;
  movement.playing = false;
  announce("movement");
}

/** Whether there is a movement with changes that are not saved. */
export function movementUnsaved(): boolean {
  return movement.state?.dirty ?? false;
}
