import {
  BufferGeometry,
  Float32BufferAttribute,
  HalfFloatType,
  Matrix3,
  Mesh,
  NearestFilter,
  OrthographicCamera,
  ShaderMaterial,
  StereoCamera,
  WebGLRenderTarget,
  type PerspectiveCamera,
  type Scene,
  type WebGLRenderer,
} from "three";
import type { Stereo } from "../app/layout";

/** Eye distance relative to the viewing distance, comfortable at any scale. */
const EYES = 1 / 40;

const VERTEX = `void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }`;
// Rows count from the top edge of the view, left eye first; side by side, each eye has its half.
const FRAGMENT = `
uniform sampler2D eyeL; uniform sampler2D eyeR; uniform int kind; uniform ivec2 size;
uniform mat3 red; uniform mat3 cyan;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec3 color;
  if (kind == 0) {
    vec3 l = texelFetch(eyeL, at, 0).rgb, r = texelFetch(eyeR, at, 0).rgb;
    color = clamp(red * l + cyan * r, 0.0, 1.0);
  } else if (kind == 1) {
    int half_ = size.x / 2;
    color = at.x < half_ ? texelFetch(eyeL, at, 0).rgb : texelFetch(eyeR, at - ivec2(half_, 0), 0).rgb;
  } else {
    bool left = (size.y - 1 - at.y) % 2 == 0;
    color = left ? texelFetch(eyeL, at, 0).rgb : texelFetch(eyeR, at, 0).rgb;
  }
  gl_FragColor = vec4(color, 1.0);
  #include <colorspace_fragment>
}`;

// Least squares fit of red and cyan glasses to full color (Dubois 2001), by rows.
const RED = new Matrix3(
  ...[0.4561, 0.500484, 0.176381],
  ...[-0.0400822, -0.0378246, -0.0157589],
  ...[-0.0152161, -0.0205971, -0.00546856],
);
const CYAN = new Matrix3(
  ...[-0.0434706, -0.0879388, -0.00155529],
  ...[0.378476, 0.73364, -0.0184503],
  ...[-0.0721527, -0.112961, 1.2264],
);
const KINDS: Stereo[] = ["anaglyph", "side by side", "interlaced"];

/** One image for two eyes: each is rendered separately, then both are combined. */
export class StereoDrawing {
  private readonly eyes = new StereoCamera();
  private readonly targets = [this.target(), this.target()] as const;
  private readonly paint = new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    depthTest: false,
    depthWrite: false,
    uniforms: {
      eyeL: { value: this.targets[0].texture },
      eyeR: { value: this.targets[1].texture },
      kind: { value: 0 },
      size: { value: [1, 1] },
      red: { value: RED },
      cyan: { value: CYAN },
    },
  });
  private readonly sheet = new Mesh(new BufferGeometry(), this.paint);
  private readonly still = new OrthographicCamera();

  constructor(private readonly renderer: WebGLRenderer) {
    const corners = new Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3);
    this.sheet.geometry.setAttribute("position", corners);
    this.sheet.frustumCulled = false;
  }

  /** The image of one eye; outlines need the stencil, antialiasing the samples. */
  private target(): WebGLRenderTarget {
    return new WebGLRenderTarget(1, 1, {
      type: HalfFloatType,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
      stencilBuffer: true,
      samples: 4,
    });
  }

  draw(kind: Stereo, scene: Scene, camera: PerspectiveCamera, distance: number): void {
    const { renderer } = this;
    const { width, height } = renderer.domElement;
    const wide = kind === "side by side" ? Math.floor(width / 2) : width;
    camera.focus = distance;
    this.eyes.eyeSep = distance * EYES;
    this.eyes.update(camera);
    renderer.setScissorTest(false);
    const both = [this.eyes.cameraL, this.eyes.cameraR];
    this.targets.forEach((target, i) => {
      target.setSize(wide, height);
      renderer.setRenderTarget(target);
      renderer.clear();
      renderer.render(scene, both[i]!);
    });
    renderer.setRenderTarget(null);
    const ratio = renderer.getPixelRatio();
    renderer.setViewport(0, 0, width / ratio, height / ratio);
    this.paint.uniforms["kind"]!.value = KINDS.indexOf(kind);
    this.paint.uniforms["size"]!.value = [width, height];
    renderer.render(this.sheet, this.still);
  }
}
