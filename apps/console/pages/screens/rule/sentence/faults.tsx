import { createContext } from 'preact'
import { useContext, useId } from 'preact/hooks'

export interface FieldFault {
  message: string
  /** Nothing was filled in there yet: it is asked for, and not called wrong. */
  isUnfinished?: boolean
  /** It is not said yet: somebody is typing there, or has not come to it. */
  isHeld?: boolean
}

/** The faults of what is typed, by the path of their field. */
export const Faults = createContext<ReadonlyMap<string, FieldFault>>(new Map())

/** What a control needs to be one with a fault, and the fault itself. @param prompt asks at once for what is not filled in yet */
export function useFault(path: string, prompt?: string) {
  const fault = useContext(Faults).get(path)
  const isAsked = fault?.isUnfinished && prompt !== undefined
  const said = fault?.isHeld && !isAsked ? undefined : fault
  const id = useId()
  return {
    own: { isInvalid: said !== undefined && !said.isUnfinished, describedBy: said && id },
    look: fault?.isUnfinished ? 'empty-chip' : said === undefined ? '' : 'faulty-chip',
    text: said && (
      <span id={id} class={said.isUnfinished ? 'sub fault' : 'sub bad fault'}>
        {isAsked ? prompt : said.message}
      </span>
    ),
  }
}

/** A fault of something that has no single control. */
export function FaultOf({ path }: { path: string }) {
  const fault = useContext(Faults).get(path)
  const isHidden = fault === undefined || fault.isHeld === true
  return (
    <span data-path={path} class={fault?.isUnfinished ? 'sub' : 'sub bad'} hidden={isHidden} role="alert">
      {isHidden ? '' : fault.message}
    </span>
  )
}
