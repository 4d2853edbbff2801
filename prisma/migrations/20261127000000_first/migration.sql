-- The tables of the first release. prisma/schema.prisma says what each table and column means, and a test compares the two. Until the
-- first tagged release, a change of the tables edits this script. From then on it stays as it is, and each change is a migration of its own.
-- Only the partitions of events, executions and tasks stand here alone, with their storage parameters: a Prisma schema cannot say them.

-- Workspaces, who may do what in them, and what they have of their own

CREATE TYPE plan AS ENUM ('standard', 'enterprise');

CREATE TYPE role AS ENUM ('viewer', 'operator', 'editor', 'admin');

CREATE TYPE secret_direction AS ENUM ('incoming', 'outgoing');

CREATE TABLE workspaces (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL,
  plan plan NOT NULL DEFAULT 'standard',
  rules_version INTEGER NOT NULL DEFAULT 0,
  auto_pause_after INTEGER,
  retention_days INTEGER,
  embed_origins TEXT[] DEFAULT ARRAY[]::TEXT[],
  created_by TEXT,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  suspended_at TIMESTAMPTZ(3),
  suspended_by TEXT,
  deletion_asked_at TIMESTAMPTZ(3),
  deletion_asked_by TEXT,
  deletes_at TIMESTAMPTZ(3),
  deleted_at TIMESTAMPTZ(3),
  closed_at TIMESTAMPTZ(3),
  moving TEXT,
  has_parked BOOLEAN NOT NULL DEFAULT false
);
CREATE INDEX workspaces_created_by ON workspaces (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX workspaces_with_parked ON workspaces (id) WHERE has_parked;
CREATE INDEX workspaces_with_days ON workspaces (retention_days) WHERE retention_days IS NOT NULL;
CREATE INDEX workspaces_leaving ON workspaces (deletes_at) WHERE deletes_at IS NOT NULL;

CREATE TABLE deleted_workspaces (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_at TIMESTAMPTZ(3) NOT NULL,
  deleted_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  counts JSON NOT NULL,
  rows_removed BIGINT NOT NULL DEFAULT 0,
  finished_at TIMESTAMPTZ(3)
);

CREATE TABLE members (
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  user_id TEXT NOT NULL,
  role role NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  seen_at TIMESTAMPTZ(3),
  ends_at TIMESTAMPTZ(3),
  reason TEXT,
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX members_ending ON members (ends_at) WHERE ends_at IS NOT NULL;

CREATE TABLE invitations (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  role role NOT NULL,
  hash BYTEA NOT NULL,
  created_by TEXT NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at TIMESTAMPTZ(3) NOT NULL,
  accepted_at TIMESTAMPTZ(3),
  accepted_by TEXT,
  revoked_at TIMESTAMPTZ(3)
);
CREATE INDEX invitations_workspace_id_id_idx ON invitations (workspace_id, id);

CREATE TABLE embed_sessions (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  user_id TEXT NOT NULL,
  user_name TEXT,
  role role NOT NULL,
  pages TEXT[],
  rule_id UUID,
  allow JSONB,
  publish BOOLEAN NOT NULL,
  locale TEXT,
  appearance JSONB,
  created_by TEXT NOT NULL,
  api_key_id UUID,
  link_hash BYTEA NOT NULL,
  token_hash BYTEA,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at TIMESTAMPTZ(3) NOT NULL,
  opened_at TIMESTAMPTZ(3),
  ended_at TIMESTAMPTZ(3)
);
CREATE INDEX embed_sessions_workspace_id_user_id_idx ON embed_sessions (workspace_id, user_id);
CREATE INDEX embed_sessions_workspace_id_expires_at_idx ON embed_sessions (workspace_id, expires_at);

CREATE TABLE api_keys (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  name TEXT NOT NULL,
  scopes TEXT[],
  hash BYTEA NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at TIMESTAMPTZ(3),
  revoked_at TIMESTAMPTZ(3),
  last_used_at TIMESTAMPTZ(3)
);
CREATE INDEX api_keys_workspace_id_id_idx ON api_keys (workspace_id, id);

CREATE TABLE operator_keys (
  id UUID PRIMARY KEY,
  name TEXT NOT NULL,
  hash BYTEA NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by TEXT NOT NULL,
  revoked_at TIMESTAMPTZ(3),
  revoked_by TEXT,
  last_used_at TIMESTAMPTZ(3)
);

CREATE TABLE signing_secrets (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  direction secret_direction NOT NULL DEFAULT 'incoming',
  provider TEXT NOT NULL,
  scheme TEXT NOT NULL DEFAULT 'automation',
  settings JSON,
  sealed BYTEA NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  retires_at TIMESTAMPTZ(3),
  revoked_at TIMESTAMPTZ(3),
  last_used_at TIMESTAMPTZ(3)
);
CREATE INDEX signing_secrets_workspace_id_id_idx ON signing_secrets (workspace_id, id);
CREATE INDEX signing_secrets_workspace_id_provider_idx ON signing_secrets (workspace_id, provider);

CREATE TABLE credentials (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  hosts TEXT[],
  sealed BYTEA NOT NULL,
  token BYTEA,
  token_id UUID,
  token_expires_at TIMESTAMPTZ(3),
  token_lease UUID,
  token_lease_until TIMESTAMPTZ(3),
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  last_used_at TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX credentials_workspace_id_name_key ON credentials (workspace_id, name);

CREATE TABLE acknowledgements (
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  handler_id UUID NOT NULL,
  error TEXT NOT NULL,
  until TIMESTAMPTZ(3) NOT NULL,
  actor TEXT NOT NULL,
  at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (workspace_id, handler_id, error)
);

CREATE TABLE erasures (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  path TEXT NOT NULL,
  sealed BYTEA NOT NULL,
  status TEXT NOT NULL DEFAULT 'running',
  position JSON NOT NULL DEFAULT '{}',
  erased JSON NOT NULL DEFAULT '{}',
  unfinished INTEGER NOT NULL DEFAULT 0,
  failures SMALLINT NOT NULL DEFAULT 0,
  turn_at TIMESTAMPTZ(6),
  created_by TEXT NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at TIMESTAMPTZ(3)
);
CREATE INDEX erasures_workspace_id_id_idx ON erasures (workspace_id, id);
CREATE INDEX erasures_running ON erasures (turn_at) WHERE status = 'running';

CREATE TABLE audit_entries (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details JSON NOT NULL,
  at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX audit_entries_workspace_id_id_idx ON audit_entries (workspace_id, id);
CREATE INDEX audit_entries_workspace_id_subject_id_idx ON audit_entries (workspace_id, subject, id);
CREATE INDEX audit_entries_workspace_id_actor_id_idx ON audit_entries (workspace_id, actor, id);
CREATE INDEX audit_entries_workspace_id_action_id_idx ON audit_entries (workspace_id, action, id);

CREATE TABLE event_types (
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (workspace_id, name)
);

CREATE TABLE email_templates (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  name TEXT NOT NULL,
  text TEXT,
  html TEXT,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMPTZ(3) NOT NULL
);
CREATE UNIQUE INDEX email_templates_workspace_id_name_key ON email_templates (workspace_id, name);

CREATE TABLE subscriptions (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  event_types TEXT[],
  is_active BOOLEAN NOT NULL DEFAULT true,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX subscriptions_workspace_id_id_idx ON subscriptions (workspace_id, id);

-- Rules

CREATE TABLE rules (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT[] DEFAULT ARRAY[]::TEXT[],
  trigger TEXT NOT NULL,
  group_name TEXT,
  group_order INTEGER,
  schedule JSON,
  per_key JSON,
  conditions JSON NOT NULL,
  actions JSON NOT NULL,
  is_active BOOLEAN NOT NULL,
  mode TEXT NOT NULL DEFAULT 'live',
  expect_every TEXT,
  version INTEGER NOT NULL DEFAULT 1,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  scheduled_since TIMESTAMPTZ(3),
  next_run_at TIMESTAMPTZ(3),
  missed_ticks INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX rules_workspace_id_trigger_idx ON rules (workspace_id, trigger);
CREATE INDEX rules_next_run ON rules (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX rules_next_run_of_workspace ON rules (workspace_id, next_run_at) WHERE next_run_at IS NOT NULL;

CREATE TABLE rule_versions (
  rule_id UUID NOT NULL REFERENCES rules ON DELETE CASCADE ON UPDATE CASCADE,
  version INTEGER NOT NULL,
  workspace_id UUID NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT[] DEFAULT ARRAY[]::TEXT[],
  trigger TEXT NOT NULL,
  group_name TEXT,
  group_order INTEGER,
  schedule JSON,
  per_key JSON,
  conditions JSON NOT NULL,
  actions JSON NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by TEXT NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  awaits JSON,
  PRIMARY KEY (rule_id, version)
);
CREATE INDEX rule_versions_workspace_id_bytes_idx ON rule_versions (workspace_id, bytes);
CREATE INDEX rule_versions_awaiting ON rule_versions (workspace_id) WHERE awaits IS NOT NULL;

CREATE TABLE deleted_rule_versions (
  workspace_id UUID NOT NULL,
  rule_id UUID NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  trigger TEXT NOT NULL,
  group_name TEXT,
  group_order INTEGER,
  schedule JSON,
  per_key JSON,
  conditions JSON NOT NULL,
  actions JSON NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL,
  bytes INTEGER NOT NULL,
  deleted_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (workspace_id, rule_id, version)
);

CREATE TABLE rule_states (
  workspace_id UUID NOT NULL,
  rule_id UUID NOT NULL,
  rules_version INTEGER NOT NULL,
  version INTEGER NOT NULL,
  is_active BOOLEAN NOT NULL,
  is_deleted BOOLEAN NOT NULL DEFAULT false,
  at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (workspace_id, rule_id, rules_version)
);

CREATE TABLE rule_drafts (
  rule_id UUID PRIMARY KEY REFERENCES rules ON DELETE CASCADE ON UPDATE CASCADE,
  workspace_id UUID NOT NULL,
  id UUID NOT NULL,
  base_version INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT[] DEFAULT ARRAY[]::TEXT[],
  trigger TEXT NOT NULL,
  group_name TEXT,
  group_order INTEGER,
  schedule JSON,
  per_key JSON,
  conditions JSON NOT NULL,
  actions JSON NOT NULL,
  saved_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  saved_by TEXT NOT NULL
);
CREATE INDEX rule_drafts_workspace_id_idx ON rule_drafts (workspace_id);

CREATE TABLE rule_silences (
  rule_id UUID PRIMARY KEY REFERENCES rules ON DELETE CASCADE ON UPDATE CASCADE,
  workspace_id UUID NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  counted_from TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  checked_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  silent_at TIMESTAMPTZ(3)
);
CREATE INDEX rule_silences_workspace_id_checked_at_idx ON rule_silences (workspace_id, checked_at);
CREATE INDEX rule_silences_checked_at_idx ON rule_silences (checked_at);

CREATE TABLE sweeps (
  name TEXT PRIMARY KEY,
  since TIMESTAMPTZ(3) NOT NULL,
  at TIMESTAMPTZ(3) NOT NULL,
  previous_since TIMESTAMPTZ(3),
  previous_at TIMESTAMPTZ(3)
);

CREATE TABLE restores (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  as_of TIMESTAMPTZ(3) NOT NULL DEFAULT coalesce(pg_last_xact_replay_timestamp(), now()),
  marked_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  started_at TIMESTAMPTZ(3),
  started_by TEXT
);

CREATE TABLE rule_guards (
  rule_id UUID PRIMARY KEY REFERENCES rules ON DELETE CASCADE ON UPDATE CASCADE,
  workspace_id UUID NOT NULL,
  version INTEGER NOT NULL,
  previous_version INTEGER NOT NULL,
  max_runs_per_hour INTEGER,
  max_failure_rate DOUBLE PRECISION,
  started_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ends_at TIMESTAMPTZ(3) NOT NULL,
  checked_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  oldest_at TIMESTAMPTZ(3),
  oldest_before TIMESTAMPTZ(3),
  window_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  tripped_at TIMESTAMPTZ(3),
  trip_reason TEXT,
  restored_version INTEGER
);
CREATE INDEX rule_guards_workspace_id_checked_at_idx ON rule_guards (workspace_id, checked_at);
CREATE INDEX rule_guards_watching ON rule_guards (checked_at) WHERE tripped_at IS NULL;

CREATE TABLE rule_counters (
  rule_id UUID PRIMARY KEY REFERENCES rules ON DELETE CASCADE ON UPDATE CASCADE,
  workspace_id UUID NOT NULL,
  success_count BIGINT NOT NULL DEFAULT 0,
  failure_count BIGINT NOT NULL DEFAULT 0,
  consecutive_failures BIGINT NOT NULL DEFAULT 0,
  last_success_at TIMESTAMPTZ(3),
  last_failure_at TIMESTAMPTZ(3),
  failing_since TIMESTAMPTZ(3),
  last_error TEXT,
  attention_reason TEXT,
  attention_at TIMESTAMPTZ(3)
);
CREATE INDEX rule_counters_workspace_id_idx ON rule_counters (workspace_id);

CREATE TABLE rule_crashes (
  rule_id UUID NOT NULL REFERENCES rules ON DELETE CASCADE ON UPDATE CASCADE,
  event_id UUID NOT NULL,
  workspace_id UUID NOT NULL,
  crashes SMALLINT NOT NULL DEFAULT 0,
  is_under_way BOOLEAN NOT NULL,
  noted_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (rule_id, event_id)
);

-- Events, and what became of them. Events, executions and tasks are partitioned by their ids, which begin with their time: what is on the hot path says between
-- which ids it looks. Their leaves are in a schema of their own. A row whose id no other leaf takes is in one of the two at the edges, so none is refused.

DO $$ BEGIN
  -- Who may create tables need not be allowed to create a schema: then it is there already.
  IF to_regnamespace('history') IS NULL THEN CREATE SCHEMA history; END IF;
END $$;

CREATE TYPE addressee_kind AS ENUM ('rule', 'tick', 'subscription');

CREATE TABLE events (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  type TEXT NOT NULL,
  data JSON NOT NULL,
  addressee_kind addressee_kind,
  addressee_id UUID,
  job_id UUID,
  depth SMALLINT NOT NULL DEFAULT 0,
  caused_by UUID,
  root_id UUID,
  replay_of UUID,
  chosen_rule_ids UUID[],
  crashes SMALLINT NOT NULL DEFAULT 0,
  refusals SMALLINT NOT NULL DEFAULT 0,
  quarantined BOOLEAN NOT NULL DEFAULT false,
  accepted_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  done_at TIMESTAMPTZ(3),
  rule_set_id UUID,
  rules_version INTEGER,
  outranked JSON,
  quarantine_reason TEXT,
  parked BOOLEAN,
  unparked_at TIMESTAMPTZ(3),
  erased_at TIMESTAMPTZ(3)
) PARTITION BY RANGE (id);
CREATE INDEX events_not_done ON events (id) WHERE done_at IS NULL AND parked IS NULL;
CREATE INDEX events_parked ON events (workspace_id, id) WHERE parked;
CREATE INDEX events_isolated ON events (workspace_id) WHERE done_at IS NULL AND crashes > 0;
CREATE INDEX events_root ON events (root_id) WHERE root_id IS NOT NULL;
CREATE INDEX events_workspace_id_id_idx ON events (workspace_id, id);

CREATE TABLE rule_sets (
  workspace_id UUID NOT NULL,
  id UUID NOT NULL,
  rule_ids UUID[],
  used_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (workspace_id, id)
);

CREATE TYPE execution_status AS ENUM ('succeeded', 'failed', 'cancelled', 'suppressed', 'running', 'waiting', 'retrying');

CREATE TABLE executions (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  event_id UUID NOT NULL,
  event_type TEXT NOT NULL,
  handler_id UUID NOT NULL,
  is_delivery BOOLEAN NOT NULL DEFAULT false,
  rule_version INTEGER NOT NULL,
  status execution_status NOT NULL,
  results JSON NOT NULL,
  error TEXT,
  suppression JSON,
  started_at TIMESTAMPTZ(3) NOT NULL,
  finished_at TIMESTAMPTZ(3),
  due_at TIMESTAMPTZ(3),
  lease UUID,
  interruptions SMALLINT NOT NULL DEFAULT 0,
  lost_leases UUID[],
  awaits_slot BOOLEAN,
  reopened SMALLINT NOT NULL DEFAULT 0,
  cancel_requested BOOLEAN,
  wait_key UUID,
  wait_type TEXT,
  wait_seen BIGINT,
  decision JSON,
  parked BOOLEAN
) PARTITION BY RANGE (id);
CREATE INDEX executions_workspace_id_id_idx ON executions (workspace_id, id);
CREATE INDEX executions_handler_id_id_idx ON executions (handler_id, id);
CREATE INDEX executions_due ON executions (due_at, id) WHERE due_at IS NOT NULL AND parked IS NULL;
CREATE INDEX executions_parked ON executions (workspace_id, id) WHERE parked;
CREATE INDEX executions_not_succeeded ON executions (workspace_id, id) WHERE status <> 'succeeded';
CREATE INDEX executions_waiting ON executions (workspace_id, handler_id) WHERE status = ANY (ARRAY['waiting'::execution_status, 'retrying'::execution_status]);
CREATE INDEX executions_waiting_of_workspace ON executions (workspace_id, due_at) WHERE status = ANY (ARRAY['waiting'::execution_status, 'retrying'::execution_status]) AND parked IS NULL;
CREATE INDEX executions_wait_key ON executions (wait_key) WHERE status = 'waiting' AND wait_key IS NOT NULL;
CREATE INDEX executions_decisions ON executions (workspace_id, id) WHERE wait_type = 'DECISION';

CREATE TABLE event_keys (
  id BIGSERIAL PRIMARY KEY,
  workspace_id UUID NOT NULL,
  key UUID NOT NULL,
  event_id UUID NOT NULL,
  accepted_at TIMESTAMPTZ(3) NOT NULL,
  is_waking BOOLEAN NOT NULL DEFAULT false
);
CREATE INDEX event_keys_key_accepted_at_idx ON event_keys (key, accepted_at);
CREATE INDEX event_keys_key_id_idx ON event_keys (key, id);
CREATE UNIQUE INDEX event_keys_event_id_key_key ON event_keys (event_id, key);
CREATE INDEX event_keys_waking ON event_keys (id) WHERE is_waking;
CREATE INDEX event_keys_waking_of_workspace ON event_keys (workspace_id, id) WHERE is_waking;

CREATE TABLE key_claims (
  execution_id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  rule_id UUID NOT NULL,
  key_id UUID NOT NULL,
  event_id UUID NOT NULL,
  accepted_at TIMESTAMPTZ(3) NOT NULL,
  is_granted BOOLEAN NOT NULL,
  is_counted BOOLEAN NOT NULL,
  place TEXT,
  is_exclusive BOOLEAN NOT NULL,
  expires_at TIMESTAMPTZ(3) NOT NULL,
  batch_id UUID,
  ends_at TIMESTAMPTZ(3)
);
CREATE INDEX key_claims_key_id_accepted_at_idx ON key_claims (key_id, accepted_at);
CREATE INDEX key_claims_placed ON key_claims (place, key_id, ends_at) WHERE place IS NOT NULL;
CREATE INDEX key_claims_queued ON key_claims (workspace_id, key_id) WHERE place = 'queued';
CREATE INDEX key_claims_batch ON key_claims (batch_id, accepted_at) WHERE batch_id IS NOT NULL;
CREATE INDEX key_claims_expiring ON key_claims (expires_at) WHERE NOT is_exclusive AND batch_id IS NULL;

CREATE TABLE tasks (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  execution_id UUID NOT NULL,
  action_index INTEGER NOT NULL,
  rule_id UUID NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  assignee_id TEXT,
  priority TEXT NOT NULL,
  due_at TIMESTAMPTZ(3),
  created_at TIMESTAMPTZ(3) NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX tasks_workspace_id_id_idx ON tasks (workspace_id, id);
CREATE INDEX tasks_rule_id_id_idx ON tasks (rule_id, id);
CREATE INDEX tasks_execution_id_action_index_idx ON tasks (execution_id, action_index);

CREATE TABLE cancellations (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  handler_id UUID NOT NULL,
  reason TEXT NOT NULL
);
CREATE INDEX cancellations_workspace_id_id_idx ON cancellations (workspace_id, id);

CREATE TABLE idempotency_keys (
  workspace_id UUID NOT NULL,
  key TEXT NOT NULL,
  request_hash BYTEA NOT NULL,
  event_id UUID,
  answer JSON,
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);

-- The edges: what is older than 5 January 2026, and all that is younger, until weeks are taken out of it. None takes what no other one does (DEFAULT): with
-- that, rows in the order of their ids would be a merge of all leaves. Here it is one leaf after another, until there are enough.
-- Each event is updated once, and both tables lose each day what is a month old: of a month's rows that is three in a hundred.
-- By its defaults Postgres would tidy up after a week of it, and look again at what is in them after three days.
CREATE TABLE history.events_low PARTITION OF events FOR VALUES FROM (MINVALUE) TO ('019b8b74-1800-0000-0000-000000000000') WITH (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.05
);
CREATE TABLE history.events_high PARTITION OF events FOR VALUES FROM ('019b8b74-1800-0000-0000-000000000000') TO (MAXVALUE) WITH (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.05
);
CREATE TABLE history.executions_low PARTITION OF executions FOR VALUES FROM (MINVALUE) TO ('019b8b74-1800-0000-0000-000000000000') WITH (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.05
);
CREATE TABLE history.executions_high PARTITION OF executions FOR VALUES FROM ('019b8b74-1800-0000-0000-000000000000') TO (MAXVALUE) WITH (
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02,
  toast.autovacuum_vacuum_scale_factor = 0.05
);

-- Nothing updates a task, and few are removed.
CREATE TABLE history.tasks_low PARTITION OF tasks FOR VALUES FROM (MINVALUE) TO ('019b8b74-1800-0000-0000-000000000000');
CREATE TABLE history.tasks_high PARTITION OF tasks FOR VALUES FROM ('019b8b74-1800-0000-0000-000000000000') TO (MAXVALUE);

-- Old leaves that are being exchanged, and the rows that have changed in them meanwhile (packages/ledger/src/leaves)
CREATE TABLE history.exchanges (
  name TEXT PRIMARY KEY,
  from_id UUID NOT NULL,
  to_id UUID NOT NULL,
  removes_at BIGINT NOT NULL,
  kept_days INTEGER NOT NULL,
  step TEXT,
  place UUID NOT NULL,
  done_to UUID,
  written_by BIGINT,
  waits_for TEXT,
  waits_since TIMESTAMPTZ(3),
  rests_until BIGINT
);
CREATE TABLE history.kept_workspaces (
  name TEXT NOT NULL,
  workspace_id UUID NOT NULL,
  PRIMARY KEY (name, workspace_id)
);
CREATE TABLE history.changes (
  name TEXT NOT NULL,
  seq BIGINT GENERATED ALWAYS AS IDENTITY,
  id UUID NOT NULL,
  PRIMARY KEY (name, seq)
);
-- Who writes rows has no rights in this schema. Its arguments: the history, and the column of what a row belongs to.
CREATE FUNCTION history.note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF TG_ARGV[1] = 'event_id' THEN
    INSERT INTO history.changes (name, id) VALUES (TG_ARGV[0], coalesce(NEW.event_id, OLD.event_id));
  ELSE
    INSERT INTO history.changes (name, id) VALUES (TG_ARGV[0], coalesce(NEW.id, OLD.id));
  END IF;
  RETURN NULL;
END $$;

-- Incoming webhooks

CREATE TABLE webhook_receipts (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  provider TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash BYTEA NOT NULL,
  unique_hash BYTEA,
  repeated_by TEXT,
  body_differs BOOLEAN NOT NULL DEFAULT false,
  secret_id UUID NOT NULL,
  event_types TEXT[],
  event_ids UUID[],
  received_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX webhook_receipts_workspace_id_id_idx ON webhook_receipts (workspace_id, id);
CREATE UNIQUE INDEX webhook_receipts_workspace_id_provider_key_key ON webhook_receipts (workspace_id, provider, key);
CREATE UNIQUE INDEX webhook_receipts_unique_hash ON webhook_receipts (workspace_id, provider, unique_hash) WHERE unique_hash IS NOT NULL;

CREATE TABLE webhook_rejections (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL,
  provider TEXT NOT NULL,
  key TEXT,
  verified BOOLEAN NOT NULL,
  reason TEXT NOT NULL,
  findings JSON NOT NULL,
  received_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX webhook_rejections_workspace_id_id_idx ON webhook_rejections (workspace_id, id);

CREATE TABLE webhook_tallies (
  workspace_id UUID NOT NULL,
  hour TIMESTAMPTZ(3) NOT NULL,
  duplicates INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, hour)
);
CREATE INDEX webhook_tallies_hour_idx ON webhook_tallies (hour);

-- Backtests

CREATE TYPE backtest_status AS ENUM ('waiting', 'running', 'done', 'failed', 'cancelled');

CREATE TABLE backtests (
  id UUID PRIMARY KEY,
  workspace_id UUID NOT NULL REFERENCES workspaces ON DELETE CASCADE ON UPDATE CASCADE,
  rule_id UUID,
  kind TEXT,
  subject JSON NOT NULL,
  range_from TIMESTAMPTZ(3) NOT NULL,
  range_to TIMESTAMPTZ(3) NOT NULL,
  history_from TIMESTAMPTZ(3),
  pace TEXT NOT NULL,
  status backtest_status NOT NULL DEFAULT 'waiting',
  state JSON,
  after UUID,
  report JSON,
  error TEXT,
  lease UUID,
  lease_until TIMESTAMPTZ(3),
  failures SMALLINT NOT NULL DEFAULT 0,
  delays SMALLINT NOT NULL DEFAULT 0,
  long_reads SMALLINT NOT NULL DEFAULT 0,
  turn_at TIMESTAMPTZ(6),
  created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by TEXT NOT NULL,
  finished_at TIMESTAMPTZ(3)
);
CREATE UNIQUE INDEX backtests_rule_id_kind_key ON backtests (rule_id, kind);
CREATE INDEX backtests_workspace_id_id_idx ON backtests (workspace_id, id);
CREATE INDEX backtests_workspace_id_turn_at_idx ON backtests (workspace_id, turn_at);
CREATE INDEX backtests_unfinished ON backtests (id) WHERE status = ANY (ARRAY['waiting'::backtest_status, 'running'::backtest_status]);
