import type { Administrator } from '@automation/access'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { formatTable } from '../format.js'
import { readAs, readId } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { useWorkspace } from '../use-database.js'

const Limit = Type.Integer({ minimum: 1, maximum: 1_000 })

export function addAudit(program: Command): void {
  const audit = addGroup(program, {
    name: 'audit',
    description: 'Read the audit log: who changed what, and when.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(audit, {
    name: 'list',
    description: 'List the entries of the audit log, newest first.',
    example: `--workspace ${exampleId} --limit 10`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .option('--limit <number>', 'maximum number of entries, 1 to 1000', readAs(Limit), 50)
    .action(list)
}

async function list(options: { workspace: string; limit: number }, command: Command): Promise<void> {
  const entries = await useWorkspace('read', options.workspace, (administrator) =>
    readEntries(administrator, options.limit),
  )
  print(command, entries, formatTable(entries, ['at', 'actor', 'action', 'subject', 'details']))
}

async function readEntries({ database, workspaceId }: Administrator, limit: number) {
  const entries = await database.forWorkspace(workspaceId).auditEntry.findMany({
    omit: { workspaceId: true },
    orderBy: { id: 'desc' },
    take: limit,
  })
  return entries.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}
