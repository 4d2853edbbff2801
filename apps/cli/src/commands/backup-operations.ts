import { resolve } from 'node:path'
import type { Database } from '@automation/database'
import { findLost, findMismatch, type Lost, readClusterPlace } from '@automation/history'
import { type Backup, backUp } from '../backup/back-up.js'
import { type Restoration, restore } from '../backup/restore.js'
import { CommandError } from '../command-error.js'
import { readOtherDatabaseUrl } from '../config.js'
import { exitCodes } from '../exit-codes.js'
import { maskControls } from '../format.js'
import { formatLost } from '../format-lost.js'
import { readDuration } from '../option-readers.js'
import { useDatabase } from '../use-database.js'
import type { DatabaseOperation } from './database-operation.js'

export const backupOperations: readonly DatabaseOperation[] = [
  {
    words: 'backup',
    description:
      'Write a backup of the whole database into a file, and check it. It needs pg_dump and pg_restore of the server’s major version or newer. ENCRYPTION_KEY is not in it.',
    example: 'automation.dump',
    argument: ['file', 'the new file; only its owner can read it', String],
    shows: ({ file, events, takenAt, program, server, tool, bytes }: Backup) =>
      maskControls(`${file}: ${events} events at ${takenAt}, ${bytes} bytes. `) +
      maskControls(`Version ${program}, PostgreSQL ${server}, pg_dump ${tool}. It is whole.`),
    // A name that begins with a dash would be an option of pg_dump.
    run: ({ file }) => backUp(resolve(file)),
  },
  {
    words: 'restore',
    description:
      'Restore a backup into an empty database, migrate it to this version, count its events and reconcile its last day. Its workers are paused until restored start. It needs pg_restore of the server’s major version or newer, and an empty Redis.',
    example: 'automation.dump',
    reads: ['DATABASE_URL', 'REDIS_URL', 'QUEUE_PREFIX'],
    exits: {
      failed:
        'failed, and the message says what was changed; or it was restored, and a check found something wrong',
    },
    argument: ['file', 'a file that the command backup has written', String],
    shows: formatRestoration,
    run: async ({ file }) => {
      const restoration = await restore(resolve(file))
      if (restoration.faults.length > 0) process.exitCode = exitCodes.failed
      return restoration
    },
  },
  {
    words: 'lost',
    description:
      'List what the old primary of Postgres has and the present database lacks, after a failover to an asynchronous standby: events, receipts of webhooks, calls that were begun, and changes of rules, keys and members. Start the old primary where no process of the service reaches it.',
    example: '--since 30m',
    reads: ['DATABASE_URL', 'OLD_DATABASE_URL'],
    takes: [
      [
        '--since <duration>',
        'compare what was accepted since then: from before the last commit that was replicated, such as 30m or 1d (default: 1h)',
        readDuration,
      ],
    ],
    shows: formatLost,
    run: ({ since = 3_600_000 }) =>
      useDatabase('read', ({ database }) =>
        useDatabase('read', (old) => compare(old.database, database, Date.now() - since), {
          from: readOtherDatabaseUrl('OLD_DATABASE_URL', 'the old primary'),
        }),
      ),
  },
]

const mismatches = {
  // Nothing of another installation would be found here, so all of it would seem lost.
  unrelated: 'servers of which neither was a standby of the other: there is nothing to compare',
  // All that has been accepted since the failover would seem lost.
  exchanged: 'a new primary and an old one: exchange the two',
}

async function compare(old: Database, present: Database, since: number): Promise<Lost> {
  const mismatch = findMismatch(await readClusterPlace(old), await readClusterPlace(present))
  if (mismatch === undefined) return findLost(old, present, since)
  throw new CommandError(`OLD_DATABASE_URL and DATABASE_URL lead to ${mismatches[mismatch]}.`)
}

function formatRestoration({ events, takenAt, migrated, faults, notes }: Restoration): string {
  const lines = [
    `Restored ${events} events, as of ${takenAt}.`,
    ...(migrated.length === 0 ? [] : [`Migrated: ${migrated.join(', ')}.`]),
    faults.length === 0
      ? 'The count is that of the backup, and the reconciliation of its last day found no fault.'
      : 'Do not use this database before you know why:',
    ...faults,
    ...notes,
    'Workers that start now run nothing. What was in progress, and what is undone: npm run -s admin -- restored report. To start them: npm run admin -- restored start.',
  ]
  return lines.map(maskControls).join('\n')
}
