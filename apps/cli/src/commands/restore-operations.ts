import { findOpenRestore, listRemovals, startAfterRestore } from '@automation/access'
import { type Database, findMissingMigrations } from '@automation/database'
import { longLimits } from '../backup/back-up.js'
import { type Repetition, repeatRemovals } from '../backup/repeat-removals.js'
import { formatReport, reportRestore } from '../backup/report-restore.js'
import { CommandError } from '../command-error.js'
import { formatTable } from '../format.js'
import { readDuration } from '../option-readers.js'
import { readRemovals } from '../read-removals.js'
import { useDatabase } from '../use-database.js'
import { writeWholeFile } from '../write-whole-file.js'
import type { DatabaseOperation } from './database-operation.js'

const weekMs = 7 * 24 * 60 * 60 * 1_000

/** What an operator does beside backups, and between a restore and the start of the workers. */
export const restoreOperations: readonly DatabaseOperation[] = [
  {
    words: 'removals write',
    description:
      'Write what a restore would undo into a file outside the database: all erasures and deletions of workspaces, and the keys, members, secrets and rules that were taken away lately. The values of erasures are sealed. The file is replaced when the new list is whole.',
    example: 'removals.json',
    argument: ['file', 'the file; only its owner can read a new one', String],
    takes: [
      [
        '--since <duration>',
        'how far back keys, members, secrets and rules are listed (default: 7d). Longer than backups are apart',
        readDuration,
      ],
    ],
    says: '{file}: {erasures} erasures, {deletions} deletions, {entries} other removals.',
    run: ({ file, since = weekMs }) =>
      useDatabase(
        'read',
        async ({ database }) => {
          await refuseRestored(database)
          const list = await listRemovals(database, Date.now() - since)
          await writeWholeFile(file, `${JSON.stringify(list)}\n`, 0o600)
          const { takenAt, erasures, deletions, entries } = list
          return {
            ...{ takenAt, erasures: erasures.length },
            ...{ deletions: deletions.length, entries: entries.length },
          }
        },
        longLimits,
      ),
  },
  {
    words: 'removals repeat',
    description:
      'After a restore: delete the workspaces of a list again, revoke its keys and secrets, remove its members, and make its erasures. It may be repeated. Paused workers make erasures, too, with the same ENCRYPTION_KEY.',
    example: 'removals.json',
    argument: ['file', 'a file that the command removals write has written', String],
    shows: formatRepetition,
    run: async ({ file }) => {
      const list = await readRemovals(file)
      return useDatabase('change', (operator) => repeatRemovals(operator, list))
    },
  },
  {
    words: 'restored report',
    description:
      'List what was in progress or due in a database that was restored, what may have been called since, and which removals of a list are undone.',
    example: '--removals removals.json',
    takes: [['--removals <file>', 'the newest file that the command removals write has written', String]],
    shows: formatReport,
    run: async ({ removals }) => {
      const list = removals === undefined ? undefined : await readRemovals(removals)
      return useDatabase('read', (operator) => reportRestore(operator, list), longLimits)
    },
  },
  {
    words: 'restored start',
    description:
      'Start the workers of a database that was restored. They do what is due, and make the calls again that its past does not know.',
    example: '',
    shows: ({ started }: { started: boolean }) =>
      started ? 'The workers start within two seconds.' : 'The workers were not paused. Nothing was changed.',
    run: () =>
      useDatabase('change', async ({ database, actor }) => ({
        started: (await startAfterRestore(database, actor)) > 0,
      })),
  },
]

/** The list that is there knows what this database has forgotten. A timer may go on in the middle of a restore, too. */
async function refuseRestored(database: Database): Promise<void> {
  const isWhole = (await findMissingMigrations(database)).length === 0
  if (isWhole && (await findOpenRestore(database)) === undefined) return
  throw new CommandError(
    'The database was restored, and its workers were not started: it does not know what was taken away since its backup. The file was not changed.',
  )
}

function formatRepetition({ erasures, deletions, entries, left }: Repetition): string {
  return [
    `${erasures} erasures begin again. ${deletions} workspaces are deleted again, and ${entries} rights are taken away again.`,
    ...(left.length === 0
      ? []
      : [
          'These are still there, and you or their workspace have to decide:',
          formatTable(left, ['workspaceId', 'action', 'subject', 'actor', 'at', 'reason']),
        ]),
  ].join('\n')
}
