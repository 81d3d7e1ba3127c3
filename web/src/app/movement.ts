import type { MovementState, MovementTime } from "../protocol/messages";
import { isDriver, store } from "./store";
import { announce, on } from "./topics";

/** What the page knows of the movement that is edited; the code about it comes when one is. */
export const movement = {
  state: null as MovementState | null,
  /** Where in it the robot is [s]. */
  time: 0,
  playing: false,
};

/** The last edit that was sent and is not answered yet; 0 for none. */
let awaited = 0;
let sent = Math.floor(Math.random() * 2 ** 40); // other pages count from elsewhere

/** The number of an edit that is about to be sent. */
export function nextEdit(): number {
  return (sent += 1);
}

/** An edit was sent: what comes before its answer does not know of it. */
export function awaitEdit(number: number): void {
  awaited = number;
}

/** No answer comes any more: what the session tells, holds. */
function stopAwaiting(): void {
  awaited = 0;
}
on("refused", () => store.refused?.what === "set_movement" && stopAwaiting());
on("link", stopAwaiting);
on("people", () => !isDriver() && stopAwaiting());

export function receiveMovement(state: MovementState): void {
  // The answer to an earlier edit must not take a later one back.
  if (awaited !== 0 && state.number !== awaited) return;
  awaited = 0;
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
  stopAwaiting();
  movement.state = null;
  movement.time = 0;
  movement.playing = false;
  announce("movement");
}

/** Whether there is a movement with changes that are not saved. */
export function movementUnsaved(): boolean {
  return movement.state?.dirty ?? false;
}
