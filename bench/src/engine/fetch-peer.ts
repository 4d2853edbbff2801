import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CannotStart } from '@automation/launcher'

/** What is called of json-rules-engine. */
export interface Peer {
  Engine: new (rules: object[]) => { run(facts?: Record<string, unknown>): Promise<{ events: unknown[] }> }
}

const name = 'json-rules-engine'
const version = '7.3.1'

/**
 * Returns json-rules-engine, which no installation of the project has: npm installs it when a benchmark first asks for it.
 *
 * @throws CannotStart if npm cannot install it
 */
export async function fetchPeer(): Promise<Peer> {
  const directory = fileURLToPath(new URL(`../../peers/${name}-${version}/`, import.meta.url))
  // npm writes this file at its end.
  if (!existsSync(`${directory}node_modules/.package-lock.json`)) {
    await mkdir(directory, { recursive: true })
    const args = ['install', '--prefix', directory, '--no-save', '--ignore-scripts', `${name}@${version}`]
    await promisify(execFile)('npm', args).catch((error: Error) => {
      throw new CannotStart(`npm cannot install ${name}, with which the engine is compared: ${error.message}`)
    })
  }
  return createRequire(directory)(name) as Peer
}
