import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// A thread inherits the environment, and has another first argument.
if (isMainThread) process.env.PRODUCT_ENTRY = process.argv[1]

/**
 * Imports a CommonJS module as the process that starts has it, for code that `--import` loads before an API or a worker, and that makes the
 * module fail at chosen points. A bundle has modules of its own: scripts/bundle.mjs names those that can be imported.
 *
 * @param fromModules the import in a process that runs without a bundle
 */
export async function importAsProduct<Module>(
  name: string,
  fromModules: () => Promise<{ default: Module }>,
): Promise<Module> {
  const bundled = new URL(`./modules/${name}.js`, pathToFileURL(process.env.PRODUCT_ENTRY ?? ''))
  const { default: module } = existsSync(bundled) ? await import(bundled.href) : await fromModules()
  return module
}
