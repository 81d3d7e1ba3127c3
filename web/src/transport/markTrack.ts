import { format } from "../app/numbers";
import { command } from "../app/session";
import { store } from "../app/store";
import { h } from "../ui/dom";
import { marksShown } from "./marks";
import type { Span } from "./timeline";

/** The lane above the timeline: marks and errors; a click goes there. */
export class MarkTrack {
  readonly element = h("div", { class: "time-lane", role: "group", "aria-label": "Marks" });
  private shown = "";

  /** Draws the marks within the displayed range. */
  draw({ start, length }: Span): void {
    const marks = marksShown().filter(({ time }) => time >= start && time <= start + length);
    const state = `${start} ${length} ${marks.map((m) => `${m.time} ${m.text}`).join("|")}`;
    if (state === this.shown) return;
    this.shown = state;
    const order = [...marks].sort((a, b) => a.time - b.time);
    const place = (time: number): number => (100 * (time - start)) / length;
    this.element.replaceChildren(
      ...order.map((mark, i) => {
        const words = `${mark.text}, ${format(mark.time, 2)} s`;
        const flag = h(
          "button",
          {
            type: "button",
            class: `time-flag ${mark.level}`,
            title: words,
            "aria-label": `Go to ${words}`,
            onclick: () => goTo(mark.time),
          },
          h("span", {}, mark.text),
        );
        const at = place(mark.time);
        flag.style.left = `${at}%`;
        // Its text ends where the next one begins.
        const next = order[i + 1];
        flag.style.setProperty("--room", `${(next ? place(next.time) : 100) - at}%`);
        return flag;
      }),
    );
    this.element.hidden = marks.length === 0;
  }
}

function goTo(time: number): void {
  const history = store.status?.history;
  if (!history) return;
  command({ type: "seek", time: Math.min(history[1], Math.max(history[0], time)) });
}
