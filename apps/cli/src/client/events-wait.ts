import type { Command } from 'commander'
import { CommandError } from '../command-error.js'
import { readDuration, readId } from '../option-readers.js'
import { addCommand, exampleId, isForPrograms, print } from '../program.js'
import { formatEvent } from './format-event.js'
import { readRuleNames } from './name-rules.js'
import { apiVariables, useApi } from './use-api.js'

const minuteMs = 60_000

export function addEventsWait(events: Command): void {
  addCommand(events, {
    name: 'wait',
    description: 'Wait until an event is done, and show the result of each rule for its type.',
    example: `${exampleId} --timeout 5m`,
    reads: apiVariables,
    exits: {
      failed: 'failed, not done in time, or quarantined: quarantineReason says why',
    },
  })
    .argument('<id>', 'id of the event', readId)
    .option('--timeout <duration>', 'how long to wait (default: 1m)', readDuration)
    .action(wait)
}

async function wait(
  id: string,
  { timeout: timeoutMs = minuteMs }: { timeout?: number },
  command: Command,
): Promise<void> {
  const { event, names } = await useApi('read', async (client) => {
    const event = await client.events.waitUntilDone(id, { timeoutMs })
    return { event, names: isForPrograms(command) ? undefined : await readRuleNames(client, event) }
  })
  print(command, event, formatEvent(event, names))
  if (event.status === 'quarantined')
    throw new CommandError(`The event is quarantined, so no rule ran. ${event.quarantineReason}.`)
}
