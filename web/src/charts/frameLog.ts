import { buses, busList, clearFrames, lookAt, stateOf, type LogLine } from "../app/buses";
import { layout } from "../app/layout";
import { command } from "../app/session";
import { on } from "../app/topics";
import { button, iconButton } from "../ui/button";
import { h, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { icon } from "../ui/icon";
import { searchField } from "../ui/searchField";
import { FrameInspector } from "./frameInspector";

/** Maximum number of rows in the table. */
const MOST_ROWS = 400;
const WAYS: [string, string][] = [
  ["", "All"],
  ["in", "In"],
  ["out", "Out"],
];

/** The bus log: decoded frames, with filter, pause and clear, and frames to send. */
export class FrameLog {
  readonly element: HTMLElement;
  readonly tools: HTMLElement;
  private readonly rows = h("tbody", {});
  private readonly scroll: HTMLElement;
  private readonly empty = h("p", { class: "empty" });
  private readonly note = h("span", { class: "frame-note", role: "status" });
  private readonly load = h("span", { class: "load-fill" });
  private readonly loadWords = h("span", { class: "frame-note" });
  private readonly loadBox: HTMLElement;
  private readonly bus = h("select", { "aria-label": "Bus of the log" });
  private readonly sender: HTMLElement;
  private words: string[] = [];
  private way = "";
  private paused = false;
  private shown = false;
  private last: LogLine | null = null;
  private selected: LogLine | null = null;
  private readonly inspector = new FrameInspector(() => this.select(null));

  constructor() {
    const head = ["time, s", "way", "id", "len", "data", "meaning"];
    const table = h(
      "table",
      { class: "frame-table", "aria-label": "Frames" },
      h("thead", {}, h("tr", {}, ...head.map((word) => h("th", { scope: "col" }, word)))),
      this.rows,
    );
    this.scroll = h(
      "div",
      {
        class: "frame-scroll",
        tabindex: "0",
        role: "group",
        "aria-label": "Bus log: up and down choose a frame",
        onkeydown: (event: KeyboardEvent) => this.key(event),
        onclick: (event: MouseEvent) => {
          const line = lines.get((event.target as HTMLElement).closest("tr")!);
          if (line) this.select(line);
        },
      },
      table,
      this.empty,
    );
    this.loadBox = h(
      "span",
      { class: "frame-load", title: "Load of the bus" },
      h("span", { class: "load-bar" }, this.load),
      this.loadWords,
    );
    this.sender = sendField(() => this.bus.value || busList()[0]?.name || "");
    this.element = h(
      "div",
      { class: "frame-log", hidden: true },
      h("div", { class: "frame-split" }, this.scroll, this.inspector.element),
      this.sender,
    );
    this.bus.addEventListener("change", () => this.rebuild());
    const pause = iconButton("pause", "Pause the log", () => {
      this.paused = !this.paused;
      pause.replaceChildren(icon(this.paused ? "play" : "pause"));
      pause.setAttribute("aria-label", this.paused ? "Resume the log" : "Pause the log");
      pause.setAttribute("aria-pressed", String(this.paused));
      if (!this.paused) this.rebuild();
    });
    const search = searchField("Filter by id or text", (typed) => {
      this.words = typed.toLowerCase().split(/\s+/).filter(Boolean);
      this.rebuild();
    });
    search.querySelector("kbd")?.remove();
    this.tools = h(
      "span",
      { class: "dock-tools frame-tools" },
      this.note,
      this.loadBox,
      h("div", { class: "input-box plain" }, this.bus),
      this.directionFilter(),
      search,
      pause,
      iconButton("clear", "Clear the log", clearFrames),
    );
    on("frames", () => this.add());
    on("ports", () => this.drawLoad());
    on("scene", () => (this.begin(), this.inspector.show(this.selected)));
    this.begin();
  }

  /** Inspects a frame, or none. */
  private select(line: LogLine | null): void {
    this.selected = line;
    this.rows.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const found = this.rowOf(line);
    found?.setAttribute("aria-current", "true");
    this.inspector.show(line);
    found?.scrollIntoView({ block: "nearest" });
    if (!line) this.scroll.focus();
  }

  private rowOf(line: LogLine | null): HTMLElement | null {
    if (!line) return null;
    const all = [...this.rows.children] as HTMLElement[];
    return all.find((each) => lines.get(each) === line) ?? null;
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape" && this.selected) {
      event.stopPropagation();
      return this.select(null);
    }
    const all = [...this.rows.children] as HTMLElement[];
    const at = all.findIndex((each) => lines.get(each) === this.selected);
    const end = all.length - 1;
    const next = { ArrowUp: at < 0 ? end : at - 1, ArrowDown: at + 1, Home: 0, End: end }[
      event.key
    ];
    if (next === undefined || end < 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.select(lines.get(all[Math.min(Math.max(next, 0), end)]!) ?? null);
  }

  private directionFilter(): HTMLElement {
    const made = WAYS.map(([way, label]) =>
      h(
        "button",
        {
          type: "button",
          class: "segment",
          "aria-pressed": String(way === this.way),
          onclick: () => {
            this.way = way;
            made.forEach((b, i) => b.setAttribute("aria-pressed", String(WAYS[i]![0] === way)));
            this.rebuild();
          },
        },
        label,
      ),
    );
    return h("div", { class: "segments small", role: "group", "aria-label": "Direction" }, ...made);
  }

  /** Shows or hides the log; nothing is sent while it is hidden. */
  show(shown: boolean): void {
    this.element.hidden = !shown;
    this.tools.hidden = !shown;
    this.shown = shown;
    const looks = shown && busList().length > 0;
    lookAt("frames", "frame log", looks);
    lookAt("ports", "frame log", looks);
    if (shown) this.rebuild();
  }

  private begin(): void {
    const list = busList();
    const chosen = this.bus.value;
    this.bus.replaceChildren(
      ...(list.length > 1 ? [h("option", { value: "" }, "All buses")] : []),
      ...list.map((bus) =>
        h("option", { value: bus.name, selected: bus.name === chosen }, bus.name),
      ),
    );
    this.bus.hidden = list.length === 0;
    this.sender.hidden = !list.some((bus) => bus.orders.includes("send"));
    this.show(this.shown && layout.dock);
  }

  private fits(line: LogLine): boolean {
    if (this.bus.value && line.bus !== this.bus.value) return false;
    if (this.way && line.way !== this.way) return false;
    // As identifiers are written in the log, and in the ports.
    const short = line.address.replace(/^0+(?=.)/, "");
    const all =
      `${line.address} 0x${line.address} 0x${short} ${line.data} ${line.text}`.toLowerCase();
    return this.words.every((word) => all.includes(word));
  }

  private rebuild(): void {
    this.last = buses.lines.at(-1) ?? null;
    const wanted = buses.lines.filter((line) => this.fits(line)).slice(-MOST_ROWS);
    this.rows.replaceChildren(...wanted.map(row));
    this.rowOf(this.selected)?.setAttribute("aria-current", "true");
    this.scroll.scrollTop = this.scroll.scrollHeight;
    this.drawNote();
  }

  private add(): void {
    if (!this.shown) return;
    this.drawNote();
    if (this.paused && buses.lines.length > 0) return;
    const at = this.last === null ? -1 : buses.lines.lastIndexOf(this.last);
    if (at < 0) return this.rebuild();
    const fresh = buses.lines.slice(at + 1).filter((line) => this.fits(line));
    this.last = buses.lines.at(-1) ?? null;
    // Follows the log only if it is scrolled to the end.
    const end = this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < 40;
    this.rows.append(...fresh.map(row));
    while (this.rows.childElementCount > MOST_ROWS) this.rows.firstElementChild?.remove();
    if (end) this.scroll.scrollTop = this.scroll.scrollHeight;
    this.drawNote();
  }

  private drawNote(): void {
    const some = this.rows.childElementCount > 0;
    this.empty.hidden = some;
    setText(
      this.empty,
      busList().length === 0
        ? "This scene has no buses. A [[bus]] in its file lets other software command its joints."
        : buses.lines.length > 0
          ? "No frame fits the filter."
          : "No frames yet. Let time run, or connect a program; the Ports panel says where.",
    );
    setText(this.note, buses.skipped > 0 ? `${buses.skipped} not shown` : "");
  }

  private drawLoad(): void {
    if (!this.shown) return;
    const name = this.bus.value || busList()[0]?.name || "";
    const share = stateOf(name)?.counters["load"];
    this.loadBox.hidden = share === undefined;
    if (share === undefined) return;
    this.load.style.width = `${Math.min(100, 100 * share)}%`;
    this.load.classList.toggle("warn", share > 0.8);
    setText(this.loadWords, `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);
  }
}

/** Columns of the table. */
const lines = new WeakMap<Element, LogLine>();

function row(line: LogLine): HTMLElement {
  const state = line.mark ? "affected" : line.kind === "error" ? "broken" : "";
  const bytes = line.data === "" ? 0 : line.data.split(" ").length;
  const data = h("code", {}, line.data.toUpperCase());
  const made = h(
    "tr",
    { class: `${state} ${line.mark === "dropped" ? "lost" : ""}`, title: line.bus },
    h("td", { class: "number" }, line.time.toFixed(4)),
    h("td", {}, line.kind === "note" ? "note" : line.way),
    h("td", {}, h("code", {}, line.address)),
    h("td", { class: "number" }, line.kind === "note" ? "" : String(bytes)),
    h("td", {}, data),
    h("td", { class: "frame-text", title: line.text }, line.text),
  );
  lines.set(made, line);
  return made;
}

/** Sends a frame on the bus, in candump notation. */
function sendField(bus: () => string): HTMLElement {
  const input = h("input", {
    type: "text",
    "aria-label": "Frame to send",
    placeholder: "201#FF0F",
    spellcheck: "false",
  });
  const go = (): void => {
    const frame = input.value.trim();
    if (frame) command({ type: "order", bus: bus(), name: "send", args: { frame } });
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go();
  });
  return h(
    "div",
    { class: "frame-send" },
    driving(
      h("span", {}, "Send a frame"),
      h("div", { class: "input-box" }, input),
      button("Send", go, "raised"),
      h("span", { class: "frame-note" }, "identifier#bytes, in hexadecimal"),
    ),
  );
}
