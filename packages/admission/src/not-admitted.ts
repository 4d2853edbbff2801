/** The work was not begun. It may be asked for again later. */
export class NotAdmitted extends Error {
  /** Whose work came before it: that of its own owner, or that of others. `closed`: this process ends. */
  readonly because: 'own' | 'others' | 'closed'
  /** When (ms) to ask again. */
  readonly retryAfterMs: number

  constructor(because: NotAdmitted['because'], retryAfterMs: number) {
    super('It was not admitted in time')
    this.because = because
    this.retryAfterMs = retryAfterMs
  }
}
