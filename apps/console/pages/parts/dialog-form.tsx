import type { ComponentChildren } from 'preact'
import { Dialog, leaveDialog } from './dialog.js'
import { Alert } from './states.js'

export interface DialogFormProps {
  title: string
  /** What the button that sends it says. */
  send: string
  close: () => void
  submit: () => unknown
  problem?: ComponentChildren
  isBusy?: boolean
  children: ComponentChildren
  note?: ComponentChildren
  wide?: boolean
  /** Of the button that sends it. */
  look?: 'primary' | 'danger'
}

/** A form in a dialog. A refusal stands above the button, and what was typed stays. */
export function DialogForm({
  title,
  send,
  close,
  submit,
  problem,
  isBusy = false,
  children,
  note,
  wide = false,
  look = 'primary',
}: DialogFormProps) {
  return (
    <Dialog title={title} close={close} wide={wide}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) submit()
        }}
      >
        {children}
        <Alert>{problem}</Alert>
        <div class="row end">
          {note && <p class="quiet note">{note}</p>}
          <button type="button" onClick={leaveDialog}>
            Cancel
          </button>
          <button type="submit" class={look} aria-disabled={isBusy}>
            {send}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
