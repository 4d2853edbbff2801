// Makes one file of the element that a product puts around a frame: the console serves it as /embed.js.
import { build } from 'esbuild'
import { findSource, root } from './sources.mjs'

await build({
  entryPoints: [findSource('@automation/client/embed').path],
  outfile: `${root}apps/console/dist/public/embed.js`,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  logLevel: 'warning',
})
