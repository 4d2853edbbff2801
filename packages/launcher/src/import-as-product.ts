import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

// The file that the process runs. A thread has another first argument.
const entryKey = 'automation.entry'
if (isMainThread) setEnvironmentData(entryKey, process.argv[1] ?? '')

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
  const bundled = new URL(`./modules/${name}.js`, pathToFileURL(String(getEnvironmentData(entryKey))))
  const { default: module } = existsSync(bundled) ? await import(bundled.href) : await fromModules()
  return module
}
