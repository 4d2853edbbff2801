import type { Rule, RuleVersion } from '@automation/client'
import { useState } from 'preact/hooks'
import { nameActor } from '../../logic/name-actor.js'
import { type Definition, definitionOf, writeDefinition } from '../../logic/rule-definition.js'
import { Source } from '../../parts/source.js'
import { Unread } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
import { useFilters } from '../../state/use-filters.js'
import { describeError, readAgain, useQuery } from '../../state/use-query.js'
import { DefinitionChanges } from './definition-changes.js'

/** What the rule was, who changed what, and the way back. */
export function Versions({ rule, reload }: { rule: Rule; reload: () => PromiseLike<unknown> }) {
  const { query, set } = useFilters()
  const [said, say] = useState<string>()
  const versions = useQuery<{ versions: RuleVersion[] }>({
    key: ['rules', 'versions', rule.id],
    read: () => api().rules.versions.list(rule.id, { limit: 50 }),
    pollMs: false,
  })
  if (!versions.data) return <Unread {...versions} what="the versions" />
  const all = versions.data.versions
  const chosen = all.find(({ version }) => String(version) === query.version) ?? all[0]
  const before = all.find(({ version }) => version === (chosen?.version ?? 0) - 1)
  return (
    <div class="columns">
      <ul class="samples" aria-label="Versions">
        {all.map((version) => (
          <li key={version.version}>
            <button
              type="button"
              aria-pressed={version === chosen}
              onClick={() => set({ version: String(version.version) })}
            >
              <strong>v{version.version}</strong>
              {version.version === rule.version && ' (now)'}{' '}
              <span class="quiet">
                {nameActor(version.createdBy)} · <When at={version.createdAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {chosen && (
        <section aria-label={`Version ${chosen.version}`}>
          {before ? (
            <DefinitionChanges
              level="h2"
              title={`What v${chosen.version} changed`}
              before={definitionOf(before as never)}
              after={definitionOf(chosen as never)}
            />
          ) : (
            <>
              <h2>v{chosen.version}, the first</h2>
              <Source label="Definition" kind="diff">
                <pre>{writeDefinition(withoutNulls(definitionOf(chosen as never)))}</pre>
              </Source>
            </>
          )}
          {may('publish') && chosen.version !== rule.version && (
            <button
              type="button"
              onClick={async () => {
                try {
                  await api().rules.versions.restore(rule.id, chosen.version, { ifVersion: rule.version })
                  say(`v${chosen.version} was restored as a new version.`)
                  await Promise.all([readAgain('rules'), reload()])
                } catch (error) {
                  say(describeError(error).title)
                }
              }}
            >
              Make v{chosen.version} the rule again
            </button>
          )}
          <p role="status">{said}</p>
        </section>
      )}
    </div>
  )
}

/** What a first version has not says nothing. */
function withoutNulls(definition: Definition): Definition {
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== null)) as never
}
