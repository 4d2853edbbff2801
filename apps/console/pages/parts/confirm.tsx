import type { ComponentChildren } from 'preact'
import { asked } from '../state/asked.js'
import { useChange } from '../state/use-change.js'
import { Dialog } from './dialog.js'

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
    asked.value = <Question {...props} />
  }
  return (
    <button type="button" class="small" aria-label={title} onClick={ask}>
      {label}
    </button>
  )
}

function Question({ label, title, children, work, reads, after }: Props) {
  const { change, problem, isBusy } = useChange(reads)
  const close = () => {
    asked.value = undefined
  }
  return (
    <Dialog title={`${title}?`} close={close}>
      <div>{children}</div>
      <p role="alert" class="bad">
        {problem}
      </p>
      <div class="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          aria-disabled={isBusy}
          onClick={async () => {
            const isDone = !isBusy && (await change(() => finish(work, after)))
            if (isDone) close()
          }}
        >
          {label}
        </button>
      </div>
    </Dialog>
  )
}

/** What follows comes before anything is read again: what was deleted is no longer shown then. */
async function finish(work: () => PromiseLike<unknown>, after?: () => void): Promise<true> {
  await work()
  after?.()
  await new Promise((resolve) => setTimeout(resolve))
  return true
}
