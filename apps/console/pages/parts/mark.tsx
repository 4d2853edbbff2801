/** A state as an icon and a word: colour comes third. */
const looks: Record<string, { icon: string; tone: string; word?: string }> = {
  succeeded: { icon: '✓', tone: 'good' },
  success: { icon: '✓', tone: 'good', word: 'done' },
  done: { icon: '✓', tone: 'good' },
  accepted: { icon: '✓', tone: 'good' },
  active: { icon: '✓', tone: 'good' },
  stopped: { icon: '✗', tone: 'bad' },
  failed: { icon: '✗', tone: 'bad' },
  rejected: { icon: '✗', tone: 'bad', word: 'refused' },
  quarantined: { icon: '✗', tone: 'bad' },
  unknown: { icon: '?', tone: 'bad', word: 'outcome unknown' },
  cancelled: { icon: '–', tone: 'quiet' },
  skipped: { icon: '–', tone: 'quiet' },
  not_matched: { icon: '–', tone: 'quiet', word: 'did not match' },
  revoked: { icon: '–', tone: 'quiet' },
  retired: { icon: '–', tone: 'quiet' },
  waiting: { icon: '…', tone: 'wait' },
  scheduled: { icon: '…', tone: 'wait', word: 'waits' },
  retrying: { icon: '↻', tone: 'wait' },
  running: { icon: '●', tone: 'wait' },
  draft: { icon: '✎', tone: 'quiet' },
  watches: { icon: '◉', tone: 'wait' },
  shadow: { icon: '◐', tone: 'quiet' },
  pending: { icon: '○', tone: 'quiet', word: 'not started' },
}

export function Mark({ of, word }: { of: string; word?: string }) {
  const { icon, tone, word: usual } = looks[of] ?? { icon: '·', tone: 'quiet' }
  return (
    <span class={`mark ${tone}`}>
      <span aria-hidden="true">{icon}</span> {word ?? usual ?? of}
    </span>
  )
}
