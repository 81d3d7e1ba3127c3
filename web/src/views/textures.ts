import {
  BufferAttribute,
  RepeatWrapping,
  SRGBColorSpace,
  Texture,
  Vector3,
  type BufferGeometry,
} from "three";
import { blob } from "./blobs";

const known = new Map<string, Promise<Texture | null>>();

/** An image of the scene, fetched once; null if the browser cannot read it. */
export function texture(hash: string): Promise<Texture | null> {
  let found = known.get(hash);
  if (!found) known.set(hash, (found = load(hash)));
  return found;
}

/** The image repeated along its width and its height. */
export function repeated(image: Texture, [across, up]: readonly [number, number]): Texture {
  if (across === 1 && up === 1) return image;
  const made = image.clone();
  made.wrapS = made.wrapT = RepeatWrapping;
  made.repeat.set(across, up);
  made.needsUpdate = true;
  return made;
}

async function load(hash: string): Promise<Texture | null> {
  const data = await blob(hash);
  if (!data) return null;
  try {
    const image = await createImageBitmap(new Blob([data]), { imageOrientation: "flipY" });
    const made = new Texture(image);
    made.colorSpace = SRGBColorSpace;
    made.anisotropy = 4;
    made.flipY = false;
    made.needsUpdate = true;
    return made;
  } catch {
    return null;
  }
}

/** The surface with texture coordinates; meshes without get box mapping. */
export function laidOut(geometry: BufferGeometry): BufferGeometry {
  if (geometry.getAttribute("uv")) return geometry;
  const made = geometry.index ? geometry.toNonIndexed() : geometry.clone();
  if (!made.getAttribute("normal")) made.computeVertexNormals();
  made.computeBoundingBox();
  const box = made.boundingBox!;
  const size = box.getSize(new Vector3());
  const [at, normal] = [made.getAttribute("position"), made.getAttribute("normal")];
  const uv = new Float32Array(at.count * 2);
  const part = (value: number, low: number, long: number): number =>
    long > 0 ? (value - low) / long : 0;
  for (let i = 0; i < at.count; i++) {
    const x = part(at.getX(i), box.min.x, size.x);
    const y = part(at.getY(i), box.min.y, size.y);
    const z = part(at.getZ(i), box.min.z, size.z);
    const n = [normal.getX(i), normal.getY(i), normal.getZ(i)].map(Math.abs);
    const side = n.indexOf(Math.max(...n));
    uv.set(side === 0 ? [y, z] : side === 1 ? [x, z] : [x, y], i * 2);
  }
  made.setAttribute("uv", new BufferAttribute(uv, 2));
  return made;
}
