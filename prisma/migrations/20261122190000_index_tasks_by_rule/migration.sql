-- For the list of a rule's tasks: without it, a rule without tasks would cost a walk over those of the whole workspace.
CREATE INDEX CONCURRENTLY "tasks_rule_id_id_idx" ON "tasks"("rule_id", "id");
