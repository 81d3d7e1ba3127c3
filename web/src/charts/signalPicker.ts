import { store } from "../app/store";
import { h } from "../ui/dom";
import { matches } from "../shell/palette";
import { addCurve, type ChartSpec } from "./charts";

const MOST = 200;

/** Picks a signal by robot, joint, variable: type parts of its name. */
export function pickSignal(chart?: ChartSpec): void {
  if (document.querySelector("dialog[open]")) return;
  const input = h("input", {
    type: "text",
    "aria-label": "Signal",
    placeholder: "Robot, joint, variable: for instance knee angle",
  });
  const list = h("div", { class: "palette-list", role: "listbox", "aria-label": "Signals" });
  const dialog = h("dialog", { class: "palette", "aria-label": "Pick a signal" }, input, list);
  const unit = chart
    ? store.scene?.signals.find((s) => s.name === chart.curves[0])?.unit
    : undefined;
  let at = 0;
  let shown: string[] = [];
  const choose = (name: string | undefined): void => {
    dialog.close();
    if (name) addCurve(name, chart);
  };
  const draw = (): void => {
    const found = (store.scene?.signals ?? []).filter(
      (s) =>
        s.direction !== "param" &&
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
