import { defineConfig } from "vite";
import { licenses } from "./licenses.js";

const collect = licenses("licenses.md");

export default defineConfig({
  // Relative addresses: the page works under any prefix.
  base: "./",
  plugins: [collect.page],
  worker: { plugins: () => [collect.worker] },
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    sourcemap: false,
    // Every browser that runs the rest of the bundle preloads modules itself.
    modulePreload: { polyfill: false },
    // Monaco's core is one chunk, larger than the default limit of 500 kB.
    chunkSizeWarningLimit: 2000,
    // "use client" means nothing outside a React server.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
