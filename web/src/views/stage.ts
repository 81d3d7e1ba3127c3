import { PCFShadowMap, Scene, Sphere, SRGBColorSpace, Vector3, WebGLRenderer } from "three";
import { h } from "../ui/dom";
import { layout, type ViewName } from "../app/layout";
import { on } from "../app/topics";
import { show } from "../app/show";
import { store } from "../app/store";
import { theme, token } from "../app/theme";
import { Background } from "./background";
import { Bodies } from "./bodies";
import { followed } from "./follow";
import { Ghost } from "./ghost";
import { Grid, type GridPlane } from "./grid";
import { Lights } from "./lights";
import { Marks } from "./marks";
import { Highlight } from "./highlight";
import { StereoDrawing } from "./stereo";
import { View } from "./view";

const SLOTS: ViewName[] = ["top", "perspective", "front", "right"];
const PLANE: Record<ViewName, GridPlane> = {
  top: "xy",
  perspective: "xy",
  front: "xz",
  right: "yz",
};

/** The views: one canvas, drawn four times by scissor; drawn only when something changed. */
export class Stage {
  readonly element: HTMLElement;
  readonly views: View[];
  readonly bodies = new Bodies();
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly marks = new Marks();
  readonly highlight = new Highlight(this.bodies);
  private readonly background = new Background();
  private readonly ghost = new Ghost();
  private readonly lights = new Lights();
  private readonly grids = { xy: new Grid("xy"), xz: new Grid("xz"), yz: new Grid("yz") };
  private readonly stereo: StereoDrawing;
  private readonly canvas = h("canvas", { class: "stage", "aria-hidden": "true" });
  private stale = true;
  private fitted = "";
  private ghostStale = true;

  constructor() {
    const smooth = new URLSearchParams(location.search).get("antialias") !== "off";
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: smooth, stencil: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.autoClear = false;
    this.stereo = new StereoDrawing(this.renderer);
    this.views = SLOTS.map((slot) => new View(slot, this.refresh, (view) => this.fit(view)));
    this.element = h("div", { class: "views" }, this.canvas, ...this.views.map((v) => v.element));
    this.scene.add(
      this.background,
      ...Object.values(this.grids),
      this.lights.root,
      this.bodies.root,
    );
    this.scene.add(this.ghost.root, this.highlight.root, this.marks.root);
    this.bodies.onArrival = () => {
      this.ghostStale = true;
      this.aim();
      this.highlight.update();
      this.refresh();
    };
    this.listen();
    this.recolor();
    new ResizeObserver(() => this.resize()).observe(this.element);
    requestAnimationFrame(this.tick);
  }

  /** Asks for a new picture at the next chance. */
  readonly refresh = (): void => {
    this.stale = true;
  };

  private listen(): void {
    on("scene", () => this.rebuild());
    on("poses", () => {
      if (store.poses) this.bodies.pose(store.poses);
      this.keepInSight();
      this.refresh();
    });
    on(["ghost", "contacts", "signals", "hover", "selection", "drag"], this.refresh);
    on("show", () => {
      this.bodies.showCollision(show.collision);
      this.refresh();
    });
    on(["selection", "hover", "drag"], () => this.highlight.update());
    on("theme", () => this.recolor());
    on("layout", () => this.resize());
  }

  private rebuild(): void {
    if (!store.scene) return;
    this.bodies.build(store.scene);
    this.ghostStale = true;
    this.marks.build(store.scene);
    this.highlight.update();
    this.refresh();
  }

  /** Looks at the whole scene once its first meshes and poses are there. */
  private aim(): void {
    const scene = store.scene;
    const ball = this.bodies.bounds();
    this.lights.aim(ball);
    if (!scene || this.fitted === scene.name) return;
    const shapes = scene.elements.reduce((n, e) => n + e.shapes.length, 0);
    if (!store.poses || this.bodies.pieces.length < shapes) {
      if (this.bodies.pieces.length < shapes) return;
      const stop = on("poses", () => {
        stop();
        this.aim();
      });
      return;
    }
    this.fitted = scene.name;
    this.views.forEach((view) => view.camera.fit(ball));
  }

