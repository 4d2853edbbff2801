-- The waiting executions of a rule, for switching it off: whatever else waits, and however long its history is.
CREATE INDEX CONCURRENTLY "executions_waiting" ON "executions"("rule_id") WHERE (status = ANY (ARRAY['waiting'::execution_status, 'retrying'::execution_status]));
