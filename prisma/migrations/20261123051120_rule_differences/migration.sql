SET lock_timeout = '3s';

-- The reference locks rules for a moment: their changes wait, and nothing that reads them.
CREATE TABLE "rule_differences" (
    "rule_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "workspace_id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "state" JSON NOT NULL,
    "computed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_differences_pkey" PRIMARY KEY ("rule_id","kind"),
    CONSTRAINT "rule_differences_rule_id_fkey" FOREIGN KEY ("rule_id") REFERENCES "rules"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
