import type { ComponentChildren } from 'preact'
import { asked } from '../state/asked.js'
import { useChange } from '../state/use-change.js'
import { Question, stopAsking } from './question.js'

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
  const { label, title } = props
  const ask = () => {
    asked.value = <Asked {...props} />
  }
  return (
    <button type="button" aria-label={title} onClick={ask}>
      {label}
    </button>
  )
}

function Asked({ work, reads, after, ...shown }: Props) {
  const { change, problem, isBusy } = useChange(reads)
  return (
    <Question
      {...{ ...shown, problem, isBusy }}
      act={async () => {
        if (await change(() => finish(work, after))) stopAsking()
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
