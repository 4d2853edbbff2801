import { fileURLToPath } from 'node:url'

/** Bundles start in half the time, and only `npm run build` makes them: who compiles with tsc alone runs the modules. */
const form = process.env.USE_BUNDLES ? 'bundle' : 'src'

/** The files that start the processes of the product. */
export const entries = {
  api: pathOf(`api/dist/${form}/server.js`),
  worker: pathOf(`worker/dist/${form}/main.js`),
  board: pathOf('board/dist/src/server.js'),
  console: pathOf('console/dist/src/server.js'),
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../../../../apps/${file}`, import.meta.url))
}
