import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../storm/random.js'
import { entry, runAdmin } from '../run-admin.js'

/** Where the command is killed: so long (ms) after it has said that, at least and at most. */
const moments = [
  { said: 'To:', least: 0, most: 100 },
  { said: 'Pass 1', least: 0, most: 50 },
  { said: 'is closed', least: 0, most: 100 },
  { said: 'is closed', least: 100, most: 500 },
  { said: 'is closed', least: 500, most: 1_400 },
  { said: 'is closed', least: 1_400, most: 2_000 },
]

/** Moves a workspace with a command that is killed at one step after the other, until one comes to its end. */
export async function killedMoves(
  variables: Record<string, string>,
  id: string,
  random: Random,
  tell: (line: string) => void,
): Promise<{ count: number; violations: string[] }> {
  let count = 0
  for (const { said, least, most } of moments) {
    const afterMs = random.between(least, most)
    const isOver = await moveUntil(variables, id, said, afterMs)
    tell(isOver ? 'the command was faster' : `killed ${afterMs} ms after it said "${said}"`)
    if (isOver) return { count, violations: [] }
    count++
  }
  const last = await runAdmin(variables, 'workspaces', 'move', id, '--confirm', 'Test').then(
    () => undefined,
    (error: Error) => error.message,
  )
  // The one that was killed last may have opened it.
  const isMoved = last === undefined || last.includes('has moved')
  return { count, violations: isMoved ? [] : [`a move that was killed does not go on: ${last}`] }
}

async function moveUntil(
  variables: Record<string, string>,
  id: string,
  said: string,
  afterMs: number,
): Promise<boolean> {
  const child = spawn(process.execPath, [entry, 'admin', 'workspaces', 'move', id, '--confirm', 'Test'], {
    env: { PATH: process.env.PATH, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  let heard = ''
  child.stderr.setEncoding('utf8').on('data', async (text: string) => {
    if (heard.includes(said)) return
    heard += text
    if (!heard.includes(said)) return
    await delay(afterMs)
    child.kill('SIGKILL')
  })
  const [code] = await exited
  return code !== null
}
