import { store } from "../app/store";
import { saveBlob } from "../ui/saveFile";
import type { Stage } from "./stage";
import type { View } from "./view";

/** Draws the views and saves the image: all of them, or one. */
export function saveSnapshot(stage: Stage, view?: View): void {
  const name = [store.scene?.name ?? "views", view?.camera.preset].filter(Boolean).join("-");
  picture(stage, view).toBlob((blob) => {
    if (blob) saveBlob(blob, `${name}.png`.replaceAll("/", "_"));
  }, "image/png");
}

/** A copy of the canvas. */
function picture(stage: Stage, view?: View): HTMLCanvasElement {
  stage.draw();
  const full = stage.element.getBoundingClientRect();
  const box = view?.element.getBoundingClientRect() ?? full;
  const ratio = stage.renderer.getPixelRatio();
  const copy = document.createElement("canvas");
  copy.width = Math.round(box.width * ratio);
  copy.height = Math.round(box.height * ratio);
  const left = Math.round((box.left - full.left) * ratio);
  const top = Math.round((box.top - full.top) * ratio);
  // Drawn in the same task: the canvas does not keep its content.
  copy.getContext("2d")?.drawImage(stage.renderer.domElement, -left, -top);
  return copy;
}
