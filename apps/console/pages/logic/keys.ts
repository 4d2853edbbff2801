type Key = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey'> & {
  getModifierState?: KeyboardEvent['getModifierState']
}

/**
 * The letter of a key, whatever alphabet it types: `z` for я, where a Latin keyboard has Z. A key that types a Latin letter is that letter,
 * wherever it lies.
 */
export function letterOf({ key, code }: Pick<Key, 'key' | 'code'>): string {
  if (/^[a-z]$/i.test(key)) return key.toLowerCase()
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? []
  return letter !== undefined && /^\p{L}$/u.test(key) ? letter.toLowerCase() : key
}

/** @returns the letter that is pressed with Ctrl or ⌘. With AltGr, which is Ctrl and Alt on some machines, a key types another letter. */
export function commandOf(event: Key): string | undefined {
  const { ctrlKey, metaKey, altKey } = event
  const types = altKey || event.getModifierState?.('AltGraph') === true
  return (ctrlKey || metaKey) && !types ? letterOf(event) : undefined
}

/** While an input method composes, each key is its own. Safari sends the Enter that ends it afterwards, with the code 229 of all its keys. */
export function isOfInputMethod({
  isComposing,
  keyCode,
}: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return isComposing || keyCode === 229
}
