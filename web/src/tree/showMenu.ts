import { setShow, show, SHOW_LABELS, type ShowKey } from "../app/show";
import { askToShow } from "../app/buses";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { openMenu } from "../ui/menu";

const KEYS = Object.keys(show) as ShowKey[];

/** The optional displays of the views, as check boxes. */
export function showPanel(): HTMLElement {
  const count = h("span", { class: "section-note" });
  const boxes = KEYS.map((key) => {
    const input = h("input", {
      type: "checkbox",
      checked: show[key],
      onchange: () => setShow(key, input.checked),
    });
    return {
      key,
      input,
      label: h("label", { class: "check" }, input, h("span", { class: "tick" }), SHOW_LABELS[key]),
    };
  });
  const body = h("div", { class: "show-grid" }, ...boxes.map((box) => box.label));
  const head = h(
    "button",
    {
      type: "button",
      class: "section-head",
      "aria-expanded": "true",
      onclick: () => {
        body.hidden = !body.hidden;
        head.setAttribute("aria-expanded", String(!body.hidden));
      },
    },
    icon("down", 12),
    h("b", {}, "Show in views"),
    count,
  );
  const draw = (): void => {
    boxes.forEach(({ key, input }) => (input.checked = show[key]));
    count.textContent = `${KEYS.filter((key) => show[key]).length} of ${KEYS.length}`;
  };
  on("show", () => {
    draw();
    askToShow();
  });
  draw();
  return h(
    "section",
    { class: "show-panel", role: "group", "aria-label": "Show in views" },
    head,
    body,
  );
}

export function openShowMenu(anchor: HTMLElement): void {
  openMenu(
    anchor,
    KEYS.map((key) => ({
      label: SHOW_LABELS[key],
      checked: show[key],
      toggle: true,
      run: () => setShow(key, !show[key]),
    })),
    "Show in views",
  );
}
