import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { DefinitionFault } from '../../logic/editing/find-condition-faults.js'
import { nameFaultPath, sayFault } from '../../logic/editing/say-fault.js'
import { fieldOfFault } from '../../logic/field-of-fault.js'
import type { FieldFault } from './sentence/faults.js'

/** After so long (ms) without a key, what stands in a field is what somebody wanted to write. */
const pauseMs = 800
const none: ReadonlyMap<string, FieldFault> = new Map()

const parts = 'name description labels trigger schedule group order conditions perKey actions'.split(' ')

/** Its place in the form; the first for what has none there. */
function placeOf({ field }: DefinitionFault): number {
  return parts.indexOf(field.split(/[.[]/)[0] ?? '')
}

export interface SaidFault extends FieldFault {
  field: string
  /** In words. */
  place: string
}

/**
 * The faults of what is typed, at their fields. One of a field that is being typed waits for a pause, or until the focus leaves; and what is not
 * filled in is asked for where somebody has been, or has saved.
 *
 * @param refused what the service has said, by its field
 */
export function useFaults(
  live: readonly DefinitionFault[],
  refused: ReadonlyMap<string, FieldFault>,
  actions: readonly unknown[],
) {
  const [typed, type] = useState<string>()
  const [visited, visit] = useState<ReadonlySet<string>>(new Set())
  const timer = useRef(0)
  const [placed, place] = useState(none)
  const onceReleased = useReleased()

  const said = useMemo(
    () =>
      live
        .toSorted((one, other) => placeOf(one) - placeOf(other))
        .map((fault): SaidFault => {
          const isRefused = refused.has(fault.field)
          const isTyped = typed !== undefined && isWithin(fault.field, typed)
          const isNew = fault.isUnfinished && ![...visited].some((path) => isWithin(fault.field, path))
          return {
            field: fault.field,
            place: nameFaultPath(fault.field, actions),
            message: sayFault(fault),
            isUnfinished: fault.isUnfinished,
            isHeld: isTyped || (isNew && !isRefused),
          }
        }),
    [live, refused, actions, typed, visited],
  )
  // The fields of the page are known once it is drawn.
  useLayoutEffect(() => place(said.length === 0 ? none : placeFaults(said).placed), [said])

  const end = (path: string | undefined) => {
    clearTimeout(timer.current)
    type(undefined)
    if (path !== undefined) visit((known) => (known.has(path) ? known : new Set([...known, path])))
  }
  return {
    /** Those that stand beside the result of the rule: all that are not being typed. */
    listed: said.filter(({ field }) => typed === undefined || !isWithin(field, typed)),
    placed: useMemo(() => new Map([...refused, ...placed]), [refused, placed]),
    watch: {
      onInput({ target }: Event) {
        const path = pathOf(target)
        clearTimeout(timer.current)
        type(path)
        timer.current = window.setTimeout(() => onceReleased(() => end(path)), pauseMs)
      },
      onFocusOut: ({ target }: Event) => onceReleased(() => end(pathOf(target))),
    },
  }
}

/** What moves the page while a button is pressed takes the click away from it: such work waits until it is released. */
function useReleased(): (work: () => void) => void {
  const state = useRef({ isPressed: false, waiting: [] as (() => void)[] })
  useEffect(() => {
    const press = () => {
      state.current.isPressed = true
    }
    const release = () => {
      const { waiting } = state.current
      state.current = { isPressed: false, waiting: [] }
      // The click comes first.
      setTimeout(() => {
        for (const work of waiting) work()
      })
    }
    const ends = ['pointerup', 'pointercancel'] as const
    addEventListener('pointerdown', press, { capture: true })
    for (const end of ends) addEventListener(end, release, { capture: true })
    return () => {
      removeEventListener('pointerdown', press, { capture: true })
      for (const end of ends) removeEventListener(end, release, { capture: true })
    }
  }, [])
  return (work) => {
    if (state.current.isPressed) state.current.waiting.push(work)
    else work()
  }
}

/** Each fault at the field with its path, or the nearest above it. */
export function placeFaults(found: readonly SaidFault[]) {
  const fields = [...document.querySelectorAll<HTMLElement>('[data-path]')].map(
    (element) => element.dataset.path ?? '',
  )
  const placed = new Map<string, FieldFault>()
  const elsewhere: SaidFault[] = []
  for (const fault of found) {
    const { field, place, message } = fault
    const at = fieldOfFault(field, fields)
    if (at === undefined) elsewhere.push(fault)
    else if (!placed.has(at) || placed.get(at)?.isHeld)
      placed.set(at, at === field ? fault : { ...fault, message: `${place}: ${message}` })
  }
  return { placed, elsewhere }
}

function pathOf(target: EventTarget | null): string | undefined {
  const isControl = target instanceof Element && target.matches('input, select, textarea')
  return isControl ? target.closest<HTMLElement>('[data-path]')?.dataset.path : undefined
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`)
}
