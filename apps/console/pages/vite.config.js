import { defineConfig } from 'vite'

/** Plain: no plugin. JSX is compiled by Vite itself, and its parts are Preact's. */
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/public',
    emptyOutDir: true,
    target: 'es2023',
    // A data: URL would be another kind of source, and the policy of the page lists as few as possible.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3003', '/session': 'http://127.0.0.1:3003' } },
})
