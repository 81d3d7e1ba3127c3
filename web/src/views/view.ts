import { Ray, Raycaster, Vector2, Vector3, type Camera } from "three";
import { h } from "../ui/dom";
import { arrange, layout, type ViewName } from "../app/layout";
import { ViewCamera } from "./camera";
import { Compass } from "./compass";
import { ScaleBar } from "./scaleBar";
import { viewToolbar } from "./viewToolbar";

export const VIEW_TITLES: Record<ViewName, string> = {
  top: "Top",
  perspective: "Perspective",
  front: "Front",
  right: "Right",
};

/** One of the views: a transparent region over the canvas with its own camera. */
export class View {
  readonly camera: ViewCamera;
  readonly element: HTMLElement;
  readonly label = h("div", { class: "joint-label", hidden: true });
  readonly summary = h("p", { class: "hidden-text" });
  private readonly title: HTMLElement;
  private readonly compass = new Compass();
  private readonly scale = new ScaleBar();
  private readonly caster = new Raycaster();

  constructor(
    readonly slot: ViewName,
    refresh: () => void,
    fit: (view: View) => void,
  ) {
    this.camera = new ViewCamera(slot);
    const bar = viewToolbar(this, refresh, () => fit(this));
    this.title = bar.title;
    this.element = h(
      "section",
      { class: "view", role: "region", tabindex: "0", "data-view": slot },
      bar.element,
      this.compass.element,
      this.scale.element,
      this.label,
      this.summary,
    );
    this.element.addEventListener("pointerdown", () => arrange({ active: slot }), true);
    this.rename();
  }

  choose(preset: ViewName): void {
    this.camera.choose(preset);
    this.rename();
  }

  private rename(): void {
    const name = VIEW_TITLES[this.camera.preset];
    this.title.textContent = name;
    this.element.setAttribute("aria-label", `${name} view`);
    this.element.classList.toggle("flat", this.camera.flat);
  }

  /** Pointer place from −1 to 1 in this view. */
  place(event: { clientX: number; clientY: number }): Vector2 {
    const box = this.element.getBoundingClientRect();
    return new Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    );
  }

  caught(event: { clientX: number; clientY: number }): Raycaster {
    this.caster.setFromCamera(this.place(event), this.camera.camera as Camera);
    return this.caster;
  }

  ray(event: { clientX: number; clientY: number }): Ray {
    return this.caught(event).ray.clone();
  }

  /** Where a point of the world is in this view [px], or null behind the camera. */
  project(point: Vector3): { x: number; y: number } | null {
    const at = point.clone().project(this.camera.camera);
    if (at.z > 1) return null;
    const { clientWidth, clientHeight } = this.element;
    return { x: ((at.x + 1) / 2) * clientWidth, y: ((1 - at.y) / 2) * clientHeight };
  }

  /** Updates camera and ornaments; true while the camera glides. */
  update(): boolean {
    const { clientWidth: w, clientHeight: hgt } = this.element;
    const gliding = this.camera.update(w / Math.max(hgt, 1));
    this.compass.update(this.camera);
    this.scale.update(this.camera, hgt);
    this.element.classList.toggle("active", layout.four && layout.active === this.slot);
    return gliding;
  }
}
