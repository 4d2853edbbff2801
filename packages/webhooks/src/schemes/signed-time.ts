import type { Scheme } from './scheme.js'
import { readTimestamp, type SchemeRequest } from './scheme-request.js'

/** When a request was signed (epoch ms). undefined: its time cannot be read. */
export function readSigningTime(scheme: Scheme, headers: SchemeRequest['headers']): number | undefined {
  const text = readTimestamp(scheme, headers)
  return scheme.timestamp?.isInSeconds ? Number(text) * 1_000 : readSignedTime(text)
}

/**
 * A time as senders sign it: Unix seconds, milliseconds, microseconds or nanoseconds, which their sizes tell apart, also with a fraction, or RFC 3339.
 *
 * @returns epoch ms; undefined: it is no time
 */
export function readSignedTime(text: string): number | undefined {
  if (/^\d{1,20}(?:\.\d{1,9})?$/.test(text)) {
    const number = Number(text)
    const perMs = units.find(({ below }) => number < below)?.perMs
    return perMs === undefined ? undefined : number / perMs
  }
  const [, date = '', time = '', fraction = '', zone = ''] = dateTime.exec(text) ?? []
  const at = Date.parse(`${date}T${time}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
  return Number.isNaN(at) ? undefined : at
}

const dateTime = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/** Each begins at March 1973, and the next one more than three millennia later. */
const units = [
  { below: 1e11, perMs: 1e-3 },
  { below: 1e14, perMs: 1 },
  { below: 1e17, perMs: 1e3 },
  { below: 1e20, perMs: 1e6 },
]
