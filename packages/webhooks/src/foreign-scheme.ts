import type { Deviation } from './findings.js'
import type { RefusedDelivery } from './refused-delivery.js'
import { findReadyScheme } from './schemes/use-scheme.js'

/** The provider whose header the delivery has. Meta sends the one of GitHub, too. */
export function findForeignScheme({ headers }: Pick<RefusedDelivery, 'headers'>): Deviation[] {
  const [, scheme] = findReadyScheme(headers) ?? []
  const header = scheme?.signature.headers.find((one) => headers[one] !== undefined)
  return scheme === undefined ? [] : [{ code: 'foreign_scheme', about: `${scheme.title} (${header})` }]
}
