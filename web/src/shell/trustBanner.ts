import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import type { TrustPrograms, UntrustedProgram } from "../protocol/messages";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { driving } from "../ui/driving";

/** Names the programs that do not run until the driver trusts them, and shows their code. */
export function trustBanner(): HTMLElement {
  const banner = h("section", {
    class: "shell-banner trust-banner",
    "aria-label": "Untrusted programs",
  });
  let shown: readonly UntrustedProgram[] = [];
  const draw = (): void => {
    const programs = store.scene?.untrusted ?? [];
    banner.hidden = programs.length === 0;
    if (sameCode(programs, shown) && banner.childElementCount > 0) return;
    shown = programs;
    banner.replaceChildren(...(programs.length > 0 ? content(programs) : []));
  };
  on("scene", draw);
  draw();
  return banner;
}

function sameCode(a: readonly UntrustedProgram[], b: readonly UntrustedProgram[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function content(programs: readonly UntrustedProgram[]): HTMLElement[] {
  const what = store.scene?.replay ? "This recording" : "This scene";
  const names = programs.map((each) => each.file || each.agent).join(", ");
  const trust =
    (how: TrustPrograms["how"], chosen = programs) =>
    () =>
      command({ type: "trust", how, programs: chosen.map((each) => each.key) });
  const choices = [
    button("Trust once", trust("once")),
    button("Trust this content", trust("content")),
  ];
  const inFolders = programs.filter((each) => each.folder !== "");
  if (inFolders.length > 0) choices.push(button("Trust the folder", trust("folder", inFolders)));
  return [
    h(
      "p",
      { role: "status" },
      programs.every((each) => each.replaces)
        ? `Changed code that nobody has trusted: ${names}. The version before runs on.`
        : `${what} brings code that nobody has trusted, and is shown without it: ${names}.`,
    ),
    driving(...choices),
    h(
      "details",
      {},
      h("summary", {}, "Show the code"),
      ...programs.flatMap((each) => [
        h("h3", {}, each.file || each.agent),
        ...(each.modules.length > 0
          ? [h("p", {}, `Files that it can import: ${each.modules.join(", ")}.`)]
          : []),
        h("pre", { tabindex: "0" }, each.text),
      ]),
    ),
  ];
}
