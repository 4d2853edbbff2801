import { setTimeout as delay } from 'node:timers/promises'
import type { Rule } from '../workspace.js'
import type { Attack } from './attack.js'
import { drain, get, post, repeat, rulesPath, task } from './hostile-requests.js'
import { storedAttacks } from './stored-attacks.js'

/** Letters for which an automaton builds a new state at each step. */
const letters = lettersOf(99_000)
/** Of 405 to 454 instructions each, which is what a rule may have together. */
const widePatterns = Array.from({ length: 11 }, (_, n) => ({
  field: 'text',
  operator: 'matches',
  value: `(?i)a[ab]{${400 + n}}[cd]`,
}))
const hostileRule: Rule = {
  name: 'Hostile patterns',
  trigger: 'LEAD_CREATED',
  conditions: [{ any: widePatterns }] as never,
  actions: [task],
}

export const attacks: Attack[] = [
  {
    name: 'dry runs of hostile patterns on 99 KB',
    rules: [hostileRule],
    async run(workspace, signal) {
      const { rules } = (await get(workspace, rulesPath)) as { rules: { id: string }[] }
      const path = `${rulesPath}/${rules[0]?.id}/execute?explain=true`
      await repeat(signal, 50, () => post(workspace, path, { data: { text: letters }, dryRun: true }))
    },
  },
  {
    name: 'dry runs of hostile patterns on 4 KB',
    rules: [hostileRule],
    async run(workspace, signal) {
      const { rules } = (await get(workspace, rulesPath)) as { rules: { id: string }[] }
      const path = `${rulesPath}/${rules[0]?.id}/execute?explain=true`
      await repeat(signal, 50, (n) =>
        post(workspace, path, { data: { text: letters.slice(n, 4_000 + n) }, dryRun: true }),
      )
    },
  },
  {
    name: 'events for hostile patterns',
    rules: Array.from({ length: 50 }, () => hostileRule),
    async run(workspace, signal) {
      await repeat(signal, 50, (n) =>
        post(workspace, `${rulesPath}/trigger/LEAD_CREATED`, { data: { text: letters.slice(n, 4_000 + n) } }),
      )
    },
  },
  {
    name: 'a rule that emits its own type 20 times',
    rules: [
      {
        name: 'Flood',
        trigger: 'LEAD_UPDATED',
        conditions: [],
        actions: Array(20).fill({
          type: 'EMIT_EVENT',
          config: { eventType: 'LEAD_UPDATED', data: {} },
          continueOnError: true,
        }),
      },
    ],
    async run(workspace, signal) {
      await repeat(signal, 200, () => post(workspace, `${rulesPath}/trigger/LEAD_UPDATED`, { data: {} }))
    },
  },
  {
    name: 'lists of 60 rules of 250 KB',
    rules: Array.from({ length: 60 }, (_, n) => ({
      name: `Large ${n}`,
      trigger: 'DEAL_WON',
      conditions: [{ field: 'x', operator: 'in', value: [`${n}`.padEnd(250_000, 'x')] }],
      actions: [task],
    })),
    async run(workspace, signal) {
      await repeat(signal, 20, () => drain(workspace, rulesPath))
    },
  },
  {
    name: '20 anonymous GET /docs/openapi.yaml a second',
    rules: [],
    async run({ baseUrl }, signal) {
      await repeat(signal, 50, () => drain({ baseUrl, headers: {} }, '/docs/openapi.yaml'))
    },
  },
  {
    name: '200 events at a time for 400 rules of 20 tasks',
    rules: Array.from({ length: 400 }, (_, n) => ({
      name: `Many ${n}`,
      trigger: 'LEAD_DELETED',
      conditions: [],
      actions: Array(20).fill(task),
    })),
    async run(workspace, signal) {
      const events = Array.from({ length: 200 }, () => ({ data: {} }))
      await post(workspace, `${rulesPath}/trigger/LEAD_DELETED/batch`, { events })
      await delay(60_000, undefined, { signal }).catch(() => {})
    },
  },
  ...storedAttacks,
]

/** A text of the letters a and b, from a fixed seed. */
function lettersOf(length: number): string {
  let state = 12_345
  let text = ''
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += (state >> 16) & 1 ? 'a' : 'b'
  }
  return text
}
