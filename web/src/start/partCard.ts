import type { GalleryPart } from "../protocol/messages";
import { newScene, openScene } from "../app/files";
import { address } from "../app/address";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { openMenu } from "../ui/menu";

/** A kit's part with its picture; opens alone, or in a scene; `chosen` is called first. */
export function partCard(part: GalleryPart, kit: string, chosen?: () => void): HTMLElement {
  const then = (run: () => void) => (): void => {
    chosen?.();
    run();
  };
  const card: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "kit-card",
      title: part.name,
      "data-part": part.name,
      "aria-haspopup": "menu",
      onclick: () =>
        openMenu(
          card,
          [
            { label: "Open part", run: then(() => openScene(part.name)) },
            { label: "New scene with this part", run: then(() => newScene(part.name)) },
          ],
          part.title || part.name,
        ),
    },
    part.picture
      ? h("img", { src: address(part.picture), alt: "", loading: "lazy" })
      : h("span", { class: "kit-blank" }, icon("part", 32)),
    h("b", {}, part.title || part.name),
    h("span", {}, kit),
  );
  return card;
}
