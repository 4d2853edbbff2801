import type { Command } from 'commander'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { apiVariables, useApi } from './use-api.js'

export function addDecisionsDecide(decisions: Command): void {
  addCommand(decisions, {
    name: 'decide',
    description: 'Decide what an execution waits for. The first decision counts.',
    example: `${exampleId} approve --reason "It is fair"`,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the execution', readId)
    .argument('<choice>', 'one of the options')
    .option('--reason <text>', 'why; some rules require it')
    .action(decide)
}

async function decide(
  id: string,
  choice: string,
  { reason }: { reason?: string },
  command: Command,
): Promise<void> {
  const decision = await useApi('change', (client) =>
    client.decisions.decide(id, { choice, ...(reason !== undefined && { reason }) }),
  )
  print(command, decision, `You have decided: ${decision.choice}.`)
}
