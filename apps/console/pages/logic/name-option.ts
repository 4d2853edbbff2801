/** An option of a decision as it is read: `ask again` for `ask_again`. */
export function nameOption(option: string): string {
  return option
    .replaceAll(/[_-]+/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, before, letter) => `${before} ${letter.toLowerCase()}`)
    .trim()
}
