import "./styles/tokens.css";
import "./styles/controls.css";
import "./styles/shell.css";
import "./styles/panels.css";
import "./styles/views.css";
import "./styles/floats.css";
import "./styles/buses.css";
import "./styles/start.css";
import { buses } from "./app/buses";
import { run } from "./app/commands";
import { guardFiles } from "./app/files";
import { listenKeys } from "./app/keys";
import { loadLayout } from "./app/layout";
import { movement } from "./app/movement";
import { bringReach, reach } from "./app/reach";
import { select } from "./app/selection";
import { command, connect, send } from "./app/session";
import { valueOf, watch } from "./app/signals";
import { store } from "./app/store";
import { defineCommands } from "./app/studioCommands";
import { loadTheme } from "./app/theme";
import { on } from "./app/topics";
import { listenWidth } from "./app/width";
import { addCurve, charts } from "./charts/charts";
import { separatePage } from "./shell/separateWindow";
import { linkNotice } from "./shell/linkNotice";
import { studio } from "./shell/studio";
import { listenDrops } from "./start/dropZone";
import { startPage } from "./start/startPage";
import { announceRecordings } from "./transport/recorded";
import { keepClicks } from "./ui/keepClicks";
import { forgetErrors } from "./ui/toast";
import { Stage } from "./views/stage";
import { tool } from "./views/tool";

loadTheme();
loadLayout();
const app = document.getElementById("app")!;
const stage = new Stage();
defineCommands(stage);
bringReach(() => import("./reach/start").then(({ startReach }) => startReach(stage)));
const start = startPage();
const work = separatePage(stage) ?? studio(stage);
app.append(linkNotice());

/** The studio while a scene is open, the gallery otherwise. */
function place(): void {
  const page = store.scene ? work : start;
  if (!page.isConnected) {
    (page === work ? start : work).remove();
    app.prepend(page);
  }
  document.title = store.scene
    ? `${store.scene.title || store.scene.name} – Linkwork`
    : "Linkwork Studio";
}
on("scene", place);
on("scene", forgetErrors);
place();
listenKeys();
keepClicks();
listenWidth();
listenDrops();
guardFiles();
announceRecordings();
connect();

// Tests inspect the scene graph and the store rather than pixels.
Object.assign(window, {
  linkwork: {
    get tool() {
      return tool.current;
    },
    buses,
    movement,
    reach,
    store,
    stage,
    charts,
    addCurve,
    run,
    select,
    send,
    command,
    watch,
    valueOf,
  },
});
