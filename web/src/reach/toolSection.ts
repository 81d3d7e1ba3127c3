import { format, formatSI } from "../app/numbers";
import { paced } from "../app/throttle";
import { reach } from "../app/reach";
import { store } from "../app/store";
import { announce, on } from "../app/topics";
import { section } from "../panels/section";
import { h, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { field, fill, line, segments } from "./fields";
import { change, chooseTip, tips } from "./setup";
import { toolPoseFields } from "./toolPoseFields";
import { MISS } from "./numbers";

/** The tool, the active part of its chain, and the orientation of its gizmo. */
export function toolSection(): HTMLElement {
  const tip = h("select", { "aria-label": "End effector" });
  const first = h("select", { "aria-label": "First joint" });
  const mode = segments(
    "Gizmo",
    [
      ["move", "Move"],
      ["turn", "Turn"],
    ],
    (choice) => gizmo({ turns: choice === "turn" }),
  );
  const axes = segments(
    "Axes of the gizmo",
    [
      ["world", "World"],
      ["tool", "Tool"],
    ],
    (choice) => gizmo({ own: choice === "tool" }),
  );
  const stand = toolPoseFields();
  const miss = h("span", { class: "reach-figures", "aria-label": "Remaining error" });
  tip.addEventListener("change", () => chooseTip(tip.value));
  first.addEventListener("change", () => change({ first: first.value }));
  const build = (): void => {
    if (!store.scene) return;
    fill(
      tip,
      tips(store.scene).map(({ name, kind }) => [
        name,
        kind === "anchor" ? name : `${name} (link)`,
      ]),
      reach.setup?.tip ?? "",
    );
    fill(
      first,
      [["", "all joints"], ...reach.chain.map((name) => [name, name] as const)],
      reach.setup?.first ?? "",
    );
    mode.choose(reach.turns ? "turn" : "move");
    axes.choose(reach.own ? "tool" : "world");
  };
  const draw = (): void => {
    const n = reach.numbers;
    if (!n) return;
    stand.draw(n);
    const [words, short] = leftToGo(n, store.degrees);
    setText(miss, words);
    miss.classList.toggle("warn", short);
  };
  on(["scene", "reach"], build);
  on("tool", paced(draw));
  build();
  draw();
  return section(
    "Tool",
    null,
    driving(
      h(
        "div",
        { class: "fields" },
        field("End effector", tip),
        field("First joint", first),
        line("Gizmo", mode.element),
        line("Its axes", axes.element),
        ...stand.elements,
      ),
    ),
    h("div", { class: "fields" }, line("Remaining error", miss)),
  );
}

/** The remaining error of the tool, and whether it came to rest short of its target. */
export function leftToGo(n: Float64Array, degrees: boolean): [words: string, short: boolean] {
  const [way, turn] = [n[MISS]!, n[MISS + 1]!];
  const words = `${format(way * 1e3, 1)} mm, ${formatSI(turn, "rad", degrees)}`;
  if (Number.isFinite(n[7]!)) return [words, false];
  return way > 0 || turn > 0 ? [`${words} short`, true] : ["nothing", false];
}

/** Changes the gizmo's mode; a local setting of this client. */
export function gizmo(how: { turns?: boolean; own?: boolean }): void {
  Object.assign(reach, how);
  announce("reach");
}
