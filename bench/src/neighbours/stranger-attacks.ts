import { setTimeout as delay } from 'node:timers/promises'
import { createDecisionTokens } from '@automation/access'
import type { Product } from '@automation/launcher'
import type { Rule, Workspace } from '../workspace.js'
import type { Attack } from './attack.js'
import { prepareBy, rulesPath, task } from './attacker.js'

const decisions = 150
const eventsOfBatch = 50

/** Each is cut within a character somewhere, or Postgres cannot store it. */
const oddTexts = [
  ...[60, 256, 1_000].map((length) => `${'a'.repeat(length - 1)}😀 and more`),
  ...['\ud83d', 'x\ude00y', 'a\0b'],
]

export const decisionRule: Rule = {
  name: 'Decision',
  trigger: 'LEAD_UPDATED',
  conditions: [],
  actions: [{ type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '1d' } } }, task],
}

/** What people do to a workspace who are none of its members: they fill in its forms, and have its links. */
export const strangerAttacks: Attack[] = [
  {
    name: 'texts that Postgres refuses, as keys and in tasks',
    rules: [
      {
        name: 'Odd texts',
        trigger: 'LEAD_UPDATED',
        conditions: [],
        actions: [
          { type: 'CREATE_TASK', config: { title: '{{text | truncate:60}}', description: '{{text}}' } },
        ],
        perKey: { key: '{{text}}', atMost: { runs: 1, per: '7d' } },
      },
    ],
    begin: async () => (attacker) =>
      attacker.repeat(50, (n) => {
        const data = { text: oddTexts[n % oddTexts.length] }
        return attacker.post(`${rulesPath}/trigger/LEAD_UPDATED`, { data })
      }),
  },
  {
    name: `200 GETs a second of the links of ${decisions} decisions`,
    rules: [decisionRule],
    gatherLinks: (workspace, { product }) => askDecisions(workspace, product, decisions),
    begin:
      async ({ baseUrl }, links) =>
      (attacker) => {
        const stranger = attacker.in({ baseUrl, headers: {} })
        return stranger.repeat(5, (n) => stranger.send('GET', links[n % links.length] ?? ''))
      },
  },
]

/** Makes a workspace with that rule ask for decisions. @returns the path of a link to each */
export async function askDecisions(
  workspace: Workspace,
  { encryptionKey }: Product,
  count: number,
): Promise<string[]> {
  const { id: workspaceId } = workspace
  for (let begun = 0; begun < count; begun += eventsOfBatch) {
    const events = Array.from({ length: Math.min(eventsOfBatch, count - begun) }, () => ({ data: {} }))
    await prepareBy(workspace, `${rulesPath}/trigger/LEAD_UPDATED/batch`, { events })
  }
  const path = `/api/decisions?limit=${count}`
  const tokens = createDecisionTokens(encryptionKey)
  for (;;) {
    const { decisions } = await prepareBy<{ decisions: { id: string }[] }>(workspace, path)
    if (decisions.length === count)
      return decisions.map(({ id: executionId }) => {
        const token = tokens.make({ workspaceId, executionId })
        return `/decide/${workspaceId}/${executionId}/${token}/approve`
      })
    await delay(500)
  }
}
