/** A change that is turned down on purpose; the API and the command line tell it each in its own way. */
export class Refused extends Error {
  readonly kind: 'not_found' | 'conflict' | 'invalid'
  /** The faulty field, where the kind is `invalid`. */
  readonly field: string

  constructor(kind: Refused['kind'], message: string, field = '') {
    super(message)
    this.kind = kind
    this.field = field
  }
}
