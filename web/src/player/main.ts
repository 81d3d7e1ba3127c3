import "../styles/tokens.css";
import "../styles/controls.css";
import "../styles/shell.css";
import "../styles/panels.css";
import "../styles/views.css";
import "../styles/floats.css";
import "./player.css";
import { listenKeys } from "../app/keys";
import { layout } from "../app/layout";
import { answerHere } from "../app/session";
import { valueOf } from "../app/signals";
import { store } from "../app/store";
import { loadTheme } from "../app/theme";
import { addCurve } from "../charts/charts";
import { atHand } from "../views/blobs";
import { Stage } from "../views/stage";
import { h } from "../ui/dom";
import { readFilm } from "./recordingData";
import { page } from "./page";
import { Player } from "./player";
import { definePlayerCommands } from "./playerCommands";

async function start(app: HTMLElement): Promise<void> {
  const text = document.getElementById("film")?.textContent;
  if (!text) throw new Error("This page holds no recording.");
  const film = await readFilm(text);
  film.meshes.forEach((data, name) => atHand.set(name, data));
  const player = new Player(film);
  answerHere(player.answer);
  store.you = store.people.driver = "reader"; // there are no other clients
  Object.assign(layout, { four: false, active: "perspective", dock: true, stereo: "none" });
  const stage = new Stage();
  definePlayerCommands(stage);
  app.append(page(stage, film));
  player.show(player.first);
  for (const name of film.charts) addCurve(name);
  listenKeys();
  // Tests inspect the scene graph and the store rather than pixels.
  Object.assign(window, { linkwork: { store, stage, player, valueOf } });
}

loadTheme();
const app = document.getElementById("app")!;
start(app).catch((error: Error) =>
  app.append(h("p", { class: "empty", role: "alert" }, `This page is damaged: ${error.message}`)),
);
