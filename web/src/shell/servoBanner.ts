import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { driving } from "../ui/driving";

/** Offers servos for the joints of an import that has none. */
export function servoBanner(): HTMLElement {
  const text = h("p", { role: "status" });
  const banner = h(
    "section",
    { class: "shell-banner servo-banner", "aria-label": "Joints without servos" },
    text,
    driving(button("Give it servos", () => command({ type: "give_servos" }))),
  );
  const draw = (): void => {
    const joints = store.scene?.undriven ?? [];
    banner.hidden = joints.length === 0;
    text.textContent =
      joints.length === 1
        ? `${joints[0]} has no drive and moves freely.`
        : `${joints.length} joints have no drive and move freely.`;
  };
  on("scene", draw);
  draw();
  return banner;
}
