import { fileURLToPath } from 'node:url'

/** Bundles start in half the time. A test that compiles a file or two runs the modules. */
let form = process.env.USE_BUNDLES ? 'bundle' : 'src'

/** The files that start the processes of the product. */
export const entries = {
  get api() {
    return pathOf(`api/dist/${form}/server.js`)
  },
  get worker() {
    return pathOf(`worker/dist/${form}/main.js`)
  },
  get board() {
    return pathOf(`board/dist/${form}/server.js`)
  },
  get console() {
    return pathOf(`console/dist/${form}/server.js`)
  },
}

/** What starts from now on starts from modules: an edit compiles them one by one, and no bundle. */
export function useModules(): void {
  form = 'src'
}

/** A file of rules with their tests. */
export const exampleRules = fileURLToPath(new URL('../../../../examples/rules.yaml', import.meta.url))
/** The program that compiles again what an edit has changed. */
export const watcher = fileURLToPath(new URL('../../../../scripts/watch.mjs', import.meta.url))

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../../../../apps/${file}`, import.meta.url))
}
