/** Something is missing or in the way, and the message says in a sentence what to do: shown without a stack. */
export class CannotStart extends Error {
  override name = 'CannotStart'
}
