import type { Dof, JointView } from "../protocol/messages";
import { command } from "./session";
import { store } from "./store";

let waiting: { type: string; [key: string]: unknown } | null = null;

/** Sends at most one wish per picture: the newest. */
function soon(message: { type: string; [key: string]: unknown }): void {
  if (!waiting) {
    requestAnimationFrame(() => {
      const last = waiting;
      waiting = null;
      if (last) command(last);
    });
  }
  waiting = message;
}

/**
 * Wants a joint at a value [rad or m]: a driven joint gets a target while time runs; while it
 * stands, the joint itself is placed there.
 */
export function want(joint: JointView, dof: Dof, value: number): void {
  if (dof.target_signal !== null && store.status?.running) {
    soon({ type: "set", signal: dof.target_signal, value });
  } else {
    soon({ type: "place", joint: joint.name, dof: dof.name, value });
  }
}
