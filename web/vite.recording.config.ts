import { defineConfig, type Plugin } from "vite";

/** Puts script and style into the page itself: it is opened from disk, where nothing can be loaded. */
function inOneFile(): Plugin {
  return {
    name: "in-one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["recording.html"];
      if (page?.type !== "asset") throw new Error("recording.html was not built.");
      let text = String(page.source);
      for (const [name, item] of Object.entries(bundle)) {
        const own = name.replaceAll(".", "\\.");
        if (item.type === "chunk") {
          const code = item.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          const tag = new RegExp(`<script[^>]*src="[^"]*${own}"[^>]*></script>`);
          text = text.replace(tag, "");
          text = text.replace("</body>", () => `<script type="module">${code}</script></body>`);
          Reflect.deleteProperty(bundle, name);
        } else if (name.endsWith(".css")) {
          const tag = new RegExp(`<link[^>]*href="[^"]*${own}"[^>]*>`);
          text = text.replace(tag, () => `<style>${String(item.source)}</style>`);
          Reflect.deleteProperty(bundle, name);
        }
      }
      page.source = text;
    },
  };
}

/** The page of a recording, beside the studio's client. */
export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [inOneFile()],
  build: {
    outDir: "../src/linkwork/studio/static",
    emptyOutDir: false,
    target: "es2023",
    chunkSizeWarningLimit: 2000,
    cssCodeSplit: false,
    assetsInlineLimit: 1e8,
    modulePreload: false,
    rolldownOptions: { input: "recording.html", output: { codeSplitting: false } },
  },
});
