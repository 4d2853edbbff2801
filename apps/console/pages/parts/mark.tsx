import type { IconName } from '../logic/icon-names.js'
import { Icon } from './icon.js'

type Tone = 'good' | 'bad' | 'wait' | 'quiet'

/** A state as an icon and a word: colour comes third. Red is only what is broken. */
const looks: Record<string, { icon: IconName; tone: Tone; word?: string }> = {
  succeeded: { icon: 'check', tone: 'good' },
  success: { icon: 'check', tone: 'good', word: 'done' },
  done: { icon: 'check', tone: 'good' },
  accepted: { icon: 'check', tone: 'good' },
  active: { icon: 'check', tone: 'good' },
  stopped: { icon: 'minus', tone: 'quiet' },
  failed: { icon: 'warning', tone: 'bad' },
  rejected: { icon: 'warning', tone: 'bad', word: 'refused' },
  quarantined: { icon: 'warning', tone: 'bad' },
  incomplete: { icon: 'warning', tone: 'wait' },
  unknown: { icon: 'warning', tone: 'bad', word: 'outcome unknown' },
  cancelled: { icon: 'minus', tone: 'quiet' },
  suppressed: { icon: 'minus', tone: 'quiet' },
  skipped: { icon: 'minus', tone: 'quiet' },
  not_matched: { icon: 'minus', tone: 'quiet', word: 'did not match' },
  revoked: { icon: 'minus', tone: 'quiet' },
  retired: { icon: 'minus', tone: 'quiet' },
  waiting: { icon: 'clock', tone: 'wait' },
  scheduled: { icon: 'clock', tone: 'wait', word: 'waits' },
  retrying: { icon: 'retry', tone: 'wait' },
  running: { icon: 'play', tone: 'wait' },
  draft: { icon: 'edit', tone: 'quiet' },
  watches: { icon: 'search', tone: 'wait' },
  shadow: { icon: 'copy', tone: 'quiet' },
  pending: { icon: 'clock', tone: 'quiet', word: 'not started' },
}

export function Mark({ of, word }: { of: string; word?: string | undefined }) {
  const { icon, tone, word: usual } = looks[of] ?? { icon: 'minus', tone: 'quiet' }
  return (
    <span class={`mark ${tone}`}>
      <Icon name={icon} /> {word ?? usual ?? of}
    </span>
  )
}
