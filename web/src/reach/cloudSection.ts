import { reach } from "../app/reach";
import { command } from "../app/session";
import { announce, on } from "../app/topics";
import { section } from "../panels/section";
import { button } from "../ui/button";
import { h, setHidden, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { tool } from "../views/tool";
import { field, fill } from "./fields";
import { ReachTool } from "./reachTool";
import { shown } from "./shown";

const COUNTS: [string, string][] = [
  ["10000", "10 000 postures"],
  ["50000", "50 000 postures"],
  ["200000", "200 000 postures"],
];

/** The workspace of the tool, as a point cloud. */
export function cloudSection(): HTMLElement {
  const count = h("select", { "aria-label": "Postures of the cloud" });
  fill(count, COUNTS, "50000");
  const ask = (postures: number) => (): void =>
    void command({ type: "workspace", count: postures });
  const make = button("Compute", () => ask(Number(count.value))());
  const cancel = button("Cancel", ask(0), "bare");
  const clear = button("Clear", ask(0), "bare");
  const bar = h("progress", { max: "1", value: "0", "aria-label": "Progress of the cloud" });
  const words = h("span", { class: "reach-figures", role: "status" });
  const draw = (): void => {
    const { cloud } = reach;
    const making = cloud !== null && cloud.hash === "";
    setHidden(make, making);
    setHidden(cancel, !making);
    setHidden(clear, cloud === null || making);
    setHidden(bar, !making);
    bar.value = cloud ? cloud.done / cloud.count : 0;
    const made = cloud ? `${cloud.done.toLocaleString("en").replaceAll(",", " ")} places` : "";
    setText(words, made);
  };
  on("cloud", draw);
  draw();
  return section(
    "Workspace",
    shown("cloud"),
    driving(
      h("div", { class: "fields" }, field("Of", count)),
      h("div", { class: "reach-actions" }, make, cancel, clear, bar, words),
    ),
  );
}

/** The path of the tool. */
export function traceSection(): HTMLElement {
  const clear = button("Clear the trace", () => {
    if (tool.current instanceof ReachTool) tool.current.trace.clear();
    announce("tool");
  });
  return section("Trace", shown("trace"), h("div", { class: "reach-actions" }, clear));
}
