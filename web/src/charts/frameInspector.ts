import { busList, type LogLine } from "../app/buses";
import { formatSI } from "../app/numbers";
import { store } from "../app/store";
import { iconButton } from "../ui/button";
import { h } from "../ui/dom";
import type { FrameView } from "../protocol/messages";
import { bitAt, placeWords, readSignals, type Read } from "./bitLayout";

/** Colors of signals in turn, of the charts' palette. */
const COLORS = ["var(--accent)", "var(--chart3)", "var(--chart4)", "var(--ok)", "var(--force)"];

/** A frame of the log, byte by byte and bit by bit: bits by signal, raw and physical values. */
export class FrameInspector {
  readonly element = h("section", {
    class: "frame-inspector scroll",
    role: "region",
    "aria-live": "polite",
    hidden: true,
  });

  constructor(private readonly close: () => void) {}

  show(line: LogLine | null): void {
    this.element.hidden = line === null;
    if (!line) return this.element.replaceChildren();
    const form = formOf(line);
    const data = bytesOf(line);
    const title = line.kind === "note" ? "Note" : `Frame 0x${line.address}`;
    this.element.setAttribute("aria-label", title);
    const read = form ? readSignals(form.signals, data) : [];
    this.element.replaceChildren(
      h(
        "header",
        {},
        h("b", {}, title),
        h("span", {}, [form?.name, `${line.time.toFixed(4)} s`].filter(Boolean).join(", ")),
        iconButton("close", "Close the frame", this.close, "small"),
      ),
      ...(data.length > 0 ? [bitTable(data, read)] : []),
      ...(read.length > 0 ? [signalTable(read)] : []),
      ...words(line, form, data, read).map((text) => h("p", { class: "frame-word" }, text)),
    );
  }
}

/** The layout of a frame: that of its direction takes precedence over that of both. */
function formOf({ bus, address, way }: LogLine): FrameView | null {
  const known = busList().find(({ name }) => name === bus)?.frames ?? [];
  const fitting = known.filter((form) => form.address === address);
  return (
    fitting.find((form) => form.way === way) ??
    fitting.find((form) => form.way === "") ??
    // Another node on the bus may send our frames too: the bits have the same meaning.
    fitting[0] ??
    null
  );
}

function bytesOf({ data }: LogLine): number[] {
  return data === "" ? [] : data.split(" ").map((byte) => parseInt(byte, 16));
}

function words(line: LogLine, form: FrameView | null, data: number[], read: Read[]): string[] {
  const found: string[] = [];
  if (line.mark) found.push(`Affected by a fault: ${line.mark}.`);
  if (line.kind === "note" || data.length === 0) found.push(line.text);
  else if (!form) found.push("No port or DBC file defines this frame.");
  else if (read.length < form.signals.filter(({ parent }) => !parent).length)
    found.push(`${data.length} of ${form.length} bytes: the rest is missing.`);
  return found;
}

function colorOf(read: Read[], place: number): string {
  const owner = read.findIndex(({ positions }) => positions.includes(place));
  return owner < 0 ? "" : COLORS[owner % COLORS.length]!;
}

/** A row for each byte: its number, its value, and its bits from the highest to the lowest. */
function bitTable(data: number[], read: Read[]): HTMLElement {
  const bits = [7, 6, 5, 4, 3, 2, 1, 0];
  const cell = (byte: number, bit: number): HTMLElement => {
    const place = 8 * byte + bit;
    const color = colorOf(read, place);
    const name = read.find(({ positions }) => positions.includes(place))?.signal.name;
    return h(
      "td",
      {
        class: color ? "bit owned" : "bit",
        style: color ? `--signal: ${color}` : "",
        title: name ? `${name}, bit ${place}` : `bit ${place}`,
        "data-bit": String(place),
      },
      String(bitAt(data, place)),
    );
  };
  return h(
    "table",
    { class: "bit-table", "aria-label": "Bits" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "byte"),
        h("th", { scope: "col" }, "hex"),
        ...bits.map((bit) => h("th", { scope: "col" }, String(bit))),
      ),
    ),
    h(
      "tbody",
      {},
      ...data.map((byte, number) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, String(number)),
          h("td", {}, h("code", {}, byte.toString(16).toUpperCase().padStart(2, "0"))),
          ...bits.map((bit) => cell(number, bit)),
        ),
      ),
    ),
  );
}

function signalTable(read: Read[]): HTMLElement {
  return h(
    "table",
    { class: "bit-signals", "aria-label": "Signals of the frame" },
    h(
      "tbody",
      {},
      ...read.map((each, number) =>
        h(
          "tr",
          { "data-signal": each.signal.name },
          h(
            "th",
            { scope: "row", title: each.signal.name },
            h("span", {
              class: "bit-swatch",
              style: `--signal: ${COLORS[number % COLORS.length]}`,
            }),
            each.signal.name,
          ),
          h("td", { class: "bit-value" }, valueWords(each)),
          h(
            "td",
            { class: "bit-about" },
            [placeWords(each.positions), each.signal.big_endian ? "Motorola" : "Intel"].join(", "),
          ),
          h("td", { class: "bit-sum" }, sumWords(each)),
        ),
      ),
    ),
  );
}

function valueWords({ signal, raw, value }: Read): string {
  const word = signal.words[String(raw)];
  if (word !== undefined) return word;
  const shown = formatSI(value, signal.unit, store.degrees);
  return /^(rad|m$)/.test(signal.unit) || signal.unit === ""
    ? shown
    : `${short(value)} ${signal.unit}`;
}

/** Computation of the value: `3072 × 0.000767 − 1.571 = 0.7858 rad`. */
function sumWords({ signal, raw, value }: Read): string {
  const { scale, offset, unit } = signal;
  const rawWords = typeof raw === "bigint" ? `raw ${raw}` : `raw ${short(raw)}`;
  if (scale === 1 && offset === 0) return rawWords;
  const plus = offset === 0 ? "" : ` ${offset < 0 ? "−" : "+"} ${short(Math.abs(offset))}`;
  return `${rawWords} × ${short(scale)}${plus} = ${short(value)} ${unit}`.trim();
}

const short = (value: number): string => String(Number(value.toPrecision(4))).replace("-", "−");
