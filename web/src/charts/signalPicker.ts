import { store } from "../app/store";
import { h } from "../ui/dom";
import { openPicker, type Pick } from "../ui/picker";
import { matches } from "../shell/palette";
import { addCurve, type ChartSpec } from "./charts";

const MOST = 200;

/** Robot, object and variable of a signal's name. */
export function partsOf(name: string): { robot: string; thing: string; variable: string } {
  const [, path = "", variable = name] = /^(.*?)\.([^/]*)$/.exec(name) ?? [];
  const cut = path.indexOf("/");
  return cut < 0
    ? { robot: path, thing: "", variable }
    : { robot: path.slice(0, cut), thing: path.slice(cut + 1), variable };
}

const STEPS = ["robot", "thing", "variable"] as const;
const STEP_LABELS = { robot: "Robot", thing: "Joint or part", variable: "Variable" };

/** Picks a signal by robot, joint, variable: type parts of its name. */
export function pickSignal(chart?: ChartSpec): void {
  const all = (store.scene?.signals ?? []).filter((s) => s.direction !== "param");
  const unit = chart && all.find((s) => s.name === chart.curves[0])?.unit;
  const choices = STEPS.map((step) =>
    h("select", { "aria-label": STEP_LABELS[step], onchange: () => redraw?.() }),
  );
  const narrow = h(
    "div",
    { class: "palette-narrow" },
    ...choices.map((choice) => h("span", { class: "input-box" }, choice)),
  );
  const fits = (name: string, before: number): boolean =>
    STEPS.slice(0, before).every((step, i) => {
      const chosen = choices[i]!.value;
      return chosen === "" || partsOf(name)[step] === chosen;
    });
  /** Each choice is filtered by the previous ones. */
  const offer = (): void =>
    STEPS.forEach((step, i) => {
      const choice = choices[i]!;
      const left = all.filter((s) => fits(s.name, i)).map((s) => partsOf(s.name)[step]);
      const words = [...new Set(left)].filter((word) => word !== "").sort();
      const kept = words.includes(choice.value) ? choice.value : "";
      choice.replaceChildren(
        h("option", { value: "" }, `${STEP_LABELS[step]}: all`),
        ...words.map((word) => h("option", { value: word }, word)),
      );
      choice.value = kept;
    });
  const find = (typed: string): Pick[] => {
    offer();
    const found = all.filter(
      (s) =>
        fits(s.name, STEPS.length) &&
        matches(s.name.replaceAll(/[/.]/g, " ") + " " + s.name, typed),
    );
    found.sort((a, b) => Number(b.unit === unit) - Number(a.unit === unit));
    return found.slice(0, MOST).map((s) => ({
      title: s.name,
      hint: s.unit || "1",
      run: () => addCurve(s.name, chart),
      props: { "data-signal": s.name },
    }));
  };
  const redraw = openPicker(
    {
      title: "Pick a signal",
      field: "Signal",
      placeholder: "Robot, joint, variable: for instance knee angle",
      list: "Signals",
      none: "No signal has this name.",
    },
    find,
    [narrow],
  );
}
