import { Ray, Raycaster, Vector2, Vector3, type Camera } from "three";
import { h } from "../ui/dom";
import { arrange, layout, type ViewName } from "../app/layout";
import { fourViews } from "../app/width";
import type { ViewpointView } from "../protocol/messages";
import { ViewCamera } from "./camera";
import { Compass } from "./compass";
import { titleOf, type Preset } from "./presets";
import { ScaleBar } from "./scaleBar";
import type { Stage } from "./stage";
import { viewToolbar } from "./viewToolbar";

/** One of the views: a transparent region over the canvas with its own camera. */
export class View {
  readonly camera: ViewCamera;
  readonly element: HTMLElement;
  readonly label = h("div", { class: "joint-label", hidden: true });
  readonly summary: HTMLElement;
  private readonly title: HTMLElement;
  private readonly compass = new Compass();
  private readonly scale = new ScaleBar();
  private readonly caster = new Raycaster();
  /** Its last measured size [px]. */
  size = { width: 0, height: 0, aspect: 1 };
  /** The size and camera placement for which compass and scale were drawn. */
  private ornamented: { stood: unknown; size: unknown } = { stood: null, size: null };
  private active = false;

  constructor(
    readonly slot: ViewName,
    stage: Stage,
  ) {
    this.camera = new ViewCamera(slot);
    const bar = viewToolbar(stage, this);
    this.title = bar.title;
    this.summary = h("p", { class: "hidden-text", id: `summary-${slot}` });
    this.element = h(
      "section",
      {
        class: "view",
        role: "region",
        tabindex: "0",
        "data-view": slot,
        "aria-describedby": this.summary.id,
      },
      bar.element,
      this.compass.element,
      this.scale.element,
      this.label,
      this.summary,
    );
    const activate = (): void => {
      if (layout.active !== slot) arrange({ active: slot });
    };
    this.element.addEventListener("pointerdown", activate, true);
    this.element.addEventListener("focusin", activate);
    this.rename();
  }

  choose(preset: Preset): void {
    this.camera.choose(preset);
    this.rename();
  }

  lookFrom(viewpoint: ViewpointView): void {
    this.camera.lookFrom(viewpoint);
    this.rename();
  }

  /** Writes the name of the view direction. */
  rename(): void {
    const name = titleOf(this.camera.preset);
    if (this.title.textContent === name) return;
    this.title.textContent = name;
    this.element.setAttribute("aria-label", `${name} view`);
    this.element.classList.toggle("flat", this.camera.flat);
  }

  /** Updates the size of the view; true if it is visible and has changed. */
  measure(): boolean {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return false;
    const aspect = width / height / (this.halved() ? 2 : 1);
    const changed = aspect !== this.size.aspect || height !== this.size.height;
    this.size = { width, height, aspect };
    this.camera.resize(aspect, height);
    return changed;
  }

  /** Whether each eye has one half of this view. */
  private halved(): boolean {
    return layout.stereo === "side by side" && !this.camera.flat && !fourViews();
  }

  /** Pointer position from −1 to 1 in this view, or in its half of the view for an eye. */
  place(event: { clientX: number; clientY: number }): Vector2 {
    const box = this.element.getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width;
    return new Vector2(
      (this.halved() ? (across * 2) % 1 : across) * 2 - 1,
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

  /** Position of a world point in this view [px], or null behind the camera. */
  project(point: Vector3): { x: number; y: number } | null {
    const at = point.clone().project(this.camera.camera);
    if (at.z > 1) return null;
    const { width, height } = this.size;
    return { x: ((at.x + 1) / 2) * width, y: ((1 - at.y) / 2) * height };
  }

  /** Size of a pixel at a world point [m]. */
  pixelAt(point: Vector3): number {
    const { camera, flat, stand } = this.camera;
    const away = camera.getWorldDirection(new Vector3()).dot(point.clone().sub(camera.position));
    const half = flat ? stand.half : away * Math.tan(stand.opening / 2);
    return (2 * Math.max(half, 0)) / Math.max(this.size.height, 1);
  }

  /** Whether a world point is within this view. */
  shows(point: Vector3): boolean {
    const { x, y, z } = point.clone().project(this.camera.camera);
    return Math.abs(x) <= 1 && Math.abs(y) <= 1 && z <= 1;
  }

  /** Updates the camera and, if it moved, the overlays; true while the camera is animated. */
  update(): boolean {
    const gliding = this.camera.update();
    const active = fourViews() && layout.active === this.slot;
    if (active !== this.active) this.element.classList.toggle("active", (this.active = active));
    const { stood } = this.camera;
    if (stood === this.ornamented.stood && this.size === this.ornamented.size) return gliding;
    this.ornamented = { stood, size: this.size };
    this.rename();
    this.compass.update(this.camera);
    this.scale.update(this.camera, this.size.height);
    return gliding;
  }
}
