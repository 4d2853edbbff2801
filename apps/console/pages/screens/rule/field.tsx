import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** The faults of the draft, by the path of their field. */
export const Faults = createContext<ReadonlyMap<string, string>>(new Map())

/** A labelled control whose fault stands below it. @param path such as `actions[1].config.to` */
export function Field({
  label,
  path,
  hint,
  children,
}: {
  label: string
  path: string
  hint?: string | undefined
  children: ComponentChildren
}) {
  const fault = useContext(Faults).get(path)
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class={fault ? 'field faulty' : 'field'} data-path={path}>
      <span class="label">{label}</span>
      {children}
      {hint && <span class="sub">{hint}</span>}
      {fault && (
        <span class="sub bad" role="alert">
          {fault}
        </span>
      )}
    </label>
  )
}

/** A fault of something that has no single control. */
export function FaultOf({ path }: { path: string }) {
  const fault = useContext(Faults).get(path)
  return (
    <span data-path={path} class="sub bad" hidden={fault === undefined} role="alert">
      {fault}
    </span>
  )
}
