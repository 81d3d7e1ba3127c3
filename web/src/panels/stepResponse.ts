import type { JointView } from "../protocol/messages";
import { addCurve, charts } from "../charts/charts";
import { valueOf } from "../app/signals";
import { whenSteady } from "../app/signalsSteady";
import { command } from "../app/session";
import { store } from "../app/store";
import { offerTakeOver, programOf } from "../app/owners";
import { within } from "../views/jointDrag";

const ANGLE = (20 * Math.PI) / 180;
const LENGTH = 0.02;

/** Target of a step from ``value``: forward if the range permits, else backward. */
export function stepTarget(
  value: number,
  dof: { unit: string; lo: number | null; hi: number | null },
): number {
  const by = dof.unit === "m" ? LENGTH : ANGLE;
  const room = dof.hi === null || value + by <= dof.hi;
  return within(value + (room ? by : -by), dof.lo, dof.hi)[0];
}

/** Applies a step to a joint's target, and charts target and response. */
export function stepResponse(joint: JointView): void {
  const dof = joint.dofs[0];
  const target = dof?.target_signal;
  if (!dof || !target) return;
  const chart = charts.list.find((c) => c.curves.includes(target) && c.curves.includes(dof.signal));
  if (!chart) {
    addCurve(target);
    addCurve(
      dof.signal,
      charts.list.find((c) => c.curves.length === 1 && c.curves[0] === target),
    );
  }
  const step = (): void => {
    const value = valueOf(dof.signal) ?? 0;
    command({ type: "set", signal: target, value: stepTarget(value, dof) });
    if (!store.status?.running) command({ type: "play" });
  };
  // A chart under construction would miss the step, and draw it as a ramp.
  const start = chart ? step : () => whenSteady(step);
  const who = programOf(dof);
  if (who === null) start();
  else offerTakeOver(joint.name, [dof], who, start);
}
