import type { MovementDraft } from "../protocol/messages";
import { awaitEdit, movement, nextEdit } from "../app/movement";
import { command } from "../app/session";
import { announce } from "../app/topics";

/** Requests another draft, and builds on it: the next edit may come before the answer. */
export function edit(
  draft: MovementDraft | null,
  what: string,
  more: { selected?: number; gesture?: number; on?: string } = {},
): void {
  const { state } = movement;
  if (!state) return;
  const selected = more.selected ?? state.selected;
  const number = nextEdit();
  const asked = { type: "set_movement", draft, what, gesture: 0, number, ...more, selected };
  if (!command(asked)) return;
  awaitEdit(number);
  if (draft) state.draft = draft;
}

/** Selects a posture and shows it on the robot. */
export function selectPosture(posture: number): void {
  if (!movement.state || !command({ type: "show_movement", posture })) return;
  movement.state.selected = posture;
  announce("movement");
}

/** The error of the last input, for the sheet's alert; empty for none. */
export const wrong = { text: "" };

export function complain(text: string): void {
  wrong.text = text;
  announce("movement");
}
