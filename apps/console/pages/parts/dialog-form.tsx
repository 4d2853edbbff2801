import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.js'

interface Props {
  title: string
  /** What the button that sends it says. */
  send: string
  close: () => void
  submit: () => unknown
  problem: string | undefined
  isBusy: boolean
  children: ComponentChildren
  note?: ComponentChildren
  wide?: boolean
}

/** A form in a dialog. A refusal stands above the button, and what was typed stays. */
export function DialogForm({
  title,
  send,
  close,
  submit,
  problem,
  isBusy,
  children,
  note,
  wide = false,
}: Props) {
  return (
    <Dialog title={title} close={close} wide={wide}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) submit()
        }}
      >
        {children}
        <p role="alert" class={problem ? 'notice bad' : 'hidden'}>
          {problem}
        </p>
        <div class="row end">
          {note && <p class="quiet note">{note}</p>}
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {send}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
