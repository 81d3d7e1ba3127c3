import { define } from "../app/commands";
import { arrange, layout, type ViewName } from "../app/layout";
import { nextRegion } from "../app/keys";
import { select } from "../app/selection";
import { command } from "../app/session";
import { store } from "../app/store";
import { saveSnapshot } from "../views/snapshot";
import type { Stage } from "../views/stage";

/** What one can do in the page of a recording. */
export function definePlayerCommands(stage: Stage): void {
  const preset = (name: ViewName) => (): void => {
    stage.active().choose(name);
    stage.refresh();
  };
  define([
    {
      id: "play",
      title: "Play or pause",
      key: "Space",
      run: () => command({ type: store.status?.running ? "pause" : "play" }),
    },
    { id: "step", title: "Next", key: "→", run: () => command({ type: "step", steps: 1 }) },
    { id: "back", title: "Back", key: "←", run: () => command({ type: "step", steps: -1 }) },
    { id: "reset", title: "Begin", key: "Backspace", run: () => command({ type: "reset" }) },
    { id: "front", title: "View from the front", key: "1", run: preset("front") },
    { id: "right", title: "View from the right", key: "3", run: preset("right") },
    { id: "top", title: "View from the top", key: "7", run: preset("top") },
    { id: "perspective", title: "Perspective view", key: "5", run: preset("perspective") },
    { id: "fit", title: "Fit all", key: "Home", run: () => stage.sight.fit() },
    { id: "frame", title: "Frame the selection", key: "F", run: () => stage.sight.frame() },
    { id: "four", title: "One or four", key: "V", run: () => arrange({ four: !layout.four }) },
    { id: "charts", title: "Charts", key: "C", run: () => arrange({ dock: !layout.dock }) },
    { id: "snapshot", title: "Snapshot, PNG", run: () => saveSnapshot(stage) },
    { id: "clear", title: "Clear the selection", key: "Esc", run: () => select(null) },
    { id: "region", title: "Next region", key: "F6", run: nextRegion },
  ]);
}
