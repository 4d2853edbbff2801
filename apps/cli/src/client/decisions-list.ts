import type { Command } from 'commander'
import { formatTable } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { limitOption, takeFirst } from './take-first.js'
import { apiVariables, useApi } from './use-api.js'

export function addDecisionsList(decisions: Command): void {
  addCommand(decisions, {
    name: 'list',
    description: 'List what executions wait for a person to decide, or have waited for.',
    example: '--status open',
    reads: apiVariables,
  })
    .option('--status <status>', 'only those that are open, decided, expired or closed')
    .option('--rule <id>', 'only decisions of this rule', readId)
    .option(...limitOption)
    .action(list)
}

interface Options {
  status?: string
  rule?: string
  limit: number
}

async function list({ status, rule, limit }: Options, command: Command): Promise<void> {
  const query = {
    ...(status !== undefined && { status }),
    ...(rule !== undefined && { ruleId: rule }),
  }
  const decisions = await useApi('read', (client) => takeFirst(limit, client.decisions.list(query)))
  print(
    command,
    decisions,
    formatTable(decisions, ['id', 'ruleName', 'status', 'options', 'until', 'choice', 'by']),
  )
}
