/** A way to store an event and its end: today's, or another one that was considered. */
export interface Layout {
  label: string
  /** Turns the tables of the product into its own. */
  schema: string
  /** Turns the statements of the product, by their names, into its own. */
  rewrites: Record<string, (text: string) => string>
  /** The tables that have dead rows. */
  vacuumed: string[]
}

const withoutPartialIndexes = 'DROP INDEX events_not_done, events_isolated;'

const pendingTable = `
  CREATE TABLE pending_events (
    id UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    type TEXT NOT NULL,
    crashes SMALLINT NOT NULL DEFAULT 0,
    refusals SMALLINT NOT NULL DEFAULT 0,
    parked BOOLEAN,
    unparked_at TIMESTAMPTZ(3)
  );
  CREATE INDEX pending_events_isolated ON pending_events (workspace_id) WHERE crashes > 0;`

const acceptPending = (text: string) => `
  WITH accepted_events AS (${text} RETURNING id, workspace_id, type)
  INSERT INTO pending_events (id, workspace_id, type) SELECT id, workspace_id, type FROM accepted_events`

const finishedEvents = /finished_events AS \(\s+UPDATE events SET [^;]*?\n {2}\)/

const removePending = (text: string) =>
  replace(
    text,
    finishedEvents,
    (found) => `${found},
  removed_events AS (DELETE FROM pending_events USING finished_events WHERE pending_events.id = finished_events.id)`,
  )

const leaf = 'history.events_high'

export const today: Layout = { label: 'today', schema: '', rewrites: {}, vacuumed: ['events'] }

export const layouts: Layout[] = [
  today,
  {
    label: 'append-only',
    schema: `
      ${withoutPartialIndexes} DROP INDEX events_parked;
      ALTER TABLE events
        DROP COLUMN crashes, DROP COLUMN refusals, DROP COLUMN quarantined, DROP COLUMN quarantine_reason,
        DROP COLUMN parked, DROP COLUMN unparked_at,
        DROP COLUMN done_at, DROP COLUMN rule_set_id, DROP COLUMN rules_version, DROP COLUMN outranked;
      ${pendingTable}
      CREATE TABLE event_ends (
        id UUID PRIMARY KEY,
        done_at TIMESTAMPTZ(3) NOT NULL,
        rule_set_id UUID,
        rules_version INTEGER,
        outranked JSON,
        quarantine_reason TEXT
      ) PARTITION BY RANGE (id);
      CREATE TABLE history.event_ends_low PARTITION OF event_ends FOR VALUES FROM (MINVALUE) TO ('019b8b74-1800-0000-0000-000000000000');
      CREATE TABLE history.event_ends_high PARTITION OF event_ends FOR VALUES FROM ('019b8b74-1800-0000-0000-000000000000') TO (MAXVALUE);`,
    rewrites: {
      accept_events: acceptPending,
      load_events: (text) =>
        [
          ['CASE WHEN e.crashes', 'CASE WHEN p.crashes'],
          ['FROM events e', 'FROM events e JOIN pending_events p ON p.id = e.id'],
          ['AND e.done_at IS NULL', ''],
        ].reduce((rest, [from = '', to = '']) => replace(rest, from, () => to), text),
      finish_successes: (text) =>
        replace(
          text,
          finishedEvents,
          () => `finished_events AS (
    DELETE FROM pending_events USING input_events
    WHERE pending_events.id = input_events.id AND pending_events.id = ANY (ARRAY(SELECT id FROM input_events))
    RETURNING pending_events.id, pending_events.workspace_id, pending_events.type, rule_set_id, rules_version, outranked
  ),
  inserted_ends AS (
    INSERT INTO event_ends (id, done_at, rule_set_id, rules_version, outranked)
    SELECT id, now(), rule_set_id, rules_version, outranked FROM finished_events
    WHERE id >= $4::uuid AND id <= $5::uuid
  )`,
        ),
    },
    vacuumed: ['pending_events'],
  },
  {
    label: 'pending, half-full pages',
    schema: `${withoutPartialIndexes} ${pendingTable} ALTER TABLE ${leaf} SET (fillfactor = 50);`,
    rewrites: { accept_events: acceptPending, finish_successes: removePending },
    vacuumed: ['events', 'pending_events'],
  },
  {
    label: 'half-full pages',
    schema: `ALTER TABLE ${leaf} SET (fillfactor = 50);`,
    rewrites: {},
    vacuumed: ['events'],
  },
]

/** @throws if the text does not have it: then the product has another statement by now */
function replace(text: string, part: string | RegExp, by: (found: string) => string): string {
  const replaced = text.replace(part, (found) => by(found))
  if (replaced === text) throw new Error(`The statement has no ${part}: ${text}`)
  return replaced
}
