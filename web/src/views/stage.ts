import { PCFShadowMap, Scene, SRGBColorSpace, Vector4, WebGLRenderer } from "three";
import { h } from "../ui/dom";
import { layout, type ViewName } from "../app/layout";
import { on } from "../app/topics";
import { show } from "../app/show";
import { store } from "../app/store";
import { theme, token } from "../app/theme";
import { fourViews } from "../app/width";
import { Background } from "./background";
import { Bodies } from "./bodies";
import { Ghost } from "./ghost";
import { Grid } from "./grid";
import { Highlight } from "./highlight";
import { Lights } from "./lights";
import { Marks } from "./marks";
import { planeOf } from "./presets";
import { CameraTargets } from "./cameraTargets";
import { StereoDrawing } from "./stereo";
import { tool } from "./tool";
import { View } from "./view";

const SLOTS: ViewName[] = ["top", "perspective", "front", "right"];

/** The views: one canvas, drawn four times by scissor; redrawn only after a change. */
export class Stage {
  readonly element: HTMLElement;
  readonly views: View[];
  readonly bodies = new Bodies();
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly marks = new Marks();
  readonly highlight = new Highlight(this.bodies);
  readonly cameraTargets: CameraTargets;
  readonly ghost = new Ghost();
  readonly lights = new Lights();
  readonly grids = { xy: new Grid("xy"), xz: new Grid("xz"), yz: new Grid("yz") };
  private readonly background = new Background();
  private readonly stereo: StereoDrawing;
  private readonly canvas = h("canvas", { class: "stage", "aria-hidden": "true" });
  private readonly boxes = new Map<View, Vector4>();
  private asked = false;
  private ghostStale = true;
  /** Whether shadow casters have moved or changed since the shadows were drawn. */
  private shadowsStale = true;

  constructor() {
    const smooth = new URLSearchParams(location.search).get("antialias") !== "off";
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: smooth, stencil: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.autoClear = false;
    this.scene.matrixWorldAutoUpdate = false; // once per frame, and only visible ones
    this.stereo = new StereoDrawing(this.renderer);
    this.views = SLOTS.map((slot) => new View(slot, this));
    this.cameraTargets = new CameraTargets(this.views, this.bodies, this.highlight, this.refresh);
    this.element = h("div", { class: "views" }, this.canvas, ...this.views.map((v) => v.element));
    this.scene.add(
      this.background,
      ...Object.values(this.grids),
      this.lights.root,
      this.bodies.drawn.root,
    );
    this.scene.add(this.ghost.root, this.highlight.root, this.marks.root);
    this.bodies.onArrival = () => this.arrive();
    this.listen();
    this.recolor();
    const sizes = new ResizeObserver(() => this.resize());
    for (const each of [this.element, ...this.views.map((v) => v.element)]) sizes.observe(each);
    this.refresh();
  }

  /** Requests a redraw in the next frame. */
  readonly refresh = (): void => {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(this.tick);
  };

  private listen(): void {
    on("scene", () => this.rebuild());
    on("poses", () => {
      if (!store.poses) return;
      this.bodies.pose(store.poses);
      this.shadowsStale = true;
      this.cameraTargets.arrive();
      this.cameraTargets.keepInSight();
      this.refresh();
    });
    on(["ghost", "contacts", "forces", "signals", "hover", "selection", "drag"], this.refresh);
    on(["reach", "tool", "near", "cloud"], this.refresh);
    on("show", () => {
      this.bodies.redress(show.collision);
      this.ghostStale = this.shadowsStale = true;
      this.highlight.update();
      this.refresh();
    });
    on(["selection", "hover", "drag"], () => this.highlight.update());
    on("theme", () => this.recolor());
    on("layout", () => this.resize());
  }

  private rebuild(): void {
    if (!store.scene) return;
    this.bodies.build(store.scene);
    this.lights.build(store.scene.lights);
    this.background.recolor(theme() === "dark", store.scene.background);
    this.ghostStale = this.shadowsStale = true;
    this.marks.build(store.scene);
    this.highlight.update();
    this.refresh();
  }

