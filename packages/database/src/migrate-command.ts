import { DatabaseEnvironment, readEnvironment, readOrExit } from '@automation/process/settings'
import { migrate } from './migrate.js'

/** How long (ms) a statement that is cancelled may take to end. */
const endWithinMs = 8_000

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
} catch (error) {
  end(error)
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
