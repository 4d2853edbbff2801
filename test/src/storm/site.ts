import type { NodeProcess } from '@automation/launcher'
import type { RunningProduct } from '../fixtures/product.js'
import type { StoredRule } from './rule-book.js'
import type { TcpProxy } from './tcp-proxy.js'

export const provider = 'storm'
export const editorCount = 24

/** A place for a process, which is filled anew when the process is killed. */
export interface Slot {
  name: string
  /** Its own, to both servers; they stay when the process is replaced. */
  lines: { Postgres: TcpProxy; Redis: TcpProxy }
  process: NodeProcess
  /** Of an API: changes with each start. */
  baseUrl: string
  /** Kills it with -9 and starts the next one. Concurrent calls wait for the same restart. */
  replace(): Promise<void>
  /** Ends it in order, and starts the next one on the same port. @param entry of another version */
  exchange(entry?: string): Promise<void>
}

export interface StormWorkspace {
  id: string
  /** Of the provider whose webhooks it gets. */
  secretId: string
  signingKey: Buffer
}

/** Two APIs and two workers, each of which reaches Postgres and Redis over lines of its own that can be made bad. */
export interface Site {
  running: RunningProduct
  apis: Slot[]
  /** The API that alone gets signed webhooks; by default each of them does. */
  webhooksTo?: Slot
  workers: Slot[]
  workspaces: StormWorkspace[]
  /** Workspaces in which nothing happens, one for each editor. */
  desks: string[]
  rules: StoredRule[]
  /** The workspace that attacks. */
  hostile: { id: string; rules: StoredRule[] }
  /** Its rule makes a call that is never repeated (check-once.ts). */
  once: { id: string; rules: StoredRule[] }
  /** Its rules are switched off and on (check-switches.ts). */
  switched: { id: string; rules: StoredRule[] }
  /** Of a member of every workspace. */
  token: string
  /** Directory of what the processes print. */
  logs: string
  /** All directories that processes and servers write to. */
  directories: string[]
  /** Starts that came to nothing, and were tried again. */
  failedStarts: string[]
  /** Past the proxies, on a connection of its own: what counts in the end, and who ends all others. */
  query<Row extends object>(text: string): Promise<Row[]>
  stop(): Promise<void>
}
