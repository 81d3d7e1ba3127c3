import { Color, Mesh, BufferGeometry, Float32BufferAttribute, ShaderMaterial } from "three";

const VERTEX = `
varying float height;
void main() { height = position.y * 0.5 + 0.5; gl_Position = vec4(position.xy, 1.0, 1.0); }`;
const FRAGMENT = `
uniform vec3 low; uniform vec3 high; varying float height;
void main() { gl_FragColor = vec4(mix(low, high, height), 1.0);
#include <colorspace_fragment>
}`;

/** A vertical gradient behind everything, one triangle over the whole view. */
export class Background extends Mesh<BufferGeometry, ShaderMaterial> {
  constructor() {
    const geometry = new BufferGeometry();
    geometry.setAttribute(
      "position",
      new Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3),
    );
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { low: { value: new Color() }, high: { value: new Color() } },
      depthTest: false,
      depthWrite: false,
    });
    super(geometry, material);
    this.frustumCulled = false;
    this.renderOrder = -1000;
  }

  /** The theme's own colors, or the scene's. */
  recolor(dark: boolean, named = ""): void {
    const [high, low] = dark ? ["#20252b", "#15181c"] : ["#f6f8fa", "#e3e8ec"];
    this.material.uniforms["high"]!.value.set(named.slice(0, 7) || high);
    this.material.uniforms["low"]!.value.set(named.slice(0, 7) || low);
  }
}
