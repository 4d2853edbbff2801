SET lock_timeout = '3s';

-- The reference locks rules for a moment: their changes wait, and nothing that reads them.
CREATE TABLE "rule_drafts" (
    "rule_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "base_version" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "conditions" JSON NOT NULL,
    "actions" JSON NOT NULL,
    "saved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "saved_by" TEXT NOT NULL,

    CONSTRAINT "rule_drafts_pkey" PRIMARY KEY ("rule_id"),
    CONSTRAINT "rule_drafts_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "rules"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
