SET lock_timeout = '3s';

-- The reference locks rules for a moment: their changes wait, and nothing that reads them.
CREATE TABLE "rule_guards" (
    "rule_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "previous_version" INTEGER NOT NULL,
    "max_runs_per_hour" INTEGER,
    "max_failure_rate" DOUBLE PRECISION,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "tripped_at" TIMESTAMPTZ(3),
    "trip_reason" TEXT,
    "restored_version" INTEGER,

    CONSTRAINT "rule_guards_pkey" PRIMARY KEY ("rule_id"),
    CONSTRAINT "rule_guards_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "rules"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
