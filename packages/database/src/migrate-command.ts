import { DatabaseEnvironment, readEnvironment, readOrExit } from '@automation/process/settings'
import { describeDatabaseError } from './database-errors.js'
import { turnLeaves } from './leaves/turn-leaves.js'
import { migrate } from './migrate.js'

/** How long (ms) a statement that is cancelled may take to end. */
const endWithinMs = 8_000

/** The shortest leaves. */
const defaultDays = { events: 30, tasks: 400 }

const { DATABASE_URL } = readOrExit(() => readEnvironment(DatabaseEnvironment, process.env))
const ending = new AbortController()
for (const name of ['SIGTERM', 'SIGINT'] as const)
  process.once(name, () => {
    ending.abort(name)
    setTimeout(end, endWithinMs).unref()
  })

try {
  const applied = await migrate(DATABASE_URL, {
    signal: ending.signal,
    say: console.log,
    // Tests alone name one.
    directory: process.argv[2],
  })
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
  await makeLeaves()
} catch (error) {
  end(error)
}

/** The first ones, while the tables are empty. Workers make the others, and know how long history is kept. */
async function makeLeaves(): Promise<void> {
  const { undone } = await turnLeaves(DATABASE_URL, defaultDays, { signal: ending.signal }).catch(
    (error) => ({
      undone: [describeDatabaseError(error)],
    }),
  )
  for (const reason of undone) console.log(`A worker makes the leaves of history: ${reason}.`)
}

function end(error?: unknown): never {
  const { aborted, reason } = ending.signal
  console.error(
    aborted
      ? `Ended by ${reason} before all migrations were applied. To go on: npm run migrate`
      : `The database could not be migrated: ${(error as Error).message}`,
  )
  process.exit(1)
}
