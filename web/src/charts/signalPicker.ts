import { store } from "../app/store";
import { h } from "../ui/dom";
import { matches } from "../shell/palette";
import { addCurve, type ChartSpec } from "./charts";

const MOST = 200;

/** The robot, the thing on it and the variable that a signal's name tells of. */
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
  if (document.querySelector("dialog[open]")) return;
  const input = h("input", {
    type: "text",
    "aria-label": "Signal",
    placeholder: "Robot, joint, variable: for instance knee angle",
  });
  const list = h("div", { class: "palette-list", role: "listbox", "aria-label": "Signals" });
  const choices = STEPS.map((step) =>
    h("select", { "aria-label": STEP_LABELS[step], onchange: () => ((at = 0), draw()) }),
  );
  const narrow = h(
    "div",
    { class: "palette-narrow" },
    ...choices.map((choice) => h("span", { class: "input-box" }, choice)),
  );
  const dialog = h(
    "dialog",
    { class: "palette", "aria-label": "Pick a signal" },
    input,
    narrow,
    list,
  );
  const unit = chart
    ? store.scene?.signals.find((s) => s.name === chart.curves[0])?.unit
    : undefined;
  let at = 0;
  let shown: string[] = [];
  const choose = (name: string | undefined): void => {
    dialog.close();
    if (name) addCurve(name, chart);
  };
  const all = (store.scene?.signals ?? []).filter((s) => s.direction !== "param");
  const fits = (name: string, before: number): boolean =>
    STEPS.slice(0, before).every((step, i) => {
      const chosen = choices[i]!.value;
      return chosen === "" || partsOf(name)[step] === chosen;
    });
  /** Each choice offers what the ones before it leave. */
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
  const draw = (): void => {
    offer();
    const found = all.filter(
      (s) =>
        fits(s.name, STEPS.length) &&
        matches(s.name.replaceAll(/[/.]/g, " ") + " " + s.name, input.value),
    );
    found.sort((a, b) => Number(b.unit === unit) - Number(a.unit === unit));
    shown = found.slice(0, MOST).map((s) => s.name);
    at = Math.min(at, Math.max(0, shown.length - 1));
    list.replaceChildren(
      ...found.slice(0, MOST).map((s, i) =>
        h(
          "div",
          {
            class: "palette-row",
            role: "option",
            "aria-selected": String(i === at),
            "data-signal": s.name,
            onclick: () => choose(s.name),
          },
          h("span", {}, s.name),
          h("kbd", {}, s.unit || "1"),
        ),
      ),
    );
    if (shown.length === 0) list.append(h("p", { class: "empty" }, "No signal has this name."));
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") at++;
    else if (event.key === "ArrowUp") at = Math.max(0, at - 1);
    else if (event.key === "Enter") {
      // Else the button that gets the focus back would be pressed by the same key.
      event.preventDefault();
      return choose(shown[at]);
    } else return;
    event.preventDefault();
    draw();
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  draw();
}
