import { layout } from "../app/layout";
import { reach } from "../app/reach";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";

/** The panel for dragging a tool; its code is loaded on demand. */
export function reachTab(): HTMLElement {
  const panel = h("div", {
    class: "panel-body scroll",
    role: "tabpanel",
    "aria-label": "Reach",
  });
  let asked = false;
  const look = (): void => {
    if (asked || layout.left !== "Reach" || !store.scene) return;
    asked = true;
    import("../reach/reachPanel")
      .then(({ reachPanel, begin }) => {
        panel.append(reachPanel());
        if (isDriver() && !reach.setup && !store.scene?.replay) begin();
      })
      .catch(() => {
        asked = false;
        panel.replaceChildren(h("p", { class: "empty" }, "This panel could not be loaded."));
      });
  };
  on(["layout", "scene"], look);
  look();
  return panel;
}
