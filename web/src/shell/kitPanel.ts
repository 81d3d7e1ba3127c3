import { address } from "../app/token";
import { fetchGallery } from "../start/gallery";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";

/** Parts of the kits, to look through. */
export function kitPanel(): HTMLElement {
  const list = h("div", { class: "kit-grid" });
  const panel = h(
    "div",
    { class: "panel-body", role: "tabpanel", "aria-label": "Kit" },
    h("div", { class: "tree-scroll" }, list),
  );
  const fill = async (): Promise<void> => {
    const gallery = await fetchGallery();
    const cards = gallery.kits.flatMap((kit) =>
      kit.parts.map((part) =>
        h(
          "div",
          { class: "kit-card", title: `${kit.name}/${part.name}` },
          part.picture
            ? h("img", { src: address(part.picture), alt: "", loading: "lazy" })
            : h("span", { class: "kit-blank" }, icon("part", 32)),
          h("b", {}, part.title || part.name),
          h("span", {}, kit.name),
        ),
      ),
    );
    list.replaceChildren(...cards);
    if (cards.length === 0)
      list.append(h("p", { class: "empty" }, "No parts yet. Kits bring them."));
  };
  let filled = false;
  const begin = (): void => {
    if (filled || panel.hidden) return;
    filled = true;
    fill().catch(() => (filled = false));
  };
  on("layout", begin);
  on("gallery", () => {
    filled = false;
    begin();
  });
  return panel;
}
