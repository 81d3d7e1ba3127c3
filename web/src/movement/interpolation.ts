import { movement } from "../app/movement";
import { format, parse, screenUnit } from "../app/numbers";
import { store } from "../app/store";
import { h, setHidden, setText } from "../ui/dom";
import { limitOf, mannerOf, named, withLimit, withManner, type LimitName } from "./drafts";
import { complain, edit } from "./edit";
import { movableDofs } from "./joints";

const INTERPOLATIONS: [string, string][] = [
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

/** Interpolation or planner, and its limits. */
export function interpolationFields(): { element: HTMLElement; draw: () => void } {
  const manner = h(
    "select",
    { "aria-label": "From posture to posture" },
    ...INTERPOLATIONS.map(([value, words]) => h("option", { value }, words)),
  );
  manner.addEventListener("change", () => {
    const draft = movement.state?.draft;
    if (draft) edit(withManner(draft, manner.value), "interpolation");
  });
  const limits = LIMITS.map(([limit, words, per]) => limitField(limit, words, per));
  const element = h(
    "div",
    { class: "movement-manner" },
    h(
      "label",
      { class: "movement-field" },
      "Interpolation",
      h("span", { class: "input-box" }, manner),
    ),
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

/** The joints of a limit: the rotational ones, or all if there are none. */
function limited(): { joints: string[]; unit: string; some: boolean } {
  const draft = movement.state?.draft;
  const names = draft ? named(draft) : new Set<string>();
  const all = movableDofs(store.scene, movement.state?.on ?? "").filter((f) => names.has(f.name));
  const turning = all.filter((dof) => dof.dof.unit === "rad");
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
    // Sliders keep the limits of their servos.
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
    complain(bad ? `${words} is a number above 0, or empty.` : "");
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
