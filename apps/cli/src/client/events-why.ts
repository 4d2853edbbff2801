import type { Client, EventWhy } from '@automation/client'
import type { Command } from 'commander'
import { formatValue, maskControls } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { formatRules } from './format-why.js'
import { limitOption, readRows } from './read-rows.js'
import { apiVariables, useApi } from './use-api.js'

export function addEventsWhy(events: Command): void {
  addCommand(events, {
    name: 'why',
    description:
      'Explain why each rule matched an event or not: the result, the conditions that decided it, and the nearest data with which the rule would have matched. Rules that matched come first, then the nearest.',
    example: exampleId,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the event', readId)
    .option('--rule <id>', 'only this rule, even if it was not considered', readId)
    .option(...limitOption)
    .action(explain)
}

async function explain(
  id: string,
  { rule, limit }: { rule?: string; limit: number },
  command: Command,
): Promise<void> {
  const [why, { results }] = await useApi('read', (client) =>
    Promise.all([readWhy(client, id, rule, limit), client.events.get(id)]),
  )
  print(command, why, `${formatHead(why)}\n\n${formatRules(why.rules, results, why.isPending)}`)
}

function formatHead({ eventId, type, judgedAt, quarantineReason, isPending }: Omit<EventWhy, 'nextCursor'>) {
  const moment = judgedAt === null ? 'not evaluated' : `evaluated at ${formatValue(judgedAt)}`
  const state = isPending ? 'not evaluated yet' : moment
  const reason = quarantineReason === undefined ? '' : `\nIt is quarantined: ${quarantineReason}`
  return maskLines(`Event ${eventId}, ${type}, ${state}${reason}`)
}

const maskLines = (text: string) => text.split('\n').map(maskControls).join('\n')

async function readWhy(
  client: Client,
  id: string,
  ruleId: string | undefined,
  limit: number,
): Promise<Omit<EventWhy, 'nextCursor'>> {
  const pages: EventWhy[] = []
  const rules = await readRows(async (page) => {
    pages.push(await client.events.why(id, { ...(ruleId !== undefined && { ruleId }), ...page }))
    return pages.at(-1)
  }, limit)
  const { nextCursor: _, ...event } = pages[0] as EventWhy
  return { ...event, rules: rules as unknown as EventWhy['rules'] }
}
