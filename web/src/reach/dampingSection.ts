import type { ReachSetup } from "../protocol/messages";
import { format, formatFine } from "../app/numbers";
import { paced } from "../app/throttle";
import { reach } from "../app/reach";
import { on } from "../app/topics";
import { section } from "../panels/section";
import { h, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { field, fill, line } from "./fields";
import { DAMPING } from "./numbers";
import { change } from "./setup";

const KINDS: [ReachSetup["damping"], string][] = [
  ["smallest", "where singular"],
  ["constant", "always (λ²)"],
  ["robotix", "RoboTiX, k/(1+‖JJᵀ‖)"],
];
/** The slider is logarithmic, from 0.001 to 1. */
const STEPS = 60;
const toValue = (at: number): number => (at === 0 ? 0 : 10 ** (-3 + (3 * at) / STEPS));
const toStep = (value: number): number =>
  value <= 0 ? 0 : Math.max(0, Math.round(((Math.log10(value) + 3) / 3) * STEPS));

/** Damping at singular postures. */
export function dampingSection(): HTMLElement {
  const kind = h("select", { "aria-label": "Kind of damping" });
  const value = h("input", {
    type: "range",
    min: "0",
    max: String(STEPS),
    "aria-label": "Damping",
  });
  const words = h("span", { class: "reach-figures" });
  const used = h("span", { class: "reach-figures", "aria-label": "Damping of the last step" });
  kind.addEventListener("change", () => change({ damping: kind.value as ReachSetup["damping"] }));
  value.addEventListener("input", () => change({ damping_value: toValue(Number(value.value)) }));
  const build = (): void => {
    fill(kind, KINDS, reach.setup?.damping ?? "smallest");
    const now = reach.setup?.damping_value ?? 0.05;
    if (document.activeElement !== value) value.value = String(toStep(now));
    value.setAttribute("aria-valuetext", format(now, 3));
    setText(words, format(now, 3));
  };
  const draw = (): void => setText(used, formatFine(reach.numbers?.[DAMPING] ?? 0, 4));
  on("reach", build);
  on("tool", paced(draw));
  build();
  draw();
  return section(
    "Damping",
    null,
    driving(h("div", { class: "fields" }, field("Kind", kind), line("Amount", value, words))),
    h("div", { class: "fields" }, line("Now, λ²", used)),
  );
}
