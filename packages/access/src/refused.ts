/** A change that was refused on purpose. The API and the command line present it each in its own way. */
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
