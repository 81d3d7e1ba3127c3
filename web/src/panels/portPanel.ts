import type { BusView, PortView } from "../protocol/messages";
import { buses, busList, lookAt, columnsOf, stateOf, STATES } from "../app/buses";
import { layout } from "../app/layout";
import { formatSI } from "../app/numbers";
import { store } from "../app/store";
import { on } from "../app/topics";
import { addCurve } from "../charts/charts";
import { iconButton } from "../ui/button";
import { h, setText } from "../ui/dom";
import { icon } from "../ui/icon";
import { toast } from "../ui/toast";
import { portRows, type Live } from "./portRow";

/** The buses with their state and their ports: values, codes, owners. */
export function portPanel(): HTMLElement {
  const body = h("div", { class: "tree-scroll" });
  const panel = h("div", { class: "panel-body", role: "tabpanel", "aria-label": "Ports" }, body);
  let live: Live[] = [];
  let built: BusView[] | null = null;
  const build = (): void => {
    const list = busList();
    if (list === built) return;
    built = list;
    const columns = columnsOf(list);
    live = [];
    if (list.length === 0) {
      body.replaceChildren(
        h(
          "p",
          { class: "empty" },
          "This scene has no buses. A [[bus]] in its file lets other software command its joints.",
        ),
      );
      return;
    }
    const note = store.scene?.replay
      ? [h("p", { class: "empty" }, "A recording: its ports are signals that charts can show.")]
      : [];
    body.replaceChildren(...note, ...list.map((bus) => busBox(bus, columns, live)));
  };
  const draw = (): void => {
    if (panel.hidden || !buses.ports) return;
    live.forEach((each) => each());
  };
  const look = (): void => {
    lookAt("ports", "ports panel", layout.left === "Ports" && busList().length > 0);
    draw();
  };
  on("scene", () => (build(), look()));
  on("layout", look);
  on(["ports", "units", "selection"], draw);
  build();
  return panel;
}

function busBox(bus: BusView, columns: Map<string, number>, live: Live[]): HTMLElement {
  const state = h("span", { class: "bus-state" });
  const facts = h("dl", { class: "bus-facts" });
  const endpoints = h("div", { class: "bus-endpoints" });
  const fact = factList(facts, bus);
  let shown = "";
  live.push(() => {
    const now = stateOf(bus.name);
    if (!now) return;
    setText(state, now.faults.length > 0 ? faultWords(now.faults.length) : STATES[now.state]);
    state.className = `bus-state ${now.faults.length > 0 ? "fault" : now.state}`;
    fact();
    const words = [now.problem, ...now.endpoints].join("\n");
    if (words === shown) return;
    shown = words;
    endpoints.replaceChildren(
      ...(now.problem ? [h("p", { class: "bus-problem" }, now.problem)] : []),
      ...now.endpoints.map(endpointRow),
    );
  });
  const groups = [...new Set(bus.ports.map((port) => port.group))].sort();
  return h(
    "section",
    { class: "bus-box", "aria-label": `Bus ${bus.name}` },
    h(
      "div",
      { class: "bus-head" },
      icon("bus"),
      h("div", {}, h("h3", {}, bus.name), h("p", {}, bus.about)),
      state,
    ),
    facts,
    endpoints,
    ...groups.flatMap((group) => groupRows(bus, group, columns, live)),
    bus.ports.length === 0 &&
      h("p", { class: "empty" }, "No port yet. Select a joint and bind it to this bus."),
  );
}

const faultWords = (count: number): string => (count === 1 ? "1 fault" : `${count} faults`);

/** One endpoint; a click copies its address. */
function endpointRow(endpoint: string): HTMLElement {
  const [words, address] = [
    endpoint.replace(/^[^:]*: /, "").replace(" on ", " "),
    endpoint.split(" ").at(-1) ?? endpoint,
  ];
  const copy = (): void => {
    navigator.clipboard
      ?.writeText(address)
      .then(() => toast({ level: "info", text: `Copied ${address}.` }))
      .catch(() => toast({ level: "warning", text: `The browser could not copy: ${address}` }));
  };
  return h(
    "div",
    { class: "endpoint-row" },
    h("code", { title: endpoint }, words),
    iconButton("copy", `Copy ${address}`, copy),
  );
}

/** State of a bus; numbers that can be charted are buttons. */
function factList(list: HTMLElement, bus: BusView): () => void {
  const load = h("span", { class: "load-fill" });
  const made = new Map<string, HTMLElement>();
  const add = (name: string, signal: string | null, ...before: Node[]): void => {
    const value = h("span", {});
    const term = h("dt", {}, name);
    made.set(name, value);
    const chart =
      signal && iconButton("chart", `Chart ${signal}`, () => addCurve(signal), "quiet small");
    list.append(term, h("dd", {}, ...before, value, chart));
  };
  if (bus.kind === "can") {
    add("Load", `${bus.name}.load`, h("span", { class: "load-bar" }, load));
    add("Frames", `${bus.name}.frames`);
    add("Errors", `${bus.name}.errors`);
  }
  add("Clients", `${bus.name}.clients`);
  add("Last input", `${bus.name}.age`);
  add("Deadline", null);
  add("Misses", `${bus.name}.misses`);
  add("Refused", `${bus.name}.refused`);
  add("Invalid", `${bus.name}.invalid`);
  add("Process", `${bus.name}.restarts`);
  const set = (name: string, words: string, bad = false): void => {
    const value = made.get(name);
    if (!value) return;
    setText(value, words);
    value.classList.toggle("warn", bad);
  };
  return () => {
    const now = stateOf(bus.name);
    if (!now) return;
    const share = now.counters["load"] ?? 0;
    load.style.width = `${Math.min(100, 100 * share)}%`;
    load.classList.toggle("warn", share > 0.8);
    set("Load", `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);
    set("Frames", count(now.counters["frames"] ?? 0));
    const errors = now.counters["errors"] ?? 0;
    set("Errors", count(errors), errors > 0);
    set("Clients", String(now.clients));
    const again = now.restarts > 0 ? `, restarted ${now.restarts}×` : "";
    set("Process", `${now.pid ? `pid ${now.pid}` : "none"}${again}`, now.restarts > 0);
    set("Last input", now.age === null ? "none yet" : `${formatSI(now.age, "s")} ago`);
    const limit = `${Math.round(1000 * bus.deadline)} ms, then ${bus.on_loss}`;
    set("Deadline", bus.deadline > 0 ? limit : "none");
    set("Misses", count(now.missed_deadlines), now.missed_deadlines > 0);
    set("Refused", count(now.refused), now.refused > 0);
    const invalid = now.counters["invalid"] ?? 0;
    set("Invalid", count(invalid), invalid > 0);
  };
}

/** A whole number with thin gaps between thousands. */
function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
}

function groupRows(
  bus: BusView,
  group: string,
  columns: Map<string, number>,
  live: Live[],
): HTMLElement[] {
  const ports = bus.ports.filter((port: PortView) => port.group === group);
  const rows = ports.flatMap((port) => portRows(bus, port, columns, live));
  if (!group) return rows;
  const content = h("div", { class: "port-group-body" }, ...rows);
  const head: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "port-group section-head",
      "aria-expanded": "true",
      onclick: () => {
        content.hidden = !content.hidden;
        head.setAttribute("aria-expanded", String(!content.hidden));
      },
    },
    icon("down", 12),
    h("span", {}, group.split("/").join(" / ")),
    h("span", { class: "section-note" }, String(ports.length)),
  );
  return [head, content];
}
