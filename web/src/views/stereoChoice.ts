import { arrange, type Stereo } from "../app/layout";

export const STEREO: Stereo[] = ["none", "anaglyph", "side by side", "interlaced"];

export const STEREO_TITLES: Record<Stereo, string> = {
  none: "Mono",
  anaglyph: "Anaglyph, red and cyan",
  "side by side": "Side by side",
  interlaced: "Interlaced rows",
};

/** Stereo uses the whole canvas: the perspective view alone. */
export function chooseStereo(stereo: Stereo): void {
  arrange({
    stereo,
    ...(stereo === "none" ? {} : { four: false, active: "perspective" as const }),
  });
}
