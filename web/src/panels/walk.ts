import type { SceneMessage } from "../protocol/messages";

/** Horizontal position in the world [m]. */
export type Spot = [number, number];

/** Final distance of a person to the outermost body, and initial distance [m]. */
const NEAR = 0.7;
const FAR = 3;

/** A path into the cell: from well outside the bodies to their edge, along x. */
export function entryPath(scene: SceneMessage, poses: Float32Array): { enters: Spot; to: Spot } {
  const all = scene.bodies.map((body, number) => ({
    body,
    x: poses[7 * number] ?? 0,
    y: poses[7 * number + 1] ?? 0,
  }));
  const robots = all.filter(({ body }) => !body.static && !isVisitor(body.part));
  const standing = robots.length > 0 ? robots : all.slice(0, 1);
  const ys = standing.map(({ y }) => y);
  const edge = Math.max(...standing.map(({ x }) => x));
  const middle = round((Math.min(...ys) + Math.max(...ys)) / 2);
  return { enters: [round(edge + FAR), middle], to: [round(edge + NEAR), middle] };
}

/** Whether a part is a person that the studio added. */
function isVisitor(part: string): boolean {
  return /^visitor(_\d+)?$/.test(part);
}

const round = (value: number): number => Math.round(10 * value) / 10 + 0;

export const spotText = (spot: Spot): string => spot.join(", ");

/** Two numbers as text: `1.5, -2` or `1.5 -2`. */
export function readSpot(text: string, label: string): Spot {
  const words = text
    .trim()
    .replaceAll("−", "-")
    .split(/\s*[,;]\s*|\s+/);
  const [x, y] = words.map(Number);
  if (words.length !== 2 || words.includes("") || !Number.isFinite(x) || !Number.isFinite(y))
    throw new Error(`${label} takes x and y in meters, as 1.5, -2, not “${text}”.`);
  return [x!, y!];
}
