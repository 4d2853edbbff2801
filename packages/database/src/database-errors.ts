import { isDriverAdapterError } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { Prisma } from './generated/client.js'

/** Earlier work took longer than a caller should wait. */
export class DatabaseBusy extends Error {}

/** A read took longer than it may. Another attempt helps only if it requests less. */
export class ReadTooLong extends Error {
  override message = 'A read took longer than it may'
}

/** A transaction took longer than it may, or waited too long for a lock, and was rolled back. */
export class TransactionTooLong extends Error {
  override message = 'A transaction took longer than it may'
}

/** True where Postgres refused the data itself (SQLSTATE classes 22 and 23). Another attempt with the same row cannot help. */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test(causeOf(error).sqlState)
}

/** True where a statement was too large to be written or run: a string of V8, the memory or a limit of Postgres has an end. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError || /^(53200|54...)$/.test(causeOf(error).sqlState)
}

/** True where Postgres had no memory left: for this statement, or for any. */
export function isOutOfMemory(error: unknown): boolean {
  return causeOf(error).sqlState === '53200'
}

/** True where Postgres was away, too busy to respond, shutting down, or read-only. The same call may succeed in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseBusy) return true
  const { kind, sqlState } = causeOf(error)
  if (awayKinds.has(kind) || /^(08|25006|25P03|28|3D|53(?!200)|57P0)/.test(sqlState)) return true
  if (error instanceof Prisma.PrismaClientKnownRequestError && awayCodes.has(error.code)) return true
  return sqlState === '' && error instanceof Error && awayMessages.test(error.message)
}

/** True where Postgres has no space left for what a statement writes. */
export function isDiskFull(error: unknown): boolean {
  return causeOf(error).sqlState === '53100'
}

/** True where Postgres itself has said no. */
export function isResponse(error: unknown): boolean {
  return causeOf(error).sqlState !== ''
}

/** True where Postgres takes no writes: its disk is full, or another server has taken over from it. */
export function isReadOnly(error: unknown): boolean {
  return causeOf(error).sqlState === '25006'
}

/** True for a deadlock between transactions, and for a serialization failure. */
export function isLockConflict(error: unknown): boolean {
  const { kind, sqlState } = causeOf(error)
  return kind === 'TransactionWriteConflict' || sqlState === '40001' || sqlState === '40P01'
}

/**
 * True where Postgres cancelled a statement that took longer than it may, or that somebody asked it to cancel, and undid it; or a whole transaction
 * was. A lock conflict is another case: the whole statement is repeated.
 */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof TransactionTooLong || causeOf(error).sqlState === '57014'
}

/** True where a statement waited for a lock for longer than its transaction may. */
export function isLockTimeout(error: unknown): boolean {
  return causeOf(error).sqlState === '55P03'
}

/** True where Postgres cancelled a statement and undid it: after a timeout, a request to cancel it, or a lock conflict. */
export function isStatementCancelled(error: unknown): boolean {
  return isLockConflict(error) || isStatementTimeout(error) || isLockTimeout(error)
}

/** True where a row is outside what a constraint allows. */
export function isCheckViolated(error: unknown): boolean {
  return causeOf(error).sqlState === '23514'
}

/** True where a table does not exist yet, since the schema is older than this code. */
export function isTableMissing(error: unknown): boolean {
  const { kind, sqlState } = causeOf(error)
  return kind === 'TableDoesNotExist' || sqlState === '42P01'
}

/**
 * One line that says what went wrong, as Postgres or the system put it. Prisma puts its own call above that. A host with addresses of
 * several families fails with an AggregateError, which has a code and no message.
 */
export function describeDatabaseError(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  return message?.trim().split('\n').at(-1) || code || String(error)
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
// P2024: the pool gave no connection in time. P2028: a transaction could not begin, or was cut off.
const awayCodes = new Set(['P2024', 'P2028'])
// Errors of pg without a code, where no connection or no response came.
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
  // Of a socket in the file system, or of a file with certificates that the URL names.
  'ENOENT',
  'EACCES',
])

/**
 * Reads the cause of an error. Prisma's driver adapter reports a kind of its own, and the SQLSTATE where the error came from
 * Postgres. Prisma passes it on as it is where it ends a transaction, and otherwise within an error of its own. An error of pg itself has the SQLSTATE as its code, or the code of a socket error.
 */
function causeOf(error: unknown): { kind: string; sqlState: string } {
  if (error instanceof pg.DatabaseError) return { kind: '', sqlState: error.code ?? '' }
  if (socketCodes.has((error as { code?: string } | undefined)?.code ?? ''))
    return { kind: 'DatabaseNotReachable', sqlState: '' }
  if (error instanceof Error && isDriverAdapterError(error)) return readAdapterCause(error.cause)
  const meta = error instanceof Prisma.PrismaClientKnownRequestError ? error.meta : undefined
  return readAdapterCause((meta?.driverAdapterError as { cause?: AdapterCause } | undefined)?.cause)
}

interface AdapterCause {
  kind?: string
  originalCode?: string
}

function readAdapterCause(cause: AdapterCause | undefined): { kind: string; sqlState: string } {
  return { kind: cause?.kind ?? '', sqlState: cause?.originalCode ?? '' }
}
