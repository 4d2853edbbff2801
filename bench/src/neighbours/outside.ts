import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { oneTask, type Rule } from '../workspace.js'
import type { Attack } from './attack.js'

export interface Outside {
  /** Of the product, for the server. */
  settings: Record<string, string>
  quietRules: Rule[]
  close(): Promise<void>
}

/** Starts the server outside, if the attack has one. */
export async function openOutside({ outside, quietRules }: Attack): Promise<Outside> {
  const server = outside?.server().listen(0, '127.0.0.1')
  if (server === undefined || outside === undefined)
    return { settings: {}, quietRules: oneTask, async close() {} }
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    settings: outside.settingsFor(port),
    quietRules: quietRules?.(port) ?? oneTask,
    async close() {
      server.close()
    },
  }
}
