import { define } from "../app/commands";
import { arrange, layout } from "../app/layout";
import { nextRegion } from "../app/keys";
import { select } from "../app/selection";
import { command } from "../app/session";
import { store } from "../app/store";
import { cameraCommands } from "../views/cameraCommands";
import type { Stage } from "../views/stage";

/** The commands of a recording's page. */
export function definePlayerCommands(stage: Stage): void {
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
    ...cameraCommands(stage),
    { id: "four", title: "One or four", key: "V", run: () => arrange({ four: !layout.four }) },
    { id: "charts", title: "Charts", key: "C", run: () => arrange({ dock: !layout.dock }) },
    { id: "clear", title: "Clear the selection", key: "Esc", run: () => select(null) },
    { id: "region", title: "Next region", key: "F6", run: nextRegion },
  ]);
}
