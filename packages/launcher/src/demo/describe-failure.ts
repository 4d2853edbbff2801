import { statfs } from 'node:fs/promises'
import { CannotStart } from '../cannot-start.js'

/** Below this, neither Postgres nor Redis can go on. */
const leastBytes = 1024 * 1024
/** Of Node, and of Postgres. */
const noRoomCodes = ['ENOSPC', 'EDQUOT', '53100']
const closedCodes = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR']

/**
 * What a user reads when the product cannot start or go on.
 *
 * @returns sentences, or the error itself if it is a fault of ours
 */
export async function describeFailure(error: unknown, directory: string): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException
  const isExpected = error instanceof CannotStart || noRoomCodes.includes(`${code}`)
  if (noRoomCodes.includes(`${code}`) || (isExpected && (await isFull(directory))))
    return `No room is left on the disk of ${directory}: make some and start again, since what was stored is kept.\n${message}`
  if (isExpected) return message
  if (closedCodes.includes(`${code}`)) return `${directory} cannot be used: ${message}`
  return error
}

async function isFull(directory: string): Promise<boolean> {
  const disk = await statfs(directory).catch(() => undefined)
  return disk !== undefined && disk.bavail * disk.bsize < leastBytes
}
