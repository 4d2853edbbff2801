import { createContext } from 'preact'
import { useContext, useId } from 'preact/hooks'

export interface FieldFault {
  message: string
  /** Nothing was filled in there yet: it is asked for, and not called wrong. */
  isUnfinished?: boolean
}

/** The faults of what is typed, by the path of their field. */
export const Faults = createContext<ReadonlyMap<string, FieldFault>>(new Map())

/** What a control needs to be one with a fault, and the fault itself. @param prompt asks for what is not filled in yet */
export function useFault(path: string, prompt?: string) {
  const fault = useContext(Faults).get(path)
  const id = useId()
  return {
    own: { isInvalid: fault !== undefined && !fault.isUnfinished, describedBy: fault && id },
    look: fault === undefined ? '' : fault.isUnfinished ? 'empty-chip' : 'faulty-chip',
    text: fault && (
      <span id={id} class={fault.isUnfinished ? 'sub fault' : 'sub bad fault'}>
        {(fault.isUnfinished && prompt) || fault.message}
      </span>
    ),
  }
}

/** A fault of something that has no single control. */
export function FaultOf({ path }: { path: string }) {
  const fault = useContext(Faults).get(path)
  return (
    <span data-path={path} class="sub bad" hidden={fault === undefined} role="alert">
      {fault?.message}
    </span>
  )
}
