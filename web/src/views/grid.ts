import { Color, DoubleSide, Mesh, PlaneGeometry, ShaderMaterial, Vector3 } from "three";

const VERTEX = `
varying vec3 place;
uniform bool behind;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xyz;
  gl_Position = projectionMatrix * viewMatrix * world;
  if (behind) gl_Position.z = gl_Position.w * 0.9999;
}`;

// Lines are one pixel wide, by the screen derivative of the coordinate.
const FRAGMENT = `
uniform vec3 ink; uniform float strength; uniform vec3 axisU; uniform vec3 axisV;
uniform vec3 colorU; uniform vec3 colorV; uniform vec3 center; uniform float reach;
uniform float fine; uniform float coarse;
varying vec3 place;
float line(vec2 p, float cell) {
  vec2 w = fwidth(p / cell);
  vec2 d = abs(fract(p / cell - 0.5) - 0.5) / max(w, vec2(1e-6));
  float shown = 1.0 - smoothstep(0.25, 0.7, max(w.x, w.y));
  return (1.0 - min(min(d.x, d.y), 1.0)) * shown;
}
void main() {
  vec2 p = vec2(dot(place, axisU), dot(place, axisV));
  float fade = 1.0 - smoothstep(0.35 * reach, reach, distance(place, center));
  float a = max(line(p, fine) * 0.45, line(p, coarse)) * strength;
  vec2 w = fwidth(p);
  float onU = 1.0 - min(abs(p.y) / max(w.y, 1e-6), 1.0);
  float onV = 1.0 - min(abs(p.x) / max(w.x, 1e-6), 1.0);
  vec3 color = mix(ink, colorU, onU); color = mix(color, colorV, onV);
  a = max(a, max(onU, onV) * 0.6);
  gl_FragColor = vec4(color, a * fade);
  if (gl_FragColor.a < 0.004) discard;
  #include <colorspace_fragment>
}`;

export type GridPlane = "xy" | "xz" | "yz";
const U: Record<GridPlane, Vector3> = {
  xy: new Vector3(1, 0, 0),
  xz: new Vector3(1, 0, 0),
  yz: new Vector3(0, 1, 0),
};
const V: Record<GridPlane, Vector3> = {
  xy: new Vector3(0, 1, 0),
  xz: new Vector3(0, 0, 1),
  yz: new Vector3(0, 0, 1),
};
const AXES = {
  dark: { x: 0xd8574f, y: 0x6fa63a, z: 0x4f83e6 },
  light: { x: 0xc8372d, y: 0x4d8a1f, z: 0x2f63c9 },
};

/** The grid of 0.1 and 0.5 m in one plane of the world, with its two axes. */
export class Grid extends Mesh<PlaneGeometry, ShaderMaterial> {
  constructor(readonly plane: GridPlane) {
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      side: DoubleSide,
      transparent: true,
      depthWrite: false,
      uniforms: {
        ink: { value: new Color() },
        strength: { value: 0.2 },
        axisU: { value: U[plane] },
        axisV: { value: V[plane] },
        colorU: { value: new Color() },
        colorV: { value: new Color() },
        center: { value: new Vector3() },
        reach: { value: 8 },
        behind: { value: false },
        fine: { value: 0.1 },
        coarse: { value: 0.5 },
      },
    });
    super(new PlaneGeometry(1, 1), material);
    if (plane === "xz") this.rotation.x = Math.PI / 2;
    if (plane === "yz") this.rotation.y = Math.PI / 2;
    this.renderOrder = -10;
    this.frustumCulled = false;
  }

  /** Centers the grid at a point; its cells depend on the visible half height [m]. */
  follow(center: Vector3, reach: number, seen: number): void {
    const uniforms = this.material.uniforms;
    const along = center.clone();
    if (this.plane === "xy") along.z = 0;
    if (this.plane === "xz") along.y = 0;
    if (this.plane === "yz") along.x = 0;
    this.position.copy(along);
    this.scale.setScalar(2 * reach);
    const coarse = seen > 12 ? 5 : seen < 0.12 ? 0.1 : 0.5;
    uniforms["center"]!.value.copy(along);
    uniforms["reach"]!.value = reach;
    uniforms["fine"]!.value = coarse / 5;
    uniforms["coarse"]!.value = coarse;
  }

  /** Orthographic views have the grid behind all bodies. */
  set behind(on: boolean) {
    this.material.uniforms["behind"]!.value = on;
  }

  recolor(dark: boolean): void {
    const uniforms = this.material.uniforms;
    const axes = dark ? AXES.dark : AXES.light;
    const set = (name: string, hex: number): void => void uniforms[name]!.value.set(hex);
    set("ink", dark ? 0x8a96a3 : 0x5f6975);
    uniforms["strength"]!.value = 0.3;
    set("colorU", this.plane === "yz" ? axes.y : axes.x);
    set("colorV", this.plane === "xy" ? axes.y : axes.z);
  }
}
