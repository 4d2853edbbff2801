SET lock_timeout = '3s';

-- The reference locks workspaces for a moment. The table is empty, so nothing is validated.
CREATE TABLE "backtests" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "rule_id" UUID,
    "subject" JSON NOT NULL,
    "history_from" TIMESTAMPTZ(3),
    "pace" TEXT NOT NULL,
    "status" "backtest_status" NOT NULL DEFAULT 'waiting',
    "state" JSON,
    "after" UUID,
    "report" JSON,
    "error" TEXT,
    "lease" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "failures" SMALLINT NOT NULL DEFAULT 0,
    "turn_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "backtests_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "backtests_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
