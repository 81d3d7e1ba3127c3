import { format } from "../app/numbers";
import { command } from "../app/session";
import { store } from "../app/store";
import { h } from "../ui/dom";
import { marksShown } from "./marks";

/** The lane above the timeline: marks and what went wrong, each a way to get there. */
export class Lane {
  readonly element = h("div", { class: "time-lane", role: "group", "aria-label": "Marks" });
  private shown = "";

  /** Draws the marks; the line spans so many seconds. */
  draw(span: number): void {
    const marks = marksShown();
    const state = `${span} ${marks.map((m) => `${m.time} ${m.text}`).join("|")}`;
    if (state === this.shown) return;
    this.shown = state;
    this.element.replaceChildren(
      ...marks.map((mark) => {
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
        flag.style.left = `${Math.min(100, (100 * mark.time) / span)}%`;
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
