import { run } from "../app/commands";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";

/** Actions of a recording: continue live, or go back. */
export function replayControls(): HTMLElement {
  const onward = button("Go on from here", () => run("go-on"), "raised", "play");
  onward.title = "Runs the scene live from this instant";
  const live = button("Back to live", () => run("live"), "bare");
  const close = button("Close", () => run("close"), "bare");
  const element = h("div", { class: "replay-controls" }, onward, live, close);
  const draw = (): void => {
    const replay = store.scene?.replay;
    element.hidden = !replay;
    live.hidden = !replay?.live;
    close.hidden = Boolean(replay?.live);
  };
  on("scene", draw);
  draw();
  return element;
}
