import { format, formatSI } from "../app/numbers";
import { paced } from "../app/paced";
import { reach } from "../app/reach";
import { store } from "../app/store";
import { announce, on } from "../app/topics";
import { section } from "../panels/section";
import { h, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { field, fill, line, segments } from "./fields";
import { change, chooseTip, tips } from "./setup";
import { toolStand } from "./toolStand";
import { MISS } from "./numbers";

/** Which tool, which part of its chain, and how its gizmo stands. */
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
  const stand = toolStand();
  const miss = h("span", { class: "reach-figures", "aria-label": "Left to go" });
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
    const way = `${format(n[MISS]! * 1e3, 1)} mm`;
    const turn = formatSI(n[MISS + 1]!, "rad", store.degrees);
    setText(miss, Number.isFinite(n[7]!) ? `${way}, ${turn}` : "nothing");
  };
  on(["scene", "reach"], build);
  on("tool", paced(draw));
  build();
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
    h("div", { class: "fields" }, line("Left to go", miss)),
  );
}

/** Lets the gizmo stand otherwise; everybody has it as it suits them. */
export function gizmo(how: { turns?: boolean; own?: boolean }): void {
  Object.assign(reach, how);
  announce("reach");
}
