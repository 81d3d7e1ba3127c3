import { h } from "../ui/dom";
import { icon } from "../ui/icon";

/** A collapsible section of a panel, with a title and an optional control at the right. */
export function section(
  title: string,
  aside: HTMLElement | null,
  ...body: HTMLElement[]
): HTMLElement {
  const content = h("div", { class: "section-body" }, ...body);
  const head = h(
    "button",
    {
      type: "button",
      class: "section-head",
      "aria-expanded": "true",
      onclick: () => {
        content.hidden = !content.hidden;
        head.setAttribute("aria-expanded", String(!content.hidden));
      },
    },
    icon("down", 12),
    h("b", {}, title),
  );
  return h(
    "section",
    { class: "section", "aria-label": title },
    h("div", { class: "section-bar" }, head, aside),
    content,
  );
}
