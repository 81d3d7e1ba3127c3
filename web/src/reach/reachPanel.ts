import "../styles/reach.css";
import { reach } from "../app/reach";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { h, setHidden, setText } from "../ui/dom";
import { cloudSection, traceSection } from "./cloudSection";
import { distanceSection } from "./distanceSection";
import { ellipsoidSection } from "./ellipsoidSection";
import { check } from "./fields";
import { dampingSection } from "./dampingSection";
import { prioritySection } from "./prioritySection";
import { firstTip, usual } from "./setup";
import { toolSection } from "./toolSection";

/** The panel for dragging a tool by inverse kinematics. */
export function reachPanel(): HTMLElement {
  const use = check("Drag with inverse kinematics", (on) => (on ? begin() : end()));
  const note = h("p", { class: "empty", role: "status" });
  const rest = h(
    "div",
    {},
    toolSection(),
    prioritySection(),
    dampingSection(),
    ellipsoidSection(),
    distanceSection(),
    cloudSection(),
    traceSection(),
  );
  const draw = (): void => {
    use.input.checked = reach.setup !== null;
    use.input.disabled = !isDriver();
    setHidden(rest, reach.setup === null);
    const words =
      store.scene && firstTip() === null
        ? "This scene has no movable joint."
        : reach.setup === null
          ? "Choose a tool and drag it: the joints follow."
          : reach.joints.length === 0
            ? "Preparing inverse kinematics."
            : "";
    setText(note, words);
    setHidden(note, words === "");
  };
  on(["reach", "scene", "people"], draw);
  draw();
  return h("div", {}, h("div", { class: "reach-head" }, use.element), note, rest);
}

export function begin(): void {
  const tip = firstTip();
  if (tip !== null) command({ type: "set_reach", setup: usual(tip) });
}

export function end(): void {
  command({ type: "set_reach", setup: null });
}
