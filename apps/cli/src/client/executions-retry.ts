import type { Command } from 'commander'
import { Type } from 'typebox'
import { readAs, readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

const Version = Type.Enum(['same', 'latest'])

export function addExecutionsRetry(executions: Command): void {
  addCommand(executions, {
    name: 'retry',
    description:
      'Retry a failed execution from its first unfinished action, or one that the switch-off of its rule cancelled.',
    example: `${exampleId} --version latest`,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the execution', readId)
    .option(
      '--version <version>',
      'same: the definition that the execution began with; latest: the current rule (default: same)',
      readAs(Version),
    )
    .action(retry)
}

async function retry(
  id: string,
  { version }: { version?: 'same' | 'latest' },
  command: Command,
): Promise<void> {
  const execution = await useApi('change', (client) =>
    client.executions.retry(id, version === undefined ? {} : { version }),
  )
  print(command, execution, `Execution ${id} will continue from its first unfinished action.`)
}
