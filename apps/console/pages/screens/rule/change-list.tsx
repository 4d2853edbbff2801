/** What changed, in words. */
export function ChangeList({
  title,
  changes,
  level: Heading = 'h3',
}: {
  title: string
  changes: readonly string[]
  level?: 'h2' | 'h3'
}) {
  return (
    <section aria-label={title}>
      <Heading>{title}</Heading>
      {changes.length === 0 ? (
        <p class="quiet">Nothing.</p>
      ) : (
        <ul class="changes">
          {changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      )}
    </section>
  )
}
