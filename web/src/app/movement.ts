import type { MovementState, MovementTime } from "../protocol/messages";
import { isDriver, store } from "./store";
import { announce, on } from "./topics";

/** State of the edited movement; its code is loaded on demand. */
export const movement = {
  state: null as MovementState | null,
  /** Playback time [s]. */
  time: 0,
  playing: false,
};

/** Number of the last unanswered edit; 0 for none. */
let awaited = 0;
let sent = Math.floor(Math.random() * 2 ** 40); // distinct from other pages

/** The number of the next edit. */
export function nextEdit(): number {
  return (sent += 1);
}

/** Registers a sent edit: earlier answers do not include it. */
export function awaitEdit(number: number): void {
  awaited = number;
}

/** No answer is expected: the session's state applies. */
function stopAwaiting(): void {
  awaited = 0;
}
on("refused", () => store.refused?.what === "set_movement" && stopAwaiting());
on("link", stopAwaiting);
on("people", () => !isDriver() && stopAwaiting());

export function receiveMovement(state: MovementState): void {
  // The answer to an earlier edit must not revert a later one.
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

/** Clears the movement when another scene, or none, is open. */
export function forgetMovement(): void {
  stopAwaiting();
  movement.state = null;
  movement.time = 0;
  movement.playing = false;
  announce("movement");
}

/** Whether there is a movement with unsaved changes. */
export function movementUnsaved(): boolean {
  return movement.state?.dirty ?? false;
}
