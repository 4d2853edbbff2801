import type { Database } from '@automation/database'
import pg from 'pg'
import t from 'tap'
import { CommandError } from '../src/command-error.js'
import { whileHeard } from '../src/move/while-heard.js'

const hearing = { muteMs: 50, lookMs: 1 }

/** A database that says this whenever it is asked. */
function createDatabase(say: () => Promise<never[]>) {
  let tell = () => {}
  return {
    runUrgent: () => {
      tell()
      return say()
    },
    breakOff: (_: Error) => {},
    asked: () =>
      new Promise<void>((resolve) => {
        tell = resolve
      }),
  }
}

const hear = (source: object, target: object, work: () => Promise<unknown>) =>
  whileHeard({ source, target } as Record<string, Pick<Database, 'runUrgent' | 'breakOff'>>, hearing, work)

t.test('work goes on as long as its databases respond, whatever they say', async (t) => {
  const full = Object.assign(new pg.DatabaseError('too many clients', 0, 'error'), { code: '53300' })
  const [source, target] = [createDatabase(async () => []), createDatabase(() => Promise.reject(full))]
  for (const database of [source, target]) database.breakOff = () => void t.fail('its connections are ended')
  const endsAt = performance.now() + 3 * hearing.muteMs
  const work = async () => {
    while (performance.now() < endsAt) await Promise.all([source.asked(), target.asked()])
    return 'done'
  }
  t.equal(await hear(source, target, work), 'done')
})

t.test('one that responds no more ends what waits for it', async (t) => {
  const late = new Error('Query read timeout')
  const [source, target] = [createDatabase(async () => []), createDatabase(() => Promise.reject(late))]
  const work = () =>
    new Promise((_, reject) => {
      target.breakOff = reject
    })
  const error = await hear(source, target, work).catch((error: unknown) => error)
  t.ok(error instanceof CommandError)
  t.match(error, { message: /^The target has not responded for .* s\. Run the command again\.$/ })
})
