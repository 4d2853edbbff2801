import { Icon } from '../../../parts/icon.js'
import { focusSoon } from './editing.js'

interface Props {
  words: string
  /** What it means. */
  title: string | undefined
  /** Where the focus goes. */
  path: string
  add: () => void
}

/** Adds a part to the sentence. */
export function AddChip({ words, title, path, add }: Props) {
  return (
    <button
      type="button"
      class="chip empty-chip"
      title={title}
      onClick={() => {
        add()
        focusSoon(path)
      }}
    >
      <Icon name="plus" /> {words}
    </button>
  )
}
