SET lock_timeout = '3s';

-- The reference takes a lock on rules for a moment: their changes wait, and nothing that reads them.
CREATE TABLE "rule_crashes" (
    "rule_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "crashes" SMALLINT NOT NULL DEFAULT 0,
    "is_under_way" BOOLEAN NOT NULL,
    "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_crashes_pkey" PRIMARY KEY ("rule_id","event_id"),
    CONSTRAINT "rule_crashes_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "rules"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
