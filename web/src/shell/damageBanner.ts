import { store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";

/** Says what is damaged or not checked in the recording that is shown. */
export function damageBanner(): HTMLElement {
  const text = h("p", { role: "status" });
  const banner = h(
    "section",
    { class: "shell-banner", "aria-label": "State of the recording" },
    text,
  );
  const draw = (): void => {
    const problem = store.scene?.replay?.problem ?? "";
    banner.hidden = problem === "";
    text.textContent = problem && `Note on this recording: ${problem}.`;
  };
  on("scene", draw);
  draw();
  return banner;
}
