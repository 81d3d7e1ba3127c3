import { describe, expect, it } from "vitest";
import { hex } from "../src/app/buses";

describe("hex", () => {
  it("writes a code as its bits are on the wire, negative ones as two's complement", () => {
    expect(hex(0xc00, 12)).toBe("0xC00");
    expect(hex(5, 10)).toBe("0x005");
    expect(hex(-0x0edc, 16)).toBe("0xF124");
    expect(hex(-1, 52)).toBe("0xFFFFFFFFFFFFF");
  });
});
