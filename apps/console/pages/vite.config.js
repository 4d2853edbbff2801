import { defineConfig } from 'vite'

/**
 * A file of typebox tries `new Function` to learn whether it may. The policy of the page forbids it, and the browser would report the
 * attempt, so the page has this instead.
 */
const neverEvaluates = {
  name: 'never-evaluates',
  load: (id) =>
    id.endsWith('/system/environment/evaluate.mjs')
      ? "export const CanEvaluate = () => false\nexport function Evaluate() { throw new Error('Text is never run as code here') }"
      : undefined,
}

/** Without any package of a plugin: JSX is compiled by Vite itself, and its parts are Preact's. */
export default defineConfig({
  plugins: [neverEvaluates],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/public',
    emptyOutDir: true,
    target: 'es2023',
    // The page may show both colours at once, so light-dark() stays as it is.
    cssTarget: ['chrome125', 'firefox130', 'safari18'],
    // A data: URL would be another kind of source, and the policy of the page lists as few as possible.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What most screens share is one file: by itself each set of screens that share something would be another one.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'shared', test: /pages\/(state|parts|logic)\//, minShareCount: 5 }],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3003', '/session': 'http://127.0.0.1:3003' } },
})
