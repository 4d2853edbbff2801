import type { Client, DraftToSave } from '@automation/client'
import { type Command, Option } from 'commander'
import { formatFields } from '../format.js'
import { formatBacktest } from '../format-backtest.js'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { readFileRule } from '../read-file-rule.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesDraft(rules: Command): void {
  addCommand(rules, {
    name: 'draft',
    description:
      'Show the draft of a rule, and what it would have done since it was saved. With a file, save the rule of the file as the draft: it does nothing until it is promoted.',
    example: `${exampleId} rules.yaml`,
    reads: apiVariables,
  })
    .argument('<id>', 'id of the rule', readId)
    .argument('[file]', 'file in the format of rules export; - reads standard input')
    .option('--rule <name>', 'name of the rule in the file (default: its only rule)')
    .addOption(new Option('--delete', 'delete the draft').conflicts('rule'))
    .action(useDraft)
}

interface DraftOptions {
  rule?: string
  delete?: true
}

async function useDraft(
  id: string,
  path: string | undefined,
  options: DraftOptions,
  command: Command,
): Promise<void> {
  if (options.delete) {
    if (path !== undefined) command.error("error: option '--delete' accepts no file")
    await useApi('change', (client) => client.rules.drafts.delete(id))
    return print(command, { ruleId: id, isDeleted: true }, `The draft of rule ${id} is deleted.`)
  }
  if (path === undefined) return showDraft(id, command)
  const draft = (await readFileRule(path, options.rule)) as unknown as DraftToSave
  const saved = await useApi('change', (client) => client.rules.drafts.save(id, draft))
  print(
    command,
    saved,
    `The draft of rule ${id} is saved. What it would have done: rules draft ${id}. Its ETag: ${saved.etag}`,
  )
}

/** Seconds. Most differences are computed by then. */
const wait = 10

type RuleDraft = Awaited<ReturnType<Client['rules']['drafts']['get']>>

async function showDraft(id: string, command: Command): Promise<void> {
  const draft = await useApi('read', (client) => client.rules.drafts.get(id, { wait }))
  const { name, basedOn, isStale, etag, savedAt, savedBy } = draft
  const fields = formatFields({ name, basedOn, isStale, etag, savedAt, savedBy })
  print(command, draft, `${fields}\n\n${formatDifference(draft)}`)
}

function formatDifference({ name, difference, differenceFault }: RuleDraft): string {
  const text = difference === null ? [] : [formatBacktest(name, difference)]
  if (differenceFault !== null) text.push(`The difference could not be computed: ${differenceFault}`)
  else if (!difference?.isComplete)
    text.push('Workers are still computing the difference: run the command again.')
  return text.join('\n')
}
