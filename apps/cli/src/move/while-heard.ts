import { type Database, isResponse } from '@automation/database'
import { repeat } from '@automation/process/repeat'
import { CommandError } from '../command-error.js'

/** A database that has responded to nothing for `muteMs` ends the work; it is asked every `lookMs`. */
export interface Hearing {
  muteMs: number
  lookMs: number
}

/**
 * Works in databases. A statement may take hours, so it does not tell that its database responds no more: another connection asks meanwhile. If that one gets
 * no response either, all connections end, and what waits for them fails.
 *
 * @param databases by what they are for the command
 * @throws CommandError if one of them responds no more
 */
export async function whileHeard<Result>(
  databases: Record<string, Pick<Database, 'runUrgent' | 'breakOff'>>,
  { muteMs, lookMs }: Hearing,
  work: () => Promise<Result>,
): Promise<Result> {
  let fault: Error | undefined
  const looks = Object.entries(databases).map(([name, database]) => {
    let heardAt = performance.now()
    const look = async () => {
      await database.runUrgent('hear', 'SELECT 1', [])
      heardAt = performance.now()
    }
    return repeat(look, lookMs, (error) => {
      // Such as too many connections: the work has its own.
      if (isResponse(error)) heardAt = performance.now()
      if (performance.now() - heardAt < muteMs) return
      fault = new Error(`The ${name} has not responded for ${Math.round(muteMs / 1_000)} s`)
      database.breakOff(fault)
    })
  })
  try {
    return await work()
  } catch (error) {
    if (fault === undefined || error instanceof CommandError) throw error
    throw new CommandError(`${fault.message}. Run the command again.`, { cause: error })
  } finally {
    await Promise.all(looks.map((look) => look.stop()))
  }
}
