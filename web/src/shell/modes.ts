import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { whyOff } from "../ui/driving";

const MODES = [
  [
    "kinematic",
    "Kinematic",
    "Joints go where they are wanted; see positions, speeds, accelerations",
  ],
  ["emulation", "Emulation", "The same motion, with the moments that it takes in each joint"],
  ["simulation", "Simulation", "Drives track the motion; see wanted and actual"],
] as const;

/** What moves the scene, one switch for scenes that offer it; time and posture go on. */
export function modes(): HTMLElement {
  const made = MODES.map(([mode, label, title]) =>
    h(
      "button",
      {
        type: "button",
        class: "segment",
        title,
        onclick: () => {
          if (store.scene?.mode === mode) return;
          command({
            type: "edit",
            kind: "scene",
            name: store.scene!.name,
            key: "mode",
            value: mode,
          });
        },
      },
      label,
    ),
  );
  const whole = h(
    "div",
    { class: "segments small first-to-go", role: "group", "aria-label": "Mode" },
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
