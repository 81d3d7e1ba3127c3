import { BufferAttribute, BufferGeometry, Color, Points, PointsMaterial } from "three";
import { reach } from "../app/reach";
import { token } from "../app/theme";
import { announce } from "../app/topics";
import { blob } from "../views/blobs";

/** The workspace of the tool, as a point cloud. */
export class CloudPoints {
  private readonly paint = new PointsMaterial({
    size: 1.5,
    sizeAttenuation: false,
    transparent: true,
    opacity: 0.3,
    depthWrite: false,
  });
  readonly root = new Points(new BufferGeometry(), this.paint);
  private shown = "";

  constructor() {
    this.root.frustumCulled = false;
    this.root.renderOrder = 605;
  }

  recolor(): void {
    this.paint.color = new Color(token("text3"));
  }

  /** Number of drawn points. */
  get count(): number {
    return this.shown === "" ? 0 : (this.root.geometry.getAttribute("position")?.count ?? 0);
  }

  update(on: boolean): void {
    const hash = reach.cloud?.hash ?? "";
    if (hash !== this.shown) {
      this.shown = hash;
      this.root.geometry.dispose();
      this.root.geometry = new BufferGeometry();
      if (hash !== "") void this.fetch(hash);
    }
    this.root.visible = on && this.count > 0;
  }

  private async fetch(hash: string): Promise<void> {
    const data = await blob(hash);
    if (!data || hash !== this.shown) return;
    const positions = new BufferAttribute(new Float32Array(data), 3);
    this.root.geometry = new BufferGeometry().setAttribute("position", positions);
    announce("cloud");
  }
}
