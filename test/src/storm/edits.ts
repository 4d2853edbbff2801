import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './ask.js'
import { createRandom, type Random } from './random.js'
import { editorCount, type Site } from './site.js'

/** An edit with a successful response. */
export type AcknowledgedEdit =
  | { kind: 'rule'; id: string; version: number; description: string }
  | { kind: 'key'; id: string }
  | { kind: 'replay'; id: string; replayOf: string }

/** Changes of one member's role, in their order: those that were accepted, and those without an answer. */
export interface RoleChange {
  role: string
  isAccepted: boolean
}

/** When its response came (epoch ms). */
export type Dated<Change> = Change & { at: number }

export interface Edits {
  acknowledged: Dated<AcknowledgedEdit>[]
  /** By workspace and user. */
  roles: Map<string, Dated<RoleChange>[]>
  /** Waits for the calls under way. */
  stop(): Promise<void>
}

/** For each API; each has a workspace of its own, so that none waits for another's transaction. */
const editors = editorCount / 2
const pauseMs = [100, 750] as const
/** Editors are people: who was refused does not ask again at once. What went wrong meanwhile is not covered up by the next change. */
const afterFailureMs = [5_000, 30_000] as const
/** A workspace may have 1,000 rules and 100 keys. */
const most = { rules: 40, keys: 12 }
const actions = [{ type: 'CREATE_TASK', config: { title: 'Never' } }]
const path = '/api/automation-rules'

/**
 * Editors who change rules, issue keys, appoint members and replay events, one after the other, all through the storm, each at
 * one API. No event has the trigger of their rules.
 *
 * @param findReplayable the id of an event that was accepted, and that calls nobody
 */
export function startEdits(
  site: Site,
  seed: number,
  findReplayable: (random: Random) => { id: string; workspaceId: string } | undefined,
): Edits {
  const acknowledged: Edits['acknowledged'] = []
  const roles: Edits['roles'] = new Map()
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const running = site.apis.flatMap((_, api) =>
    Array.from({ length: editors }, (_, editor) => edit(api, api * editors + editor)),
  )
  return {
    acknowledged,
    roles,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }

  function note(edit: AcknowledgedEdit): void {
    acknowledged.push({ ...edit, at: Date.now() })
  }

  async function edit(api: number, editor: number): Promise<void> {
    const random = createRandom(seed, -100_000 - editor)
    const workspaceId = site.desks[editor] ?? ''
    const rules: string[] = []
    let keys = 0
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const isWell = await makeOne(turn).catch(() => false)
      const [least, most] = isWell ? pauseMs : afterFailureMs
      const pause = random.between(least, most)
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }

    async function makeOne(turn: number): Promise<boolean> {
      const what = random.pick(['create', 'update', 'update', 'update', 'key', 'member', 'replay'] as const)
      if (what === 'create' && rules.length < most.rules) return createRule(`${editor} ${turn}`)
      if (what === 'key' && keys < most.keys) return issueKey()
      if (what === 'member') return appoint()
      if (what === 'replay') return replay()
      return updateRule(`${editor} ${turn}`)
    }

    async function createRule(description: string): Promise<boolean> {
      const rule = { name: 'Edited', description, trigger: 'TASK_OVERDUE', actions }
      const answer = await call('POST', path, rule)
      if (answer?.status !== 201) return answer !== undefined
      rules.push(answer.body.id)
      note({ kind: 'rule', id: answer.body.id, version: answer.body.version, description })
      return true
    }

    async function updateRule(description: string): Promise<boolean> {
      const id = rules.length === 0 ? undefined : random.pick(rules)
      if (id === undefined) return true
      const answer = await call('PUT', `${path}/${id}`, { description })
      if (answer?.status === 200) note({ kind: 'rule', id, version: answer.body.version, description })
      return answer !== undefined
    }

    async function issueKey(): Promise<boolean> {
      keys += 1
      const key = { name: `Editor ${editor}`, scopes: ['rules:read'] }
      const answer = await call('POST', '/api/developer/v1/api-keys', key)
      if (answer?.status === 201) note({ kind: 'key', id: answer.body.id })
      return answer !== undefined
    }

    /** Each editor has a member of its own, so that the last of its changes is the last. */
    async function appoint(): Promise<boolean> {
      const userId = `editor-${editor}`
      const role = random.pick(['viewer', 'operator', 'editor'] as const)
      const change = { role, isAccepted: false, at: Date.now() }
      const known = roles.get(`${workspaceId} ${userId}`) ?? []
      roles.set(`${workspaceId} ${userId}`, [...known, change])
      const answer = await call('PUT', `/api/developer/v1/members/${userId}`, { role })
      change.isAccepted = answer?.status === 200 || answer?.status === 201
      change.at = Date.now()
      return change.isAccepted
    }

    async function replay(): Promise<boolean> {
      const event = findReplayable(random)
      if (event === undefined) return true
      const headers = { prefer: 'respond-async', 'x-workspace-id': event.workspaceId }
      const answer = await call('POST', `/api/events/${event.id}/replay`, undefined, headers)
      if (answer?.status === 202) note({ kind: 'replay', id: answer.body.id, replayOf: event.id })
      return answer !== undefined
    }

    function call(method: string, where: string, body?: object, headers?: Record<string, string>) {
      return ask(site, { api, workspaceId }, method, where, body, headers)
    }
  }
}
