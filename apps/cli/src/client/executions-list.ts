import type { Command } from 'commander'
import { formatTable } from '../format.js'
import { readId } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { limitOption, takeFirst } from './take-first.js'
import { apiVariables, useApi } from './use-api.js'

export function addExecutionsList(executions: Command): void {
  addCommand(executions, {
    name: 'list',
    description: 'List the executions, those of the newest event first.',
    example: '--status failed --limit 10',
    reads: apiVariables,
  })
    .option(
      '--status <statuses>',
      'comma-separated list of pending, running, waiting, retrying, succeeded, failed, cancelled, suppressed, not_matched',
    )
    .option('--rule <id>', 'only executions of this rule', readId)
    .option('--event <id>', 'only executions of this event', readId)
    .option('--type <type>', 'only executions for events of this type')
    .option(...limitOption)
    .action(list)
}

interface Options {
  status?: string
  rule?: string
  event?: string
  type?: string
  limit: number
}

async function list({ status, rule, event, type, limit }: Options, command: Command): Promise<void> {
  const query = {
    ...(status !== undefined && { status }),
    ...(rule !== undefined && { ruleId: rule }),
    ...(event !== undefined && { eventId: event }),
    ...(type !== undefined && { eventType: type }),
  }
  const executions = await useApi('read', (client) => takeFirst(limit, client.executions.list(query)))
  print(
    command,
    executions,
    formatTable(executions, ['id', 'ruleId', 'eventType', 'status', 'waitsFor', 'startedAt', 'error']),
  )
}
