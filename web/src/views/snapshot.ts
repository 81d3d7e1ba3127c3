import type { Stage } from "./stage";
import { store } from "../app/store";
import { saveBlob } from "../ui/saveFile";

/** Draws the views and saves the picture. */
export function saveSnapshot(stage: Stage): void {
  stage.draw();
  stage.renderer.domElement.toBlob((blob) => {
    if (blob) saveBlob(blob, `${store.scene?.name ?? "views"}.png`.replaceAll("/", "_"));
  }, "image/png");
}
