import { movement } from "../app/movement";
import { format, parse, screenUnit } from "../app/numbers";
import { store } from "../app/store";
import { h, setHidden, setText } from "../ui/dom";
import { limitOf, mannerOf, named, withLimit, withManner, type LimitName } from "./drafts";
import { complain, edit } from "./edit";
import { freedomsOf } from "./joints";

const MANNERS: [string, string][] = [
  ["smooth", "smoothly"],
  ["linear", "evenly"],
  ["hold", "by jumps"],
  ["acceleration", "least acceleration"],
  ["speed", "least speed"],
  ["energy", "least energy"],
  ["cruise", "cruising"],
  ["jerk", "limited jerk"],
];
const LIMITS: [LimitName, string, string][] = [
  ["speed", "Largest speed", "/s"],
  ["acceleration", "Largest acceleration", "/s²"],
  ["jerk", "Largest jerk", "/s³"],
];

/** How joints get from posture to posture, and what they may do at most. */
export function mannerFields(): { element: HTMLElement; draw: () => void } {
  const manner = h(
    "select",
    { "aria-label": "From posture to posture" },
    ...MANNERS.map(([value, words]) => h("option", { value }, words)),
  );
  manner.addEventListener("change", () => {
    const draft = movement.state?.draft;
    if (draft) edit(withManner(draft, manner.value), "how joints go");
  });
  const limits = LIMITS.map(([limit, words, per]) => limitField(limit, words, per));
  const element = h(
    "div",
    { class: "movement-manner" },
    h("label", { class: "movement-field" }, "Goes", h("span", { class: "input-box" }, manner)),
    ...limits.map((each) => each.element),
  );
  const draw = (): void => {
    const draft = movement.state?.draft;
    if (!draft) return;
    manner.value = mannerOf(draft);
    for (const each of limits) {
      setHidden(each.element, draft.planner === "");
      each.draw();
    }
  };
  return { element, draw };
}

/** The joints that a limit is for: those that turn, or where none does all of them. */
function limited(): { joints: string[]; unit: string; some: boolean } {
  const draft = movement.state?.draft;
  const names = draft ? named(draft) : new Set<string>();
  const all = freedomsOf(store.scene, movement.state?.on ?? "").filter((f) => names.has(f.name));
  const turning = all.filter((freedom) => freedom.dof.unit === "rad");
  const chosen = turning.length > 0 ? turning : all;
  return {
    joints: chosen.map(({ name }) => name),
    unit: turning.length > 0 ? "rad" : "m",
    some: chosen.length < all.length,
  };
}

function limitField(
  limit: LimitName,
  words: string,
  per: string,
): { element: HTMLElement; draw: () => void } {
  const input = h("input", {
    type: "text",
    class: "number",
    "aria-label": words,
    placeholder: "none",
    spellcheck: "false",
  });
  const unit = h("span", { class: "unit" });
  const label = h("span", {}, words);
  const draw = (): void => {
    const draft = movement.state?.draft;
    if (!draft) return;
    const { joints, unit: si, some } = limited();
    // Those that slide keep to what their servos can.
    const whole = some ? `${words} of joints that turn` : words;
    setText(label, whole);
    input.setAttribute("aria-label", whole);
    const shown = screenUnit(si, store.degrees);
    const value = limitOf(draft, joints, limit);
    unit.textContent = shown.unit + per;
    input.placeholder = Number.isNaN(value) ? "various" : "none";
    const text = value === null || Number.isNaN(value) ? "" : format(value / shown.factor, 1);
    if (input.defaultValue !== text) input.defaultValue = text;
    if (document.activeElement !== input) input.value = text;
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") input.blur();
  });
  input.addEventListener("change", () => {
    const draft = movement.state?.draft;
    if (!draft) return;
    const { joints, unit: si } = limited();
    const text = input.value.trim();
    const value = text === "" ? null : parse(text, si, store.degrees);
    const bad = text !== "" && (value === null || value <= 0);
    complain(bad ? `${words} is a number above 0, or nothing.` : "");
    if (!bad) edit(withLimit(draft, joints, limit, value), words.toLowerCase());
    draw();
  });
  return {
    element: h(
      "label",
      { class: "movement-field" },
      label,
      h("span", { class: "input-box" }, input, unit),
    ),
    draw,
  };
}
