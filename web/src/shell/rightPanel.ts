import { arrange, layout } from "../app/layout";
import { buses } from "../app/buses";
import { store } from "../app/store";
import { on } from "../app/topics";
import { agentInputs } from "../panels/agentInputs";
import { attributePanel } from "../panels/attributePanel";
import { cameraPicture } from "../panels/cameraPicture";
import { faultPanel } from "../panels/faultPanel";
import { jointTable } from "../panels/jointTable";
import { liveSignals } from "../panels/liveSignals";
import { messagePanel } from "../panels/messagePanel";
import { programPanel } from "../panels/programPanel";
import { h } from "../ui/dom";
import { tabs } from "../ui/tabs";

/** Attributes, program, messages. */
export function rightPanel(): HTMLElement {
  const strip = tabs(
    "Right panel",
    ["Attributes", "Program", "Messages", "Faults"],
    layout.right,
    (right) => arrange({ right }),
  );
  const panels: Record<string, HTMLElement> = {
    Attributes: h(
      "div",
      { class: "panel-body scroll", role: "tabpanel", "aria-label": "Attributes" },
      attributePanel(),
      cameraPicture(),
      jointTable(),
      agentInputs(),
      liveSignals(),
    ),
    Program: programPanel(),
    Messages: messagePanel(),
    Faults: faultPanel(),
  };
  const draw = (): void => {
    strip.choose(layout.right);
    for (const [name, panel] of Object.entries(panels)) panel.hidden = name !== layout.right;
  };
  const count = (): void => {
    const serious = store.notes.filter((n) => n.level === "error" || n.level === "warning").length;
    const errors = store.notes.some((n) => n.level === "error");
    strip.count("Messages", serious + store.findings.length, errors);
  };
  const faults = (): void => {
    const known = buses.ports?.faults.filter((fault) => fault.active).length ?? 0;
    const wire = (buses.ports?.buses ?? []).flatMap((bus) => bus.faults);
    strip.count("Faults", known + wire.filter((fault) => fault.name === "").length);
  };
  on(["ports", "scene"], faults);
  on("layout", draw);
  on(["messages", "scene"], count);
  draw();
  count();
  return h(
    "aside",
    { class: "right", role: "complementary", "aria-label": "Attributes" },
    strip.element,
    ...Object.values(panels),
  );
}