  /** A shape has arrived: its mesh may be later than the scene. */
  private arrive(): void {
    this.ghostStale = this.shadowsStale = true;
    this.lights.aim(this.bodies.bounds());
    this.cameraTargets.arrive();
    this.highlight.update();
    this.refresh();
  }

  active(): View {
    return this.views.find((view) => view.slot === layout.active) ?? this.views[1]!;
  }

  private recolor(): void {
    const dark = theme() === "dark";
    this.background.recolor(dark, store.scene?.background);
    Object.values(this.grids).forEach((grid) => grid.recolor(dark));
    this.lights.recolor(dark);
    this.renderer.setClearColor(token("gap"));
    this.ghost.recolor(token("accent"));
    this.highlight.recolor();
    this.marks.recolor();
    this.refresh();
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: hgt } = this.element;
    const four = fourViews();
    this.element.classList.toggle("four", four);
    for (const view of this.views) {
      view.element.hidden = !four && view.slot !== layout.active;
    }
    if (w === 0 || hgt === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(w, hgt, false);
    this.cameraTargets.refit();
    this.place();
    this.draw();
  }

  /** Measures the views on the canvas; measuring in each frame would trigger a layout. */
  private place(): void {
    const full = this.element.getBoundingClientRect();
    for (const view of this.views) {
      const { left, bottom, width, height } = view.element.getBoundingClientRect();
      this.boxes.set(view, new Vector4(left - full.left, full.bottom - bottom, width, height));
    }
  }

  private readonly tick = (): void => {
    this.asked = false;
    if (this.element.isConnected && store.scene) this.draw();
  };

  /** Draws all visible views now. */
  draw(): void {
    if (this.ghostStale) {
      this.ghost.build(this.bodies);
      this.ghost.recolor(token("accent"));
      this.ghostStale = false;
    }
    this.ghost.pose(show.ghost ? store.ghost : null, store.poses);
    this.bodies.drawn.root.visible = store.poses !== null; // until then their positions are unknown
    this.bodies.follow();
    if (this.ghost.root.visible) this.ghost.root.updateMatrixWorld();
    this.ghost.edge.follow();
    this.highlight.follow();
    const seen = this.views.filter((view) => !view.element.hidden);
    const gliding = seen.map((view) => view.update()).includes(true);
    this.marks.update(this.views, this.bodies);
    this.lights.root.updateMatrixWorld();
    this.marks.settle();
    this.renderer.shadowMap.needsUpdate = show.shadows && this.shadowsStale;
    this.shadowsStale = false;
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    seen.forEach((view) => this.drawView(view));
    if (gliding) this.refresh();
  }

  private drawView(view: View): void {
    const box = this.boxes.get(view);
    if (!box) return;
    const { flat, stand, distance, perspective, camera } = view.camera;
    this.lights.floor.visible = !flat && show.shadows;
    this.lights.shadows = show.shadows;
    for (const [plane, grid] of Object.entries(this.grids)) {
      grid.visible = show.grid && plane === planeOf(view.camera.preset);
      grid.behind = flat;
      const reach = flat ? 1e3 : Math.max(3, distance * 2.2);
      if (!grid.visible) continue;
      grid.follow(stand.target, reach, stand.half);
      grid.updateMatrixWorld();
    }
    this.highlight.resize(box.z, box.w);
    this.ghost.edge.resize(box.z, box.w);
    tool.current?.face(view);
    if (layout.stereo !== "none" && !flat && !fourViews()) {
      this.stereo.draw(layout.stereo, this.scene, perspective, distance);
      return;
    }
    this.renderer.setScissorTest(true);
    this.renderer.setViewport(box);
    this.renderer.setScissor(box);
    this.renderer.clear();
    this.renderer.render(this.scene, camera);
  }
}
