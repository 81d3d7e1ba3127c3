import { arrange, layout } from "../app/layout";
import { on } from "../app/topics";
import { portPanel } from "../panels/portPanel";
import { SceneTree } from "../tree/sceneTree";
import { showPanel } from "../tree/showMenu";
import { h } from "../ui/dom";
import { searchField } from "../ui/searchField";
import { tabs } from "../ui/tabs";
import { kitPanel } from "./kitPanel";
import { reachTab } from "./reachTab";

/** Scene tree with search, the kit, and the display options of the views. */
export function leftPanel(): HTMLElement {
  const tree = new SceneTree();
  const strip = tabs("Left panel", ["Scene", "Kit", "Ports", "Reach"], layout.left, (left) =>
    arrange({ left }),
  );
  const search = searchField("Search by name or signal", (typed) => tree.search(typed));
  const scene = h(
    "div",
    { class: "panel-body", role: "tabpanel", "aria-label": "Scene" },
    search,
    h("div", { class: "tree-scroll" }, tree.element, tree.count),
    showPanel(),
  );
  const kit = kitPanel();
  const ports = portPanel();
  const reach = reachTab();
  const draw = (): void => {
    strip.choose(layout.left);
    scene.hidden = layout.left !== "Scene";
    kit.hidden = layout.left !== "Kit";
    ports.hidden = layout.left !== "Ports";
    reach.hidden = layout.left !== "Reach";
  };
  on("layout", draw);
  draw();
  return h(
    "nav",
    { class: "left", role: "navigation", "aria-label": "Scene" },
    strip.element,
    scene,
    kit,
    ports,
    reach,
  );
}
