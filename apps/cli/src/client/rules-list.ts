import type { Command } from 'commander'
import { Type } from 'typebox'
import { formatTable } from '../format.js'
import { readAs } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { limitOption, takeFirst } from './take-first.js'
import { apiVariables, useApi } from './use-api.js'

const State = Type.Enum(['active', 'inactive'])

export function addRulesList(rules: Command): void {
  addCommand(rules, {
    name: 'list',
    description: 'List the rules, newest first, with their state and their counters.',
    example: '--trigger LEAD_CREATED --state active',
    reads: apiVariables,
  })
    .option('--trigger <type>', 'only rules that this event type triggers')
    .option('--state <state>', 'only active, or only inactive rules', readAs(State))
    .option('--text <text>', 'only rules whose name or description contains the text')
    .option(...limitOption)
    .action(list)
}

interface Options {
  trigger?: string
  state?: 'active' | 'inactive'
  text?: string
  limit: number
}

async function list({ trigger, state, text, limit }: Options, command: Command): Promise<void> {
  const query = {
    ...(trigger !== undefined && { eventType: trigger }),
    ...(state !== undefined && { isActive: state === 'active' }),
    ...(text !== undefined && { q: text }),
  }
  const rules = await useApi('read', (client) => takeFirst(limit, client.rules.list(query)))
  print(
    command,
    rules,
    formatTable(rules, ['id', 'name', 'trigger', 'isActive', 'successCount', 'failureCount']),
  )
}
