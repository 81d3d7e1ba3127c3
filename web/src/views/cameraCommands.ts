import type { Command } from "../app/commands";
import { PRESETS } from "./presets";
import { saveSnapshot } from "./snapshot";
import type { Stage } from "./stage";

/** Rotation [rad], displacement [px] and zoom factor of a key press. */
const TURN = Math.PI / 12;
const MOVE = 40;
const NEARER = 0.8;

const TURNS: [string, string, number, number][] = [
  ["left", "Shift+←", -TURN, 0],
  ["right", "Shift+→", TURN, 0],
  ["up", "Shift+↑", 0, TURN],
  ["down", "Shift+↓", 0, -TURN],
];
const MOVES: [string, string, number, number][] = [
  ["left", "Ctrl+←", MOVE, 0],
  ["right", "Ctrl+→", -MOVE, 0],
  ["up", "Ctrl+↑", 0, MOVE],
  ["down", "Ctrl+↓", 0, -MOVE],
];

/** View directions of the active view, by menu, palette and key. */
export function cameraCommands(stage: Stage): Command[] {
  const { cameraTargets } = stage;
  const steer = (change: () => void) => (): void => {
    change();
    stage.refresh();
  };
  return [
    ...PRESETS.map(({ name, title, key }) => ({
      id: `view-${name}`,
      title: name === "perspective" ? "Perspective view" : `View from the ${title.toLowerCase()}`,
      key,
      run: () => cameraTargets.choose(stage.active(), name),
    })),
    {
      id: "viewpoint",
      title: "Next viewpoint of the scene",
      key: "9",
      run: () => cameraTargets.viewpoint(stage.active()),
    },
    { id: "reset-views", title: "Reset all views", key: "0", run: () => cameraTargets.reset() },
    { id: "fit", title: "Fit all in the views", key: "Home", run: () => cameraTargets.fit() },
    { id: "frame", title: "Frame the selection", key: "F", run: () => cameraTargets.frame() },
    ...TURNS.map(([where, key, yaw, pitch]) => ({
      id: `turn-${where}`,
      title: `Camera: turn ${where}`,
      key,
      run: steer(() => stage.active().camera.turn(yaw, pitch)),
    })),
    ...MOVES.map(([where, key, dx, dy]) => ({
      id: `move-${where}`,
      title: `Camera: move ${where}`,
      key,
      run: steer(() => stage.active().camera.pan(dx, dy)),
    })),
    {
      id: "nearer",
      title: "Camera: nearer",
      key: "PageUp",
      run: steer(() => stage.active().camera.zoom(NEARER, 0, 0)),
    },
    {
      id: "farther",
      title: "Camera: farther",
      key: "PageDown",
      run: steer(() => stage.active().camera.zoom(1 / NEARER, 0, 0)),
    },
    {
      id: "snapshot",
      title: "Snapshot of all views, PNG",
      key: "P",
      run: () => saveSnapshot(stage),
    },
    {
      id: "snapshot-view",
      title: "Snapshot of the active view, PNG",
      run: () => saveSnapshot(stage, stage.active()),
    },
  ];
}
