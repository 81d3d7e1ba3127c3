import type { Gallery } from "../protocol/messages";
import { layout } from "../app/layout";
import { store } from "../app/store";
import { on } from "../app/topics";
import { fetchGallery } from "../start/gallery";
import { partCard } from "../start/partCard";
import { h } from "../ui/dom";
import { searchField } from "../ui/searchField";
import { matches } from "./palette";

/** Parts of the kits, to browse, search and open. */
export function kitPanel(): HTMLElement {
  const list = h("div", { class: "kit-grid", role: "group", "aria-label": "Parts" });
  const pick = h("select", { "aria-label": "Kit" });
  const note = h("p", { class: "tree-count", role: "status" });
  let gallery: Gallery | null = null;
  let typed = "";
  const draw = (): void => {
    if (!gallery) return;
    const cards = gallery.kits
      .filter((kit) => !pick.value || kit.name === pick.value)
      .flatMap((kit) => kit.parts.map((part) => ({ kit: kit.name, part })))
      .filter(({ kit, part }) => matches(`${part.title} ${part.name} ${kit}`, typed))
      .map(({ kit, part }) => partCard(part, kit));
    list.replaceChildren(...cards);
    const all = gallery.kits.reduce((n, kit) => n + kit.parts.length, 0);
    if (all === 0) note.textContent = "No parts yet. Kits in ~/.linkwork/kits bring them.";
    else if (cards.length === 0) note.textContent = "No part has this name.";
    else note.textContent = `${cards.length} of ${all} parts.`;
  };
  const search = searchField("Search parts", (words) => ((typed = words), draw()));
  const panel = h(
    "div",
    { class: "panel-body", role: "tabpanel", "aria-label": "Kit" },
    search,
    h("div", { class: "kit-filter" }, h("div", { class: "input-box" }, pick)),
    h("div", { class: "tree-scroll" }, list, note),
  );
  pick.addEventListener("change", draw);
  const fill = async (): Promise<void> => {
    gallery = await fetchGallery();
    const chosen = pick.value;
    pick.replaceChildren(
      h("option", { value: "" }, "All kits"),
      ...gallery.kits.map((kit) =>
        h("option", { value: kit.name, selected: kit.name === chosen }, kit.name),
      ),
    );
    draw();
  };
  let filled = false;
  const begin = (): void => {
    if (filled || layout.left !== "Kit" || !store.scene) return;
    filled = true;
    fill().catch((error: Error) => {
      filled = false;
      note.textContent = error.message;
    });
  };
  on(["layout", "scene"], begin);
  on("gallery", () => {
    filled = false;
    begin();
  });
  return panel;
}
