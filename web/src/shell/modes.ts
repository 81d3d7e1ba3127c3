import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { whyOff } from "../ui/driving";

const MODES = [
  [
    "kinematic",
    "Kinematic",
    "Joints follow their targets exactly: positions, speeds, accelerations",
  ],
  ["emulation", "Emulation", "The same motion, with the moment that each joint requires"],
  ["simulation", "Simulation", "Drives track the motion: wanted and actual values"],
] as const;

/** Switches to a mode; a scene without one offers none. */
function choose(mode: string): void {
  if (!store.scene?.mode || store.scene.replay !== null || store.scene.mode === mode) return;
  command({ type: "edit", kind: "scene", name: store.scene.name, key: "mode", value: mode });
}

/** A command for each mode. */
export function modeCommands(): { id: string; title: string; run: () => void }[] {
  return MODES.map(([mode, label]) => ({
    id: `mode-${mode}`,
    title: `Mode: ${label.toLowerCase()}`,
    run: () => choose(mode),
  }));
}

/** The mode switch, for scenes that offer it; time and posture are kept. */
export function modes(): HTMLElement {
  const made = MODES.map(([mode, label, title]) =>
    h(
      "button",
      {
        type: "button",
        class: "segment",
        title,
        onclick: () => choose(mode),
      },
      label,
    ),
  );
  const whole = h(
    "div",
    { class: "segments small modes", role: "group", "aria-label": "Mode" },
    ...made,
  );
  const draw = (): void => {
    whole.hidden = !store.scene?.mode || store.scene.replay !== null;
    const why = whyOff();
    MODES.forEach(([mode, , title], n) => {
      made[n]!.setAttribute("aria-pressed", String(store.scene?.mode === mode));
      made[n]!.disabled = why !== "";
      made[n]!.title = why || title;
    });
  };
  on(["scene", "people", "link"], draw);
  draw();
  return whole;
}
