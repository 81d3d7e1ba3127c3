import { formatSI } from "../app/numbers";
import { valueOf } from "../app/signals";
import { primary, store } from "../app/store";
import type { Stage } from "../views/stage";

const EACH_MS = 1000;

/** Keeps a text description of each view, for screen readers. */
export function summarise(stage: Stage): void {
  setInterval(() => {
    const scene = store.scene;
    if (!scene || document.hidden) return;
    const chosen = primary();
    const joint =
      chosen?.kind === "joint" ? scene.joints.find((j) => j.name === chosen.name) : undefined;
    const dof = joint?.dofs[0];
    const value = dof ? valueOf(dof.signal) : null;
    const about = chosen
      ? ` Selected: ${chosen.name}${dof && value !== null ? ` at ${formatSI(value, dof.unit, store.degrees)}` : ""}.`
      : "";
    const moving = scene.bodies.filter((b) => !b.static).length;
    const text = `${scene.title || scene.name}, ${moving} moving bodies, ${scene.joints.length} joints.${about}`;
    for (const view of stage.views)
      if (view.summary.textContent !== text) view.summary.textContent = text;
  }, EACH_MS);
}
