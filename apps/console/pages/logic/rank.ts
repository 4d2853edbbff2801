/** An entry of the palette. */
export interface Choice {
  label: string
  /** What else may be typed for it. */
  words?: string
}

/** The choices that fit what was typed, the best first: a beginning, then the beginning of a word, then any place, then letters in order. */
export function rankChoices<Entry extends Choice>(choices: readonly Entry[], typed: string): Entry[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return [...choices]
  return choices
    .map((choice, index) => ({
      choice,
      index,
      score: scoreOf(`${choice.label} ${choice.words ?? ''}`, wanted),
    }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || left.index - right.index)
    .map(({ choice }) => choice)
}

function scoreOf(label: string, wanted: string): number {
  const text = label.toLowerCase()
  if (text.startsWith(wanted)) return 4
  if (text.includes(` ${wanted}`)) return 3
  if (text.includes(wanted)) return 2
  let position = 0
  for (const letter of wanted) {
    position = text.indexOf(letter, position) + 1
    if (position === 0) return 0
  }
  return 1
}
