/** A workspace's own reads take all that it may have. */
export class TooMuchAtOnce extends Error {
  override message = 'It got no turn in time'
  /** Whether nothing of its owner came before it. */
  readonly isBehindOthers: boolean

  constructor(isBehindOthers = false) {
    super()
    this.isBehindOthers = isBehindOthers
  }
}
