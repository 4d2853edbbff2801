import { readFileSync } from 'node:fs'
import type { EventType, RunOptions } from '@automation/client'
import { listLongWarnings, readJson } from '@automation/engine'
import { type Command, Option } from 'commander'
import { Type } from 'typebox'
import { checkJson } from '../check-json.js'
import { CommandError, usageError } from '../command-error.js'
import { maskControls } from '../format.js'
import { readAs } from '../option-readers.js'
import { addCommand, isForPrograms, print } from '../program.js'
import { decodeText } from '../read-text.js'
import { formatRuleResults } from './format-event.js'
import { readRuleNames } from './name-rules.js'
import { apiVariables, useApi } from './use-api.js'

const Seconds = Type.Integer({ minimum: 0, maximum: 30 })

export function addEventsSend(events: Command): void {
  addCommand(events, {
    name: 'send',
    description:
      'Post an event, and show the result of each rule for its type. If the outcome takes longer than the wait, the event is accepted, and events wait shows the outcome.',
    example: `LEAD_CREATED '{"name":"Ada","score":95}'`,
    reads: apiVariables,
  })
    .argument('<type>', 'type of the event, such as LEAD_CREATED')
    .argument('[data]', 'data of the event, a JSON object (default: {})')
    .option('--file <path>', 'read the data from this file')
    .option('--key <key>', 'idempotency key: the same event under the same key is accepted once in 24 hours')
    .option('--wait <seconds>', 'how long to wait for the outcome, 0 to 30 (default: 10)', readAs(Seconds))
    .addOption(new Option('--async', 'do not wait for the outcome').conflicts('wait'))
    .action(send)
}

interface Options {
  file?: string
  key?: string
  wait?: number
  async?: true
}

async function send(
  type: string,
  text: string | undefined,
  options: Options,
  command: Command,
): Promise<void> {
  const data = readData(text, options)
  const { key, wait, async: isAsync } = options
  const running: RunOptions = { wait, async: isAsync, idempotencyKey: key }
  const { run, names } = await useApi('change', async (client) => {
    const run = await client.events.send(type as EventType, data, running)
    const isTable = run.status !== 'accepted' && !isForPrograms(command)
    return { run, names: isTable ? await readRuleNames(client, { type }) : undefined }
  })
  if (run.status === 'accepted')
    return print(
      command,
      run,
      `Accepted as event ${run.id}. Its outcome: npm run client -- events wait ${run.id}`,
    )
  print(command, run, `Event ${run.id} is done.\n${formatRuleResults(run.results, names)}`)
}

function readData(text: string | undefined, { file }: Options): object {
  if (file === undefined) return parseData(text ?? '{}', 'The data')
  if (text !== undefined) throw usageError('Give either the data or --file, not both.')
  try {
    return parseData(decodeText(readFileSync(file), file), file)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`--file cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}

function parseData(text: string, name: string): object {
  let data: ReturnType<typeof readJson>
  try {
    data = readJson(text)
  } catch (error) {
    const hint = /^'|^\{\s*[^"\s}]/.test(text)
      ? ' Does the shell take its quotes away, as PowerShell and cmd do? Then put it into a file for --file.'
      : ''
    throw usageError(`${name} is not valid JSON: ${(error as Error).message}.${hint}`, { cause: error })
  }
  const { value, longNumbers } = data
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`${name} must be a JSON object, such as {"score":95}.`)
  for (const { field, message } of listLongWarnings(longNumbers))
    console.error(maskControls(`${name}: ${field}: ${message}.`))
  return checkJson(value, name) as object
}
