import { nameMark } from "../transport/nameMark";
import { openRecordings } from "../start/recordingList";
import { saveHtml } from "../transport/saveHtml";
import { openHelp } from "../shell/help";
import { modeCommands } from "../shell/modes";
import { openPalette } from "../shell/palette";
import { cameraCommands } from "../views/cameraCommands";
import type { Stage } from "../views/stage";
import { chooseStereo, STEREO } from "../views/stereoChoice";
import { arrange, chooseWorkspace, layout, showSheet } from "./layout";
import { closeLoop } from "./closeLoop";
import { define } from "./commands";
import { closeScene, goOn, leaving, newScene, save, saveAs, storePosture } from "./files";
import { nextRegion } from "./keys";
import { select } from "./selection";
import { command } from "./session";
import { setShow, show, SHOW_LABELS, type ShowKey } from "./show";
import { store } from "./store";
import { switchTheme } from "./theme";
import { turnGizmo } from "./reach";

/** Reopens the file from disk; asks about unsaved changes. */
function reload(): void {
  const scene = store.scene?.file;
  if (!scene) return;
  leaving((discard) => void command({ type: "open", scene, discard }));
}

/** Registers all commands of the studio. */
export function defineCommands(stage: Stage): void {
  define([
    {
      id: "play",
      title: "Play or pause",
      key: "Space",
      run: () => command({ type: store.status?.running ? "pause" : "play" }),
    },
    {
      id: "step",
      title: "One step forward",
      key: "→",
      run: () => command({ type: "step", steps: 1 }),
    },
    {
      id: "back",
      title: "One step back in history",
      key: "←",
      run: () => command({ type: "step", steps: -1 }),
    },
    {
      id: "reset",
      title: "Reset to the initial state",
      key: "Backspace",
      run: () => command({ type: "reset" }),
    },
    {
      id: "record",
      title: "Start or stop recording",
      run: () => command({ type: "record", on: !store.status?.recording }),
    },
    { id: "live", title: "Back to now", key: "N", run: () => command({ type: "live" }) },
    {
      id: "mark",
      title: "Add a mark to the recording",
      key: "M",
      run: () => command({ type: "mark" }),
    },
    { id: "name-mark", title: "Add a named mark to the recording", run: nameMark },
    {
      id: "go-on",
      title: "Go on live from this instant of the recording",
      run: goOn,
    },
    { id: "recordings", title: "Open a recording", run: openRecordings },
    { id: "save-html", title: "Save the recording as HTML", run: saveHtml },
    { id: "undo", title: "Undo", key: "Ctrl+Z", run: () => command({ type: "undo" }) },
    { id: "redo", title: "Redo", key: "Ctrl+Shift+Z", run: () => command({ type: "redo" }) },
    { id: "save", title: "Save the scene", key: "Ctrl+S", run: save },
    { id: "save-as", title: "Save as", key: "Ctrl+Shift+S", run: saveAs },
    { id: "new-scene", title: "New scene", run: () => newScene() },
    { id: "store-posture", title: "Store posture", run: storePosture },
    { id: "close-loop", title: "Close a loop between two anchors", run: closeLoop },
    {
      id: "close",
      title: "Close the scene, back to the gallery",
      run: closeScene,
    },
    { id: "reload", title: "Reload the scene from its file", run: reload },
    { id: "release", title: "Give all inputs back", run: () => command({ type: "release" }) },
  ]);
  define([
    ...cameraCommands(stage),
    {
      id: "four",
      title: "One view or four",
      key: "V",
      run: () => arrange({ four: !layout.four, stereo: "none" }),
    },
    {
      id: "charts",
      title: "Show or hide charts",
      key: "C",
      run: () => arrange({ dock: !layout.dock }),
    },
    ...["Joints", "Bodies", "Motion"].map((bottom) => ({
      id: `table-${bottom}`,
      title: `Table of the state: ${bottom.toLowerCase()}`,
      run: () => arrange({ dock: true, bottom }),
    })),
    {
      id: "movement",
      title: "Edit a movement: postures at times",
      key: "E",
      run: () => showSheet("Movement"),
    },
    ...modeCommands(),
    ...STEREO.map((stereo) => ({
      id: `stereo-${stereo.split(" ")[0]}`,
      title: `Stereo: ${stereo === "none" ? "off" : stereo}`,
      run: () => chooseStereo(stereo),
    })),
  ]);
  define([
    {
      id: "reach",
      title: "Reach: drag a tool by inverse kinematics",
      key: "I",
      run: () => arrange({ left: "Reach", drawer: true }),
    },
    {
      id: "gizmo-move",
      title: "Gizmo: move",
      key: "T",
      run: () => turnGizmo(false),
    },
    { id: "gizmo-turn", title: "Gizmo: turn", key: "R", run: () => turnGizmo(true) },
    { id: "clear", title: "Clear the selection", key: "Esc", run: () => select(null) },
    { id: "theme", title: "Light or dark", run: switchTheme },
    { id: "help", title: "Keys and help", key: "?", run: openHelp },
    { id: "palette", title: "Commands", key: "Ctrl+K", run: openPalette },
    {
      id: "search",
      title: "Search the scene",
      key: "/",
      run: () => {
        if (store.scene) arrange({ left: "Scene", drawer: true });
        document.querySelector<HTMLInputElement>(".search input")?.focus();
      },
    },
    { id: "region", title: "Next region", key: "F6", run: nextRegion },
    ...(["Build", "Drive", "Test", "Review"] as const).map((name) => ({
      id: `workspace-${name}`,
      title: `Workspace: ${name}`,
      run: () => chooseWorkspace(name),
    })),
    ...(Object.keys(show) as ShowKey[]).map((key) => ({
      id: `show-${key}`,
      title: `Show: ${SHOW_LABELS[key].toLowerCase()}`,
      run: () => setShow(key, !show[key]),
    })),
  ]);
}
