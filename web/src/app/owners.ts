import type { Dof } from "../protocol/messages";
import { command } from "./session";
import { store } from "./store";
import { toast } from "../ui/toast";

/** The session's name for owners that drive by hand. */
export const PERSON = "user";

/** The program that drives a degree of freedom, or null if none does. */
export function programOf(dof: Dof): string | null {
  const who = dof.target_signal === null ? undefined : store.owners[dof.target_signal];
  return who === undefined || who === "" || who === PERSON ? null : who;
}

export function isMine(dof: Dof): boolean {
  return dof.target_signal !== null && store.owners[dof.target_signal] === PERSON;
}

/** Takes inputs over from their owners. */
export function takeOver(dofs: Dof[]): void {
  for (const dof of dofs)
    if (dof.target_signal !== null) command({ type: "take", signal: dof.target_signal });
}

/** Reports that a program drives a joint, and offers to take it over. */
export function offerTakeOver(joint: string, dofs: Dof[], who: string, then?: () => void): void {
  toast({
    level: "warning",
    text: `${joint.split("/").at(-1)} is driven by ${who}.`,
    action: {
      label: "Take it over",
      run: () => {
        takeOver(dofs);
        then?.();
      },
    },
  });
}
