import type { ReachAim } from "../protocol/messages";
import { arithmetic, format } from "../app/numbers";
import { alike, reach } from "../app/reach";
import { primary, store } from "../app/store";
import { on } from "../app/topics";
import { section } from "../panels/section";
import { button, iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { driving } from "../ui/driving";
import { toast } from "../ui/toast";
import { check } from "./fields";
import { aim, change } from "./setup";

const WORDS: Record<ReachAim["kind"], string> = {
  position: "Position of the tool",
  orientation: "Orientation of the tool",
  posture: "Posture",
  "center of mass": "Center of mass",
  point: "Control point",
};
const KINDS = ["position", "orientation", "posture", "center of mass"] as const;

/** The goals with their priorities and weights. */
export function prioritySection(): HTMLElement {
  const list = h("div", { class: "aims", role: "list", "aria-label": "Priorities" });
  const more = h("div", { class: "reach-actions" });
  const hold = check("Hold the tool while a link is dragged", (on) => change({ hold: on }));
  let drawn: ReachAim[] | null = null;
  const draw = (): void => {
    const aims = reach.setup?.aims ?? [];
    hold.input.checked = reach.setup?.hold ?? false;
    if (alike(aims, drawn)) return; // a weight may be incomplete
    drawn = aims;
    list.replaceChildren(...aims.map((each, at) => row(aims, each, at)));
    const missing = KINDS.filter((kind) => !aims.some((each) => each.kind === kind));
    more.replaceChildren(
      ...missing.map((kind) => button(`+ ${WORDS[kind]}`, () => add(aim(kind, 9, 1)), "bare")),
      button("+ Control point", addPoint, "bare"),
    );
  };
  on("reach", draw);
  draw();
  return section(
    "Priorities",
    null,
    driving(list, more, h("div", { class: "fields" }, hold.element)),
  );
}

/** Priorities counted from 0 in the order of the list; equal ones stay equal. */
function ranked(aims: ReachAim[]): ReachAim[] {
  let rank = -1;
  let last = Number.NaN;
  return aims.map((each) => {
    if (each.priority !== last) rank += 1;
    last = each.priority;
    return { ...each, priority: rank };
  });
}

function put(aims: ReachAim[]): void {
  if (aims.length === 0) {
    toast({ level: "info", text: "At least one goal is required." });
    return;
  }
  change({ aims: ranked(aims) });
}

function add(made: ReachAim): void {
  const aims = reach.setup?.aims ?? [];
  put([...aims, { ...made, priority: (aims.at(-1)?.priority ?? -1) + 1 }]);
}

/** Adds a goal that holds the middle of the selected link. */
function addPoint(): void {
  const thing = primary();
  const known = thing && [...(store.scene?.elements ?? []), ...(store.scene?.anchors ?? [])];
  if (!thing || !known?.some((each) => each.name === thing.name)) {
    toast({ level: "info", text: "Select a link or an anchor first. It becomes a control point." });
    return;
  }
  add(aim("point", 9, 1, thing.name));
}

function row(aims: ReachAim[], each: ReachAim, at: number): HTMLElement {
  const words =
    each.kind === "point" ? (each.frame.split("/").at(-1) ?? each.frame) : WORDS[each.kind];
  const shared = at > 0 && aims[at - 1]!.priority === each.priority;
  const move = (to: number): void => {
    const next = aims.map((one) => ({ ...one }));
    const [taken] = next.splice(at, 1);
    next.splice(to, 0, taken!);
    // A moved goal gets its own priority; the others keep theirs.
    put(next.map((one, n) => ({ ...one, priority: n })));
  };
  const share = (): void =>
    put(
      aims.map((one, n) => ({
        ...one,
        priority: n < at ? one.priority : one.priority + (shared ? 1 : -1),
      })),
    );
  const now = format(each.weight, each.weight < 0.1 ? 3 : 2);
  const weight = h("input", {
    type: "text",
    class: "number",
    "aria-label": `Weight of ${words}`,
    value: now,
  });
  weight.addEventListener("change", () => {
    const value = arithmetic(weight.value.trim().replaceAll(",", "."));
    if (value === null || value <= 0 || value > 1000) {
      toast({ level: "warning", text: "A weight is a number above 0, up to 1000." });
      weight.value = now;
    } else put(aims.map((one, n) => (n === at ? { ...one, weight: value } : one)));
  });
  return h(
    "div",
    { class: "aim", role: "listitem", "aria-label": words },
    h("span", { class: "aim-rank" }, shared ? "" : String(each.priority + 1)),
    h("span", { class: "aim-name", title: words }, words),
    h("div", { class: "input-box small" }, weight),
    at > 0
      ? iconButton(
          "loop",
          shared ? `${words}: separate priority` : `${words}: share the priority above`,
          share,
          shared ? "on" : "",
        )
      : h("span", {}),
    at > 0 ? iconButton("down", `${words}: up`, () => move(at - 1), "up") : h("span", {}),
    iconButton("close", `${words}: remove`, () => put(aims.filter((_, n) => n !== at))),
  );
}
