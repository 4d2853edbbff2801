import { fieldOfFault } from '../../logic/field-of-fault.js'

const controls = 'input, select, textarea'

/** Moves the focus to the field of a path, or to the nearest above it. */
export function focusField(path: string): void {
  const elements = [...document.querySelectorAll<HTMLElement>('[data-path]')]
  const nearest = fieldOfFault(
    path,
    elements.map((element) => element.dataset.path ?? ''),
  )
  for (const element of elements.filter(({ dataset }) => dataset.path === nearest)) {
    const control = element.matches(controls) ? element : element.querySelector<HTMLElement>(controls)
    if (control) {
      // What is folded is not seen, and takes no focus.
      control.closest('details')?.setAttribute('open', '')
      control.focus()
      return
    }
  }
}
