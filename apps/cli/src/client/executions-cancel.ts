import type { Command } from 'commander'
import { usageError } from '../command-error.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

export function addExecutionsCancel(executions: Command): void {
  addCommand(executions, {
    name: 'cancel',
    description:
      'Cancel an execution that has not ended, or with a filter those that wait or retry: they are counted first. What you cancel cannot be retried: replay its event.',
    example: `--rule ${exampleId} --yes`,
    reads: apiVariables,
    exits: ['declined'],
  })
    .argument('[id]', 'id of the execution', readId)
    .option('--rule <id>', 'instead of an id: the executions of this rule', readId)
    .option('--type <type>', 'instead of an id: the executions for events of this type')
    .option(...yesOption)
    .action(cancel)
}

interface CancelOptions {
  rule?: string
  type?: string
}

async function cancel(
  id: string | undefined,
  { rule, type }: CancelOptions,
  command: Command,
): Promise<void> {
  const isFiltered = rule !== undefined || type !== undefined
  if ((id === undefined) !== isFiltered) throw usageError('Give the id of an execution, or a filter.')
  const confirm = prepareConfirmation(command)
  if (id !== undefined) return cancelOne(id, confirm, command)
  const filter = {
    ...(rule !== undefined && { ruleId: rule }),
    ...(type !== undefined && { eventType: type }),
  }
  const counts = await useApi('change', async (client) => {
    const counted = await client.executions.cancelMany({ filter })
    if (counted.matched === 0) return { matched: 0, cancelled: 0 }
    await confirm(`Cancel ${counted.atLeast ? 'more than ' : ''}${counted.matched} executions permanently?`)
    let cancelled = 0
    for (;;) {
      const done = await client.executions.cancelMany({ filter, dryRun: false })
      const batch = 'cancelled' in done ? done.cancelled : 0
      cancelled += batch
      if (batch === 0 || cancelled >= counted.matched) return { matched: counted.matched, cancelled }
    }
  })
  print(command, counts, `${counts.cancelled} of ${counts.matched} executions are cancelled.`)
}

async function cancelOne(
  id: string,
  confirm: (question: string) => Promise<void>,
  command: Command,
): Promise<void> {
  const execution = await useApi('change', async (client) => {
    await confirm(`Cancel the execution ${id} permanently?`)
    return client.executions.cancel(id)
  })
  const text =
    execution.status === 'running'
      ? `An attempt of the execution ${id} is in progress. It is cancelled when that has ended.`
      : `The execution ${id} is cancelled.`
  print(command, execution, text)
}
