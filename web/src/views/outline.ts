import {
  Color,
  Group,
  KeepStencilOp,
  Mesh,
  MeshBasicMaterial,
  NotEqualStencilFunc,
  ReplaceStencilOp,
  ShaderMaterial,
  Vector2,
  type BufferGeometry,
} from "three";
import { mergeVertices } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { ShapeMesh } from "./bodies";

const VERTEX = `
uniform vec2 size; uniform float width;
void main() {
  vec4 at = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  vec3 n = normalMatrix * normal;
  vec2 across = vec2(n.x * projectionMatrix[0][0], n.y * projectionMatrix[1][1]) * size;
  float l = length(across);
  if (l > 1e-6) at.xy += across / l * width * 2.0 / size * at.w;
  gl_Position = at;
}`;
const FRAGMENT = `
uniform vec3 ink; uniform float opacity;
void main() {
  gl_FragColor = vec4(ink, opacity);
  #include <colorspace_fragment>
}`;

const smooth = new WeakMap<BufferGeometry, BufferGeometry>();

/** The same surface with merged corners, so that an enlarged copy has no gaps. */
function joined(geometry: BufferGeometry): BufferGeometry {
  let made = smooth.get(geometry);
  if (!made) {
    const bare = geometry.clone();
    for (const name of Object.keys(bare.attributes)) {
      if (name !== "position") bare.deleteAttribute(name);
    }
    made = mergeVertices(bare, 1e-5);
    made.computeVertexNormals();
    smooth.set(geometry, made);
  }
  return made;
}

/** A line around the silhouette of some pieces, visible through everything else. */
export class Outline {
  readonly root = new Group();
  readonly line: ShaderMaterial;
  private readonly mask: MeshBasicMaterial;

  constructor(stencil: number, width: number, order: number, opacity = 1) {
    this.mask = new MeshBasicMaterial({
      colorWrite: false,
      depthTest: false,
      depthWrite: false,
      transparent: true,
      stencilWrite: true,
      stencilRef: stencil,
      stencilZPass: ReplaceStencilOp,
    });
    this.line = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        size: { value: new Vector2(1, 1) },
        width: { value: width },
        ink: { value: new Color() },
        opacity: { value: opacity },
      },
      depthTest: false,
      depthWrite: false,
      transparent: true,
      stencilWrite: true,
      stencilRef: stencil,
      stencilFunc: NotEqualStencilFunc,
      stencilZPass: opacity < 1 ? ReplaceStencilOp : KeepStencilOp,
    });
    this.root.renderOrder = order;
    this.order = order;
  }

  private readonly order: number;

  around(shapeMeshes: ShapeMesh[]): void {
    this.root.clear();
    for (const { mesh, shape } of shapeMeshes) {
      if (!mesh.visible || shape.kind === "plane") continue;
      const inside = new Mesh(mesh.geometry, this.mask);
      const outside = new Mesh(joined(mesh.geometry), this.line);
      inside.renderOrder = this.order;
      outside.renderOrder = this.order + 1;
      for (const copy of [inside, outside]) {
        copy.matrixAutoUpdate = false;
        copy.matrixWorldAutoUpdate = false;
        copy.userData["of"] = mesh;
        this.root.add(copy);
      }
    }
  }

  /** Updates the poses of the bodies: call after they moved, before drawing. */
  follow(): void {
    for (const copy of this.root.children) {
      copy.matrixWorld.copy((copy.userData["of"] as Mesh).matrixWorld);
    }
  }

  recolor(css: string): void {
    this.line.uniforms["ink"]!.value.set(css);
  }

  resize(width: number, height: number): void {
    this.line.uniforms["size"]!.value.set(width, height);
  }
}
