import { store } from "../app/store";
import { on } from "../app/topics";
import { chartDock } from "../charts/dock";
import { layout } from "../app/layout";
import { splitter } from "../shell/splitter";
import { themeButton } from "../shell/topBar";
import { transport } from "../transport/transport";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { attachPointer } from "../views/pointer";
import type { Stage } from "../views/stage";
import type { RecordingData } from "./recordingData";

/** The page of one recording: views, charts, time. */
export function page(stage: Stage, film: RecordingData): HTMLElement {
  stage.views.forEach((view) => attachPointer(stage, view));
  const replay = film.worlds[0]?.scene.replay;
  const made = replay ? new Date(replay.created) : null;
  const when = made && !Number.isNaN(made.getTime()) ? made.toLocaleString() : "";
  const root = h(
    "div",
    { class: "player" },
    h(
      "header",
      { class: "top-bar", role: "banner" },
      h("span", { class: "logo" }, icon("logo", 20)),
      h("strong", {}, replay?.name ?? "Recording"),
      h("span", { class: "file-kind" }, `recording of ${film.worlds[0]?.scene.name ?? ""}`),
      Boolean(replay?.problem) &&
        h("span", { class: "player-problem", role: "status" }, replay!.problem),
      h("span", { class: "spring" }),
      h("span", { class: "file-kind" }, [when, `Linkwork ${film.version}`].join("  ")),
      themeButton(),
    ),
    h(
      "main",
      { class: "middle", role: "main", "aria-label": "Views" },
      stage.element,
      splitter("dock"),
      chartDock(),
    ),
    transport(),
  );
  const arrange = (): void => {
    root.style.setProperty("--dock", `${layout.dockHeight}px`);
    root.classList.toggle("docked", layout.dock);
  };
  on("layout", arrange);
  on("scene", () => {
    document.title = `${store.scene?.replay?.name ?? "Recording"} – Linkwork`;
  });
  arrange();
  return root;
}
