import { store } from "../app/store";
import { select } from "../app/selection";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";

/** The programs that set targets in this scene. */
export function programPanel(): HTMLElement {
  const panel = h("div", { class: "panel-body scroll", role: "tabpanel", "aria-label": "Program" });
  const draw = (): void => {
    const agents = store.scene?.agents ?? [];
    panel.replaceChildren(
      ...agents.map((agent) => {
        const owned = Object.values(store.owners).filter(
          (owner) => owner === agent.name || owner.endsWith(`/${agent.name}`),
        ).length;
        return h(
          "button",
          {
            type: "button",
            class: "program-row",
            onclick: () => select({ kind: "agent", name: agent.name }),
          },
          icon("agent"),
          h(
            "span",
            { class: "program-words" },
            h("b", {}, agent.name),
            h("code", {}, agent.file || agent.type),
          ),
          h("span", { class: "section-note" }, owned > 0 ? `drives ${owned}` : ""),
        );
      }),
    );
    if (agents.length === 0)
      panel.append(h("p", { class: "empty" }, "No program in this scene. You drive it by hand."));
  };
  on(["scene", "owners"], draw);
  draw();
  return panel;
}
