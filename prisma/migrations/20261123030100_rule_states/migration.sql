CREATE TABLE "rule_states" (
    "workspace_id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    "rules_version" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,
    "is_active" BOOLEAN NOT NULL,
    "is_deleted" BOOLEAN NOT NULL DEFAULT false,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_states_pkey" PRIMARY KEY ("workspace_id","rule_id","rules_version")
);
