import { announce } from "./topics";

/** The last image of a camera. */
export interface CameraPicture {
  width: number;
  height: number;
  /** Red, green, blue, pixel by pixel. */
  pixels: Uint8Array;
}

/** Camera images by index among the scene's sensors. */
export const pictures = new Map<number, CameraPicture>();

/** The cameras that the page displays. */
export const lookedThrough: number[] = [];

const HEAD = 8;

/** Stores an image from the server. */
export function receiveImage(camera: number, bytes: Uint8Array): void {
  if (bytes.length < HEAD) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
  const width = view.getUint16(0, true);
  const height = view.getUint16(2, true);
  const pixels = bytes.subarray(HEAD);
  if (pixels.length !== 3 * width * height) return;
  pictures.set(camera, { width, height, pixels });
  announce("images");
}
