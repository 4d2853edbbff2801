CREATE TABLE "rule_state_gaps" (
    "workspace_id" UUID NOT NULL,
    "first_version" INTEGER NOT NULL,
    "last_version" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_state_gaps_pkey" PRIMARY KEY ("workspace_id","first_version")
);
