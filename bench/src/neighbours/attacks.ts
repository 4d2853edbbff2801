import type { Rule } from '../workspace.js'
import type { Attack } from './attack.js'
import { prepareBy, rulesPath, task } from './attacker.js'
import { storedAttacks } from './stored-attacks.js'
import { strangerAttacks } from './stranger-attacks.js'

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
    async begin(workspace) {
      const { rules } = await prepareBy<{ rules: { id: string }[] }>(workspace, rulesPath)
      const path = `${rulesPath}/${rules[0]?.id}/execute?explain=true`
      return (attacker) =>
        attacker.repeat(50, () => attacker.post(path, { data: { text: letters }, dryRun: true }))
    },
  },
  {
    name: 'dry runs of hostile patterns on 4 KB',
    rules: [hostileRule],
    async begin(workspace) {
      const { rules } = await prepareBy<{ rules: { id: string }[] }>(workspace, rulesPath)
      const path = `${rulesPath}/${rules[0]?.id}/execute?explain=true`
      return (attacker) =>
        attacker.repeat(50, (n) =>
          attacker.post(path, { data: { text: letters.slice(n, 4_000 + n) }, dryRun: true }),
        )
    },
  },
  {
    name: 'events for hostile patterns',
    rules: Array.from({ length: 50 }, () => hostileRule),
    begin: async () => (attacker) =>
      attacker.repeat(50, (n) =>
        attacker.post(`${rulesPath}/trigger/LEAD_CREATED`, { data: { text: letters.slice(n, 4_000 + n) } }),
      ),
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
    begin: async () => (attacker) =>
      attacker.repeat(200, () => attacker.post(`${rulesPath}/trigger/LEAD_UPDATED`, { data: {} })),
  },
  {
    name: 'lists of 60 rules of 250 KB',
    rules: Array.from({ length: 60 }, (_, n) => ({
      name: `Large ${n}`,
      trigger: 'DEAL_WON',
      conditions: [{ field: 'x', operator: 'in', value: [`${n}`.padEnd(250_000, 'x')] }],
      actions: [task],
    })),
    begin: async () => (attacker) => attacker.repeat(20, () => attacker.send('GET', rulesPath)),
  },
  {
    name: '20 anonymous GET /docs/openapi.yaml a second',
    rules: [],
    begin:
      async ({ baseUrl }) =>
      (attacker) => {
        const anonymous = attacker.in({ baseUrl, headers: {} })
        return anonymous.repeat(50, () => anonymous.send('GET', '/docs/openapi.yaml'))
      },
  },
  {
    name: 'GET /readyz 100 times a second, and readers who do not read',
    rules: [],
    begin:
      async ({ baseUrl }) =>
      async (attacker) => {
        const anonymous = attacker.in({ baseUrl, headers: {} })
        await Promise.all([
          anonymous.repeat(10, () => anonymous.send('GET', '/readyz')),
          anonymous.repeat(1_000, () => anonymous.requestUnread('/docs/api/js/scalar.js', 8)),
        ])
      },
  },
  {
    name: 'events of a megabyte',
    rules: [
      {
        name: 'Long text',
        trigger: 'LEAD_UPDATED',
        conditions: [{ field: 'text', operator: 'contains', value: 'z' }],
        actions: [task],
      },
    ],
    begin: async () => {
      const data = { text: `${'x'.repeat(1_000_000)}z` }
      return (attacker) =>
        attacker.repeat(100, () => attacker.post(`${rulesPath}/trigger/LEAD_UPDATED`, { data }))
    },
  },
  {
    name: '200 events at once for 400 rules of 20 tasks',
    rules: Array.from({ length: 400 }, (_, n) => ({
      name: `Many ${n}`,
      trigger: 'LEAD_DELETED',
      conditions: [],
      actions: Array(20).fill(task),
    })),
    begin: async () => async (attacker) => {
      const events = Array.from({ length: 200 }, () => ({ data: {} }))
      await attacker.post(`${rulesPath}/trigger/LEAD_DELETED/batch`, { events })
      await attacker.wait()
    },
  },
  ...storedAttacks,
  ...strangerAttacks,
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
