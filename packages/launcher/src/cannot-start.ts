/** An expected obstacle to the start. The message tells the user what to do, and is shown without a stack. */
export class CannotStart extends Error {
  override name = 'CannotStart'
}
