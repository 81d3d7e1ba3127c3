import { chartDock } from "../charts/dock";
import { layout } from "../app/layout";
import { on } from "../app/topics";
import { hasDrawer, watchesOnly } from "../app/width";
import { transport } from "../transport/transport";
import { h } from "../ui/dom";
import { attachPointer } from "../views/pointer";
import type { Stage } from "../views/stage";
import { damageBanner } from "./damageBanner";
import { leftPanel } from "./leftPanel";
import { rightPanel } from "./rightPanel";
import { servoBanner } from "./servoBanner";
import { splitter } from "./splitter";
import { statusBar } from "./statusBar";
import { summarise } from "./summary";
import { topBar } from "./topBar";
import { trustBanner } from "./trustBanner";

/** The studio: all regions around the views. */
export function studio(stage: Stage): HTMLElement {
  stage.views.forEach((view) => attachPointer(stage, view));
  summarise(stage);
  const page = h(
    "div",
    { class: "studio" },
    topBar(),
    leftPanel(),
    h(
      "main",
      { class: "middle", role: "main", "aria-label": "Views" },
      trustBanner(),
      servoBanner(),
      damageBanner(),
      stage.element,
      splitter("dock"),
      chartDock(),
    ),
    rightPanel(),
    transport(),
    statusBar(),
    splitter("left"),
    splitter("right"),
  );
  const arrange = (): void => {
    page.style.setProperty(
      "--left",
      `${layout.left === "Kit" ? Math.max(288, layout.leftWidth) : layout.leftWidth}px`,
    );
    page.style.setProperty("--right", `${layout.rightWidth}px`);
    page.style.setProperty("--dock", `${layout.dockHeight}px`);
    page.classList.toggle("docked", layout.dock);
    page.classList.toggle("drawer", layout.drawer && hasDrawer());
    page.classList.toggle("watching", watchesOnly());
  };
  on("layout", arrange);
  arrange();
  return page;
}
