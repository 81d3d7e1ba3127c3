import { askToShow } from "../app/buses";
import { lookedThrough, pictures } from "../app/pictures";
import { standsAlone } from "../app/session";
import { primary, store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { section } from "./section";

/** The latest image of the selected camera. */
export function cameraPicture(): HTMLElement {
  const canvas = h("canvas", { class: "camera-picture", role: "img" });
  const whole = section("Picture", null, canvas);
  let camera = -1;
  const choose = (): void => {
    const thing = primary();
    const found = (store.scene?.sensors ?? []).findIndex(
      (sensor) => thing?.kind === "sensor" && sensor.name === thing.name && sensor.camera !== null,
    );
    const next = standsAlone() ? -1 : found;
    whole.hidden = next < 0;
    if (next >= 0) canvas.setAttribute("aria-label", `Image of ${thing?.name}`);
    if (next === camera) return;
    camera = next;
    pictures.clear();
    lookedThrough.splice(0, lookedThrough.length, ...(camera < 0 ? [] : [camera]));
    canvas.hidden = true;
    askToShow();
  };
  const draw = (): void => {
    const picture = pictures.get(camera);
    const pen = canvas.getContext("2d");
    if (!picture || !pen) return;
    const { width, height, pixels } = picture;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const image = pen.createImageData(width, height);
    for (let from = 0, to = 0; from < pixels.length; from += 3, to += 4) {
      image.data[to] = pixels[from]!;
      image.data[to + 1] = pixels[from + 1]!;
      image.data[to + 2] = pixels[from + 2]!;
      image.data[to + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    canvas.hidden = false;
  };
  on(["selection", "scene"], choose);
  on("images", draw);
  choose();
  return whole;
}
