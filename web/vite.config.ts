import { defineConfig } from "vite";

/** The build goes into the Python package, which serves it. */
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/linkwork/studio/static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 900,
  },
  server: {
    proxy: {
      "/api": "http://127.0.0.1:8642",
      "/ws": { target: "ws://127.0.0.1:8642", ws: true },
    },
  },
});