  fit(only?: View): void {
    const ball = this.bodies.bounds();
    for (const view of only ? [only] : this.views) view.camera.fit(ball);
    this.refresh();
  }

  frameSelection(): void {
    const pieces = this.highlight.selected();
    const ball = pieces.length > 0 ? this.bodies.bounds(pieces) : this.bodies.bounds();
    for (const view of this.views) view.camera.fit(new Sphere(ball.center, ball.radius * 1.4));
    this.refresh();
  }

  active(): View {
    return this.views.find((view) => view.slot === layout.active) ?? this.views[1]!;
  }

  private readonly last = new Vector3(NaN, 0, 0);

  private keepInSight(): void {
    const body = followed();
    const group = body === null ? null : this.bodies.groups[body];
    if (!group) {
      this.last.x = NaN;
      return;
    }
    const now = new Vector3().setFromMatrixPosition(group.matrix);
    if (!Number.isNaN(this.last.x)) {
      this.views[1]!.camera.stand.target.add(now.clone().sub(this.last));
    }
    this.last.copy(now);
  }

  private recolor(): void {
    const dark = theme() === "dark";
    this.background.recolor(dark);
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
    if (w === 0 || hgt === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(w, hgt, false);
    this.element.classList.toggle("four", layout.four);
    for (const view of this.views) {
      view.element.hidden = !layout.four && view.slot !== layout.active;
    }
    this.refresh();
    this.draw();
  }

  private readonly tick = (): void => {
    requestAnimationFrame(this.tick);
    if (this.stale && this.element.isConnected && store.scene) this.draw();
  };

  /** Draws all visible views now. */
  draw(): void {
    this.stale = false;
    if (this.ghostStale) {
      this.ghost.build(this.bodies);
      this.ghost.recolor(token("accent"));
      this.ghostStale = false;
    }
    this.ghost.pose(show.ghost ? store.ghost : null, store.poses);
    this.bodies.root.updateMatrixWorld();
    this.ghost.root.updateMatrixWorld();
    this.ghost.edge.follow();
    this.highlight.follow();
    this.marks.update(this.views, this.bodies);
    this.renderer.shadowMap.needsUpdate = show.shadows;
    const full = this.element.getBoundingClientRect();
    let gliding = false;
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    for (const view of this.views) {
      if (view.element.hidden) continue;
      gliding = view.update() || gliding;
      this.drawView(view, full);
    }
    if (gliding) this.stale = true;
  }

  private drawView(view: View, full: DOMRect): void {
    const box = view.element.getBoundingClientRect();
    const flat = view.camera.flat;
    this.lights.floor.visible = !flat && show.shadows;
    for (const [plane, grid] of Object.entries(this.grids)) {
      grid.visible = show.grid && plane === PLANE[view.camera.preset];
      grid.behind = flat;
      const reach = flat ? 1e3 : Math.max(3, view.camera.distance * 2.2);
      if (grid.visible) grid.follow(view.camera.stand.target, reach, view.camera.stand.half);
    }
    this.highlight.resize(box.width, box.height);
    this.ghost.edge.resize(box.width, box.height);
    if (layout.stereo !== "none" && !flat) {
      // Two of the effects draw into targets without a stencil, which outlines need.
      const outlined = layout.stereo === "side by side";
      this.highlight.root.visible = this.ghost.edge.root.visible = outlined;
      this.stereo.draw(layout.stereo, this.scene, view.camera.perspective, view.camera.distance);
      return;
    }
    this.highlight.root.visible = this.ghost.edge.root.visible = true;
    const left = box.left - full.left;
    const bottom = full.bottom - box.bottom;
    this.renderer.setScissorTest(true);
    this.renderer.setViewport(left, bottom, box.width, box.height);
    this.renderer.setScissor(left, bottom, box.width, box.height);
    this.renderer.clear();
    this.renderer.render(this.scene, view.camera.camera);
  }
}
