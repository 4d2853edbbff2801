import pg from 'pg'
import { Prisma } from './generated/client.js'

/** Others were in the way for longer than anybody should wait. */
export class DatabaseBusy extends Error {}

/** True where Postgres refused the data itself (SQLSTATE classes 22 and 23): trying the same row again cannot help. */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test(causeOf(error).sqlState)
}

/** True where Postgres was away, too busy to answer, or going down: the same call may work in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseBusy) return true
  const { kind, sqlState } = causeOf(error)
  if (awayKinds.has(kind) || /^(08|25P03|28|3D|53|57P0)/.test(sqlState)) return true
  if (error instanceof Prisma.PrismaClientKnownRequestError && awayCodes.has(error.code)) return true
  return sqlState === '' && error instanceof Error && awayMessages.test(error.message)
}

/** True where two transactions took the same locks in another order, or a serial order was broken. */
export function isLockConflict(error: unknown): boolean {
  const { kind, sqlState } = causeOf(error)
  return kind === 'TransactionWriteConflict' || sqlState === '40001' || sqlState === '40P01'
}

/** True where Postgres gave a statement up and undid it: its time was over, it was cancelled, or it lost a deadlock. */
export function isGivenUp(error: unknown): boolean {
  return isLockConflict(error) || /^(57014|55P03)$/.test(causeOf(error).sqlState)
}

/** True where the schema has not been migrated to this point. */
export function isTableMissing(error: unknown): boolean {
  const { kind, sqlState } = causeOf(error)
  return kind === 'TableDoesNotExist' || sqlState === '42P01'
}

const awayKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
  'DatabaseAccessDenied',
  'AuthenticationFailed',
  'DatabaseDoesNotExist',
])
// No connection from the pool in time; a transaction that could not begin, or was cut off.
const awayCodes = new Set(['P2024', 'P2028'])
// What pg itself says, in words alone, when a connection or an answer does not come.
const awayMessages =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|Query read timeout|Connection ended/i

const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/**
 * What Prisma's driver adapter reports: a kind of its own, and Postgres' five characters where it was Postgres that
 * spoke. What pg itself throws has those characters as its code, or the code of a socket's failure.
 */
function causeOf(error: unknown): { kind: string; sqlState: string } {
  if (error instanceof pg.DatabaseError) return { kind: '', sqlState: error.code ?? '' }
  if (socketCodes.has((error as { code?: string } | undefined)?.code ?? ''))
    return { kind: 'DatabaseNotReachable', sqlState: '' }
  const meta = error instanceof Prisma.PrismaClientKnownRequestError ? error.meta : undefined
  const cause = (meta?.driverAdapterError as { cause?: { kind?: string; originalCode?: string } } | undefined)
    ?.cause
  return { kind: cause?.kind ?? '', sqlState: cause?.originalCode ?? '' }
}
