const typed = new Set<Element>()

addEventListener(
  'input',
  ({ target }) => {
    for (const one of typed) if (!one.isConnected) typed.delete(one)
    if (target instanceof Element && target.closest('dialog, form, [popover]')) typed.add(target)
  },
  { capture: true },
)

// A form of the page has done its work. One in a dialog closes it then, and keeps what was typed where it is refused.
addEventListener('submit', ({ target }) => {
  for (const one of typed) if (one.closest('form') === target && !one.closest('dialog')) typed.delete(one)
})

/** Whether a text that was typed stands there. What was only chosen is chosen again in a moment. */
export function hasTyped(part: Element | null): boolean {
  return [...typed].some(
    (one) =>
      part?.contains(one) &&
      !one.matches('select, [type="checkbox"], [type="radio"]') &&
      (one as HTMLInputElement).value !== '',
  )
}

const unkept = new Set<object>()

/** Something typed that the browser could not keep, by whose it is. */
export function noteUnkept(owner: object, isUnkept: boolean): void {
  if (isUnkept) unkept.add(owner)
  else unkept.delete(owner)
}

/** Whether a reload would lose what somebody has typed: into an open dialog or form, or where the browser has no room for it. */
export function wouldLoseTyped(): boolean {
  return unkept.size > 0 || [...typed].some((one) => one.isConnected)
}
