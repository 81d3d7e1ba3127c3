import { format, formatGap } from "../app/numbers";
import { paced } from "../app/throttle";
import { addCurve, charts } from "../charts/charts";
import { on } from "../app/topics";
import { reach } from "../app/reach";
import { isDriver, store } from "../app/store";
import { watchesOnly } from "../app/width";
import { h, setText } from "../ui/dom";

const lastChart = (): (typeof charts.list)[number] | undefined => charts.list.at(-1);

/** The state of the run, in one line. */
export function statusBar(): HTMLElement {
  const dot = h("span", { class: "dot" });
  const link = h("span", { role: "status" });
  const values = new Map<string, HTMLElement>();
  const item = (name: string, extra = ""): HTMLElement => {
    const value = h("b", {});
    values.set(name, value);
    return h("span", { class: `status-item ${extra}` }, `${name} `, value);
  };
  /** A value that a click charts. */
  const charted = (name: string, words: string, signals: string[]): HTMLElement => {
    const made = item(name);
    const button = h(
      "button",
      {
        type: "button",
        class: made.className,
        title: words,
        onclick: () =>
          signals.forEach((signal, i) => addCurve(signal, i ? lastChart() : undefined)),
      },
      ...made.childNodes,
    );
    return button;
  };
  const where = h("span", { class: "status-where" });
  const hint = h("span", { class: "status-hint" });
  const engine = h("b", {});
  const bar = h(
    "footer",
    { class: "status-bar", "aria-label": "Status" },
    h("span", { class: "status-link" }, dot, link),
    item("Time"),
    item("Step", "first-to-go"),
    item("Real time"),
    item("Lateness"),
    h("span", {}, charted("Largest gap", "Chart the largest gap", ["world.gap"]), where),
    charted("Energy", "Chart the energy", ["world.kinetic_energy", "world.potential_energy"]),
    h("span", { class: "spring" }),
    hint,
    h("span", { class: "status-item first-to-go" }, "Engine ", engine),
  );
  const draw = (): void => {
    const words = {
      open: "Connected",
      connecting: "Connecting",
      lost: store.linkText,
      refused: store.linkText,
    };
    setText(link, words[store.link]);
    const look = `dot ${store.link}`;
    if (dot.className !== look) dot.className = look;
    const status = store.status;
    const set = (name: string, text: string): void => setText(values.get(name)!, text);
    set("Time", status ? `${format(status.time, 3)} s` : "–");
    set(
      "Step",
      store.scene ? `${format(store.scene.step * 1000, store.scene.step < 1e-3 ? 2 : 0)} ms` : "–",
    );
    set("Real time", status ? `${format(status.rtf, 2)} ×` : "–");
    set("Lateness", status ? `${format(status.lateness * 1000, 1)} ms` : "–");
    set("Largest gap", status ? formatGap(status.gap) : "–");
    const at = status?.gap_at ?? "";
    setText(where, at ? ` at ${at.split("/").slice(-2).join("/")}` : "");
    if (where.title !== at) where.title = at;
    set("Energy", status ? `${format(status.energy, 2)} J` : "–");
    setText(engine, store.scene?.engines.join(", ") ?? "");
    setText(
      hint,
      store.scene?.replay
        ? `Recording ${store.scene.replay.name}, ${format(store.scene.replay.duration, 1)} s`
        : status?.seeking
          ? "You see the past. Play continues from here."
          : watchesOnly()
            ? "You watch. Widen the window to drive"
            : !isDriver()
              ? "You watch. Ask to drive in the top bar"
              : reach.setup
                ? "Drag the tool or any link, Ctrl-drag pulls"
                : "Left-drag turns a joint, Ctrl-drag pulls",
    );
  };
  on("status", paced(draw));
  on(["scene", "link", "people", "layout", "reach"], draw);
  draw();
  return bar;
}
