import type { Dof, JointView } from "../protocol/messages";
import { offerTakeOver, programOf } from "./owners";
import { command } from "./session";
import { store } from "./store";
import { toast } from "../ui/toast";

type Message = { type: string; [key: string]: unknown };
const waiting = new Map<string, Message>();

let gesture = 0;

/** Begins a gesture: one undo step. */
export function beginGesture(): void {
  gesture += 1;
}

/** The number of a new gesture. */
export function newGesture(): number {
  return (gesture += 1);
}

/** Sends at most one target per degree of freedom and frame: the latest. */
function soon(key: string, message: Message): void {
  if (waiting.size === 0) requestAnimationFrame(flush);
  waiting.set(key, message);
}

function flush(): void {
  const all = [...waiting.values()];
  waiting.clear();
  for (const message of all) if (!command(message)) return;
}

/**
 * Sets a joint to a value [rad or m]: while running, a driven joint gets a target; while paused,
 * the joint position is set directly. Reports the reason if neither is possible.
 */
export function want(joint: JointView, dof: Dof, value: number): void {
  if (!store.status?.running) {
    soon(dof.signal, { type: "place", joint: joint.name, dof: dof.name, value, gesture });
    return;
  }
  const name = joint.name.split("/").at(-1) ?? joint.name;
  const who = programOf(dof);
  if (dof.target_signal === null) {
    toast({ level: "info", text: `${name} has no drive. Pause to set its position directly.` });
    return;
  }
  const set = { type: "set", signal: dof.target_signal, value };
  if (who === null) soon(dof.signal, set);
  else offerTakeOver(joint.name, [dof], who, () => soon(dof.signal, set));
}
