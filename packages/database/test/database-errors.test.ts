import { DriverAdapterError } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import t from 'tap'
import {
  DatabaseBusy,
  isDatabaseAway,
  isLockConflict,
  isRowFault,
  isStatementTimeout,
  isTableMissing,
  isTooLarge,
  TransactionTooLong,
} from '../src/database-errors.js'
import { Prisma } from '../src/generated/client.js'

const ofPostgres = (code: string) => Object.assign(new pg.DatabaseError('told', 4, 'error'), { code })
const ofSocket = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code })
const ofPrisma = (code: string, cause?: object) =>
  new Prisma.PrismaClientKnownRequestError('told', {
    code,
    clientVersion: '7',
    ...(cause && { meta: { driverAdapterError: { cause } } }),
  })
/** The same error as pg throws it and as Prisma passes it on. */
const inBoth = (code: string) => [
  ofPostgres(code),
  ofPrisma('P2010', { kind: 'postgres', originalCode: code }),
]

const kinds: Record<string, { is: (error: unknown) => boolean; errors: unknown[] }> = {
  'a row that is refused': {
    is: isRowFault,
    errors: ['22P05', '22003', '23505', '23514'].flatMap(inBoth),
  },
  'a database that is away': {
    is: isDatabaseAway,
    errors: [
      ...['08006', '25006', '28P01', '3D000', '53300', '57P01', '57P03'].flatMap(inBoth),
      ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'].map(
        ofSocket,
      ),
      ...['EAI_AGAIN', 'ENOENT', 'EACCES'].map(ofSocket),
      ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TlsConnectionError'].map((kind) =>
        ofPrisma('P2010', { kind }),
      ),
      ...['TooManyConnections', 'DatabaseAccessDenied', 'AuthenticationFailed', 'DatabaseDoesNotExist'].map(
        (kind) => ofPrisma('P2010', { kind }),
      ),
      ...['P2024', 'P2028'].map((code) => ofPrisma(code)),
      ...[
        'Connection terminated unexpectedly',
        'Client has encountered a connection error and is not queryable',
        'timeout exceeded when trying to connect',
        'Query read timeout',
        'Connection ended',
      ].map((message) => new Error(message)),
      new DatabaseBusy('Others were in the way'),
      // As Prisma throws it where the connection ends at COMMIT.
      new DriverAdapterError({ kind: 'ConnectionClosed' }),
    ],
  },
  'a conflict of locks': {
    is: isLockConflict,
    errors: [...['40001', '40P01'].flatMap(inBoth), ofPrisma('P2034', { kind: 'TransactionWriteConflict' })],
  },
  'a statement that took too long': {
    is: isStatementTimeout,
    errors: [...inBoth('57014'), new TransactionTooLong()],
  },
  'a statement that is too large': {
    is: isTooLarge,
    errors: [
      ...['53200', '54000', '54001', '54011', '54023'].flatMap(inBoth),
      new RangeError('Invalid string length'),
    ],
  },
  'a table that is missing': {
    is: isTableMissing,
    errors: [...inBoth('42P01'), ofPrisma('P2021', { kind: 'TableDoesNotExist' })],
  },
  'none of these': {
    is: () => false,
    errors: [
      ...['42601', '21000', '25001', '20000', '02323', '55P03'].flatMap(inBoth),
      Object.assign(ofPostgres('42601'), { message: 'Query read timeout' }),
      ofSocket('EISDIR'),
      ofPrisma('P2002'),
      ofPrisma('P2010', {}),
      new Error('It failed'),
      ...[undefined, null, 'Connection terminated', {}],
    ],
  },
}

for (const [kind, { errors }] of Object.entries(kinds)) {
  t.test(`each error is classified as ${kind}, and as nothing else`, async (t) => {
    for (const error of errors) {
      const matching = Object.entries(kinds).filter(([, { is }]) => is(error))
      const { code, message } = Object(error) as Error & { code?: string }
      t.strictSame(
        matching.map(([name]) => name),
        kind === 'none of these' ? [] : [kind],
        `${code} ${message}`,
      )
    }
  })
}
