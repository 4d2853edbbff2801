import type { Rule } from '@automation/client'
import { nameActor } from '../../logic/name-actor.js'
import { type Definition, definitionOf } from '../../logic/rule-definition.js'
import { When } from '../../parts/when.js'
import { api } from '../../state/session.js'
import type { Meanwhile } from './conflict.js'
import { readDraft } from './read-draft.js'
import type { UnsavedState } from './use-unsaved.js'

/** What is replaced: the version, and of a draft its mark. */
export interface Over {
  version: number
  etag?: string | undefined
}

/** What somebody else has saved since the changes began, for a conflict. @returns undefined if the rule cannot be read */
export async function findMeanwhile({
  id,
  isDraft,
  unsaved: { baseVersion, etag: known },
  reload,
}: {
  id: string
  /** A draft was to be saved. */
  isDraft: boolean
  unsaved: Pick<UnsavedState, 'baseVersion' | 'etag'>
  reload: () => Promise<Rule | undefined>
}): Promise<(Meanwhile & { over: Over }) | undefined> {
  const [other, base] = await Promise.all([
    isDraft ? readDraft(id) : null,
    api()
      .rules.versions.get(id, baseVersion)
      .then((version) => definitionOf(version as never))
      .catch(() => undefined),
  ])
  if (other) {
    const { savedBy, savedAt, isStale, etag } = other
    return {
      title: 'The rule has another draft',
      text: (
        <>
          {nameActor(savedBy)} saved it at <When at={savedAt} />
          {isStale && ', and the rule has changed since'}. Your changes are kept.
        </>
      ),
      name: 'the other draft',
      // The earlier draft is not kept.
      base: known === undefined ? base : undefined,
      theirs: definitionOf(other as Definition),
      over: { version: baseVersion, etag },
    }
  }
  const theirs = await reload()
  if (theirs === undefined) return undefined
  const { version } = theirs
  return {
    title: 'The rule has changed in the meantime',
    text: `It is at v${version} now.`,
    name: `v${version}`,
    base,
    theirs: definitionOf(theirs),
    over: { version },
  }
}
