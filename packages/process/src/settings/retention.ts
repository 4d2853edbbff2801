import { Type } from 'typebox'

/** Workers remove older history. The API needs the same value, because its ledger must not count removed rows as missing. */
export const retention = {
  RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 3_650,
    description:
      'days that finished events and their executions are kept, unless their workspace sets its own number; 0 keeps them indefinitely',
  }),
}
