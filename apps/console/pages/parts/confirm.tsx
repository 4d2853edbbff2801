import type { ComponentChildren } from 'preact'
import { useChange } from '../state/use-change.js'
import { Opener } from './opener.js'
import { Question, useStopAsking } from './question.js'

interface Props {
  /** What the button says. */
  label: string
  /** What it is about, for who does not see the row: "Revoke the key CI". */
  title: string
  /** What follows from it. */
  children: ComponentChildren
  work: () => PromiseLike<unknown>
  /** What is read again afterwards. */
  reads: string
  after?: () => void
}

/** A button for what cannot be undone: a dialog says what follows before anything happens. */
export function Confirm(props: Props) {
  return (
    <Opener label={props.label} title={props.title}>
      <ConfirmDialog {...props} />
    </Opener>
  )
}

/** The dialog alone, for what has several ways to it. */
export function ConfirmDialog({ work, reads, after, ...shown }: Props) {
  const { change, problem, isBusy } = useChange(reads)
  const stop = useStopAsking()
  return (
    <Question
      {...{ ...shown, problem, isBusy }}
      act={async () => {
        if (await change(() => finish(work, after))) stop()
      }}
    />
  )
}

/** What follows comes before anything is read again: what was deleted is no longer shown then. */
async function finish(work: () => PromiseLike<unknown>, after?: () => void): Promise<true> {
  await work()
  after?.()
  await new Promise((resolve) => setTimeout(resolve))
  return true
}
