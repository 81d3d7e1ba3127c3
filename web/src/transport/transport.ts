import { run } from "../app/commands";
import { command } from "../app/session";
import { format } from "../app/numbers";
import { paced } from "../app/throttle";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button, iconButton } from "../ui/button";
import { driving } from "../ui/driving";
import { h, setHidden, setText } from "../ui/dom";
import { icon } from "../ui/icon";
import { marksShown } from "./marks";
import { replayControls } from "./replayControls";
import { SPEEDS } from "./speeds";
import { Timeline } from "./timeline";

/** Reset, back, play, step, record, speed, clock and timeline. */
export function transport(): HTMLElement {
  const play = iconButton("play", "Play (Space)", () => run("play"), "play");
  const record = iconButton("record", "Record", () => run("record"), "record");
  const clock = h("span", {}, "0.000");
  const speed = h(
    "select",
    {
      "aria-label": "Speed",
      onchange: () => command({ type: "speed", value: Number(speed.value) }),
    },
    ...SPEEDS.map((value) =>
      h(
        "option",
        { value: String(value), selected: value === 1 },
        value === 0 ? "fastest" : `${value} ×`,
      ),
    ),
  );
  const timeline = new Timeline();
  const words = h("span", { class: "history-words" });
  const now = button("Back to now", () => run("live"));
  now.classList.add("now");
  let shown = "";
  const draw = (): void => {
    const status = store.status;
    const running = status?.running ?? false;
    const state = `${running}${status?.recording ?? ""}`;
    if (state !== shown) {
      shown = state;
      play.replaceChildren(icon(running ? "pause" : "play"));
      play.setAttribute("aria-label", running ? "Pause (Space)" : "Play (Space)");
      play.title = running ? "Pause (Space)" : "Play (Space)";
      record.setAttribute("aria-pressed", String(Boolean(status?.recording)));
      record.title = status?.recording ? `Stop recording ${status.recording}` : "Record";
      record.setAttribute("aria-label", status?.recording ? "Stop recording" : "Record");
    }
    record.hidden = Boolean(store.scene?.replay);
    bar.classList.toggle("lanes", record.hidden || marksShown().length > 0);
    if (status && document.activeElement !== speed) {
      const value = String(status.speed);
      if (![...speed.options].some((o) => o.value === value))
        speed.append(h("option", { value }, `${value} ×`));
      speed.value = value;
    }
    const replay = Boolean(store.scene?.replay);
    setHidden(now, replay || !status?.seeking);
    setHidden(words, replay || Boolean(status?.seeking));
    const history = status?.history;
    setText(
      words,
      status?.recording
        ? "recording"
        : history && history[1] > history[0]
          ? `history ${format(history[1] - history[0], 0)} s`
          : running
            ? "running"
            : "stopped",
    );
  };
  const tick = (): void => {
    const time = store.poses ? store.poseTime : (store.status?.time ?? 0);
    setText(clock, format(time, 3));
    timeline.draw(time);
  };
  const soon = paced(tick);
  on(["status", "scene"], () => {
    draw();
    if (store.status?.running) soon();
    else tick();
  });
  on("poses", soon);
  const bar = h(
    "div",
    { class: "transport", role: "toolbar", "aria-label": "Transport" },
    driving(
      iconButton("reset", "Reset (Backspace)", () => run("reset")),
      iconButton("back", "Step back (←)", () => run("back")),
      play,
      iconButton("forward", "Step (→)", () => run("step")),
      record,
      h("span", { class: "divider" }),
      h("div", { class: "input-box speed" }, speed),
    ),
    h(
      "div",
      { class: "clock", "aria-label": "Simulated time" },
      clock,
      h("span", { class: "unit" }, "s"),
    ),
    driving(timeline.element, now),
    words,
    replayControls(),
  );
  draw();
  return bar;
}
