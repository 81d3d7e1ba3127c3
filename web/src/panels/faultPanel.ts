import type { FaultState, RunningFault } from "../protocol/messages";
import { buses, busList, lookAt } from "../app/buses";
import { layout } from "../app/layout";
import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button, iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { driving } from "../ui/driving";
import { faultForm } from "./faultForm";
import { section } from "./section";

/** The scene's faults and the active ones, and a form for new ones. */
export function faultPanel(): HTMLElement {
  const list = h("div", { class: "fault-list", role: "list", "aria-label": "Faults" });
  const empty = h("p", { class: "empty" });
  const form = faultForm();
  const fresh = section("New fault", null, form.element);
  const stop = button("Stop all", stopAll, "raised");
  const restart = button("Restart nodes", restartNodes, "bare");
  restart.title = "Brings nodes back that have left a bus";
  const tools = h("div", { class: "fault-tools" }, stop, restart);
  const panel = h(
    "div",
    { class: "panel-body scroll", role: "tabpanel", "aria-label": "Faults" },
    driving(list, empty, tools, fresh),
  );
  let drawn = "";
  const tallies = new Map<string, number>();
  const draw = (): void => {
    const faults = shownFaults();
    const wire = (buses.ports?.buses ?? []).flatMap((bus) =>
      bus.faults.map((fault) => ({ ...fault, bus: bus.name })),
    );
    for (const each of wire) tallies.set(each.name, each.hits);
    const words = JSON.stringify([faults, wire]);
    if (words === drawn) return;
    drawn = words;
    const named = new Set(faults.map((fault) => fault.name));
    list.replaceChildren(
      ...faults.map((fault) =>
        card(
          fault,
          wire.filter((each) => each.name === fault.name),
          tallies.get(fault.name),
        ),
      ),
      ...wire.filter((each) => !named.has(each.name)).map(wireCard),
    );
    empty.hidden = list.childElementCount > 0;
    tools.hidden = list.childElementCount === 0;
  };
  const build = (): void => {
    form.fill();
    fresh.hidden = Boolean(store.scene?.replay);
    restart.hidden = !busList().some((bus) => bus.orders.includes("restart"));
    empty.textContent = store.scene?.replay
      ? "Faults are part of a recording. Go on from here to inject others."
      : "No fault is active. Choose one below, or write [[fault]] in the scene's file.";
    drawn = "";
    tallies.clear();
    draw();
  };
  const look = (): void =>
    lookAt("ports", "fault panel", layout.right === "Faults" && store.scene !== null);
  on("scene", () => (build(), look()));
  on("layout", look);
  on("ports", () => {
    if (!panel.hidden) draw();
  });
  build();
  return panel;
}

/** The scene's own faults and injected ones: active, waiting, or over with their effect. */
function shownFaults(): FaultState[] {
  return (buses.ports?.faults ?? []).filter(
    (each) => each.from_scene || each.active || each.pending || each.count > 0,
  );
}

function stopAll(): void {
  command({ type: "fault", on: false });
  for (const bus of busList())
    if (bus.orders.includes("clear"))
      command({ type: "order", bus: bus.name, name: "clear", args: {} });
}

function restartNodes(): void {
  for (const bus of busList())
    if (bus.orders.includes("restart"))
      command({ type: "order", bus: bus.name, name: "restart", args: {} });
}

const affectedText = (hits: number): string =>
  hits === 1 ? "1 frame affected" : `${hits} frames affected`;

function card(fault: FaultState, wire: RunningFault[], before = 0): HTMLElement {
  const rest = fault.from_scene ? "off" : "over";
  const state = fault.active ? "active" : fault.pending ? "pending" : rest;
  const tally = wire.length === 0 && before > 0 ? [`${affectedText(before)} the last time`] : [];
  const hits = [...wire.map((each) => affectedText(each.hits)), ...tally];
  const turn = (on: boolean): void => void command({ type: "fault", name: fault.name, on });
  return h(
    "div",
    {
      class: `fault-card ${fault.active ? "active" : ""}`,
      role: "listitem",
      "aria-label": `Fault ${fault.name}`,
    },
    h("span", { class: "fault-dot", role: "img", "aria-label": state }),
    h(
      "div",
      {},
      h("b", {}, fault.name),
      h("p", {}, [fault.kind.replace("_", " "), fault.about].filter(Boolean).join(" ")),
      h("p", { class: fault.active ? "warn" : "" }, [state, fault.when].join(", ")),
      ...hits.map((words) => h("p", { class: fault.active ? "warn" : "" }, words)),
    ),
    fault.active || fault.pending
      ? iconButton("close", `End fault ${fault.name}`, () => turn(false))
      : iconButton("play", `Begin fault ${fault.name}`, () => turn(true)),
  );
}

/** A fault that was sent directly to a bus. */
function wireCard(fault: RunningFault & { bus: string }): HTMLElement {
  const end = (): void =>
    void command({
      type: "order",
      bus: fault.bus,
      name: "clear",
      args: { number: fault.number },
    });
  return h(
    "div",
    { class: "fault-card active", role: "listitem", "aria-label": `Fault ${fault.number}` },
    h("span", { class: "fault-dot", role: "img", "aria-label": "active" }),
    h(
      "div",
      {},
      h("b", {}, fault.text),
      h("p", {}, fault.bus),
      h("p", { class: "warn" }, affectedText(fault.hits)),
    ),
    iconButton("close", `End fault ${fault.number}`, end),
  );
}
